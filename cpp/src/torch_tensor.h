// The only place that knows torch's classes: reading the tensor behind a PyObject, and making one.
//
// Everything else sees plain values and two opaque handles, so that an implementation without torch's headers can take the
// place of this file and torch_tensor.cc. What differs between torch's releases stands in the first block.
#ifndef DLX_TORCH_TENSOR_H_
#define DLX_TORCH_TENSOR_H_

#include <c10/core/TensorImpl.h>

#include <cstdint>
#include <utility>

#include "errors.h"
#include "geometry.h"
#include "python_api.h"

static_assert(DLX_TORCH_MAJOR == 2, "the layouts below are those of torch 2");

namespace at {
class TensorBase;
}

#if DLX_TORCH_MINOR < 6
PyObject* THPVariable_Wrap(at::TensorBase tensor);
#else
PyObject* THPVariable_Wrap(const at::TensorBase& tensor);
#endif

#if defined(_WIN32)
#define DLX_TORCH_DATA extern __declspec(dllimport)
#else
#define DLX_TORCH_DATA extern
#endif

// torch/csrc/autograd/python_variable.h, which would bring Python.h.
DLX_TORCH_DATA PyObject* THPVariableClass;
DLX_TORCH_DATA PyObject* ParameterClass;

namespace dlx {

// Where the TensorImpl* lies behind the end of PyObject in a THPVariable: up to 2.9 the payload is a MaybeOwned, whose flag
// comes first; from 2.10 on it is the tensor itself.
#if DLX_TORCH_MINOR < 10
constexpr uint32_t kPayloadOffset = sizeof(void*);
#else
constexpr uint32_t kPayloadOffset = 0;
#endif

// Named tensors and their key are gone from torch 2.13; nightlies with one version number have it or not.
template <typename Key>
constexpr auto named_key(int) -> decltype(c10::DispatchKeySet(Key::Named)) {
  return c10::DispatchKeySet(Key::Named);
}
template <typename Key>
constexpr c10::DispatchKeySet named_key(...) {
  return c10::DispatchKeySet();
}

// object.__basicsize__ of the running CPython; set before the table is handed out and never changed after.
extern uint32_t g_pyobject_size;

// A tensor that somebody else keeps alive.
using Tensor = const c10::TensorImpl;

// An owning reference to a tensor's storage: keeps the memory, not the Python object, so it can be dropped on any thread
// without the GIL, also after finalisation.
using Memory = c10::Storage;

// The real type of a Python object; ob_type is the last member of PyObject in every build of CPython.
inline PyTypeObject* type_of(const void* object) {
  return *reinterpret_cast<PyTypeObject* const*>(static_cast<const char*>(object) + g_pyobject_size - sizeof(void*));
}

// NULL if `object` is not a torch.Tensor by its real type, or holds none.
inline Tensor* tensor_of(const void* object) {
  if (C10_UNLIKELY(object == nullptr)) return nullptr;
  const auto* type = reinterpret_cast<PyObject*>(type_of(object));
  if (C10_UNLIKELY(type != THPVariableClass && type != ParameterClass) &&
      !PyType_IsSubtype(type_of(object), reinterpret_cast<PyTypeObject*>(THPVariableClass))) {
    return nullptr;
  }
  return *reinterpret_cast<Tensor* const*>(static_cast<const char*>(object) + g_pyobject_size + kPayloadOffset);
}

// The dispatch keys of tensors whose memory is what their sizes and strides say. Any other key means a value that differs
// from the memory (conjugate, negative), another layout, or no memory of its own.
constexpr uint64_t kMetaBit = uint64_t{1} << (static_cast<uint8_t>(c10::BackendComponent::MetaBit) - 1);
constexpr c10::DispatchKeySet kPlainKeys =
    c10::DispatchKeySet(c10::DispatchKeySet::RAW, ((uint64_t{1} << c10::num_backends) - 1) & ~kMetaBit) |
    c10::DispatchKeySet({c10::DispatchKey::Dense, c10::DispatchKey::ADInplaceOrView, c10::DispatchKey::AutogradOther,
                         c10::DispatchKey::AutogradFunctionality}) |
    named_key<c10::DispatchKey>(0) | c10::autocast_dispatch_keyset;

inline bool is_plain(Tensor* tensor) { return kPlainKeys.isSupersetOf(tensor->key_set()); }

// Why a tensor is not plain; always false.
bool refuse_not_plain(Tensor* tensor, Error* error);

inline int scalar_type_of(Tensor* tensor) {
  caffe2::TypeMeta dtype = tensor->dtype();
  return static_cast<int>(dtype.toScalarType());
}
inline int32_t device_type_of(Tensor* tensor) { return static_cast<int32_t>(tensor->device().type()); }
inline int32_t device_index_of(Tensor* tensor) { return tensor->device().index(); }

// The start of the storage, for writing: copy-on-write storage gets memory of its own. NULL if nothing is allocated. Throws
// where torch refuses access.
inline char* base_of(Tensor* tensor) {
  return static_cast<char*>(tensor->unsafe_storage().unsafeGetStorageImpl()->mutable_data());
}

// torch's spelling, for an error's text: static strings.
const char* scalar_type_name(int scalar_type);
const char* device_type_name(int32_t torch_device);

// Memory for `geometry`, `bytes` bytes long, as torch makes it for its own tensors; not initialised. Leaves the current device as
// it was, reaches no dispatch mode, needs no GIL. Throws.
Memory allocate_memory(const Geometry& geometry, int64_t bytes);

// Makes torch allocate a byte on a device and free it again, as the first use of the device does. Throws.
void use_memory(int32_t torch_device, int32_t device_index);

// A new torch.Tensor that takes over `*memory`; a new reference. NULL with a Python exception set, or throws; then *memory is as it
// was. Needs the GIL.
PyObject* make_tensor(Memory* memory, const Geometry& geometry);

// A new torch.Tensor on somebody else's memory, `bytes` bytes from `data` on; a new reference. `deleter(context)`, where there is
// one, runs once, with the last owner of the memory. NULL with a Python exception set, or throws; then it never runs. Needs the GIL.
PyObject* borrow_tensor(void* data, int64_t bytes, const Geometry& geometry, void* context, void (*deleter)(void*));

// False where the accelerator keeps the tensor in a layout of its own, which sizes and strides do not describe. May throw.
bool has_plain_layout(Tensor* tensor);

inline char* data_of(const Memory& memory) {
  return static_cast<char*>(memory.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks().get());
}
inline int64_t bytes_of(const Memory& memory) { return static_cast<int64_t>(memory.nbytes()); }

}  // namespace dlx

#endif  // DLX_TORCH_TENSOR_H_
