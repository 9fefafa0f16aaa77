// The part of torch_tensor.h that is on the hot path, with torch's headers. Included by torch_tensor.h alone. What differs between
// torch's releases stands in the first block.
#ifndef DLX_TORCH_TENSOR_INL_H_
#define DLX_TORCH_TENSOR_INL_H_

#include <c10/core/TensorImpl.h>

#include <utility>

#include "likely.h"

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

// The dispatch keys of tensors whose memory is what their sizes and strides say. Any other key means a value that differs
// from the memory (conjugate, negative), another layout, or no memory of its own.
constexpr uint64_t kMetaBit = uint64_t{1} << (static_cast<uint8_t>(c10::BackendComponent::MetaBit) - 1);
constexpr c10::DispatchKeySet kPlainKeys =
    c10::DispatchKeySet(c10::DispatchKeySet::RAW, ((uint64_t{1} << c10::num_backends) - 1) & ~kMetaBit) |
    c10::DispatchKeySet({c10::DispatchKey::Dense, c10::DispatchKey::ADInplaceOrView, c10::DispatchKey::AutogradOther,
                         c10::DispatchKey::AutogradFunctionality}) |
    named_key<c10::DispatchKey>(0) | c10::autocast_dispatch_keyset;

inline const c10::TensorImpl* impl_of(TensorRef tensor) { return reinterpret_cast<const c10::TensorImpl*>(tensor); }
inline c10::StorageImpl* impl_of(const Storage& storage) { return static_cast<c10::StorageImpl*>(storage.impl()); }

inline Storage::~Storage() {
  if (impl_ != nullptr) c10::intrusive_ptr<c10::StorageImpl>::reclaim(static_cast<c10::StorageImpl*>(impl_));
}
inline char* Storage::data() const { return static_cast<char*>(impl_of(*this)->_mutable_data_ptr_no_checks().get()); }
inline int64_t Storage::bytes() const { return static_cast<int64_t>(impl_of(*this)->nbytes()); }
inline int32_t Storage::device_type() const { return static_cast<int32_t>(impl_of(*this)->device_type()); }
inline int32_t Storage::device_index() const { return impl_of(*this)->device().index(); }
inline bool Storage::may_need_gil() const {
  const c10::StorageImpl* impl = impl_of(*this);
#if DLX_TORCH_MINOR < 10
  // The slot is an interpreter's tag and the object. c10 reads the object by a function that is not inline.
  static_assert(sizeof(c10::impl::PyObjectSlot) == 2 * sizeof(void*));
  const void* object = reinterpret_cast<void* const*>(impl->pyobj_slot())[1];
#else
  const void* object = impl->pyobj_slot()->load_pyobj();
#endif
  return object != nullptr || impl->allocator() == nullptr;
}
inline void* Storage::release() { return std::exchange(impl_, nullptr); }

inline bool is_torch_tensor(const void* object) {
  const auto* type = reinterpret_cast<PyObject*>(type_of(object));
  return DLX_LIKELY(type == THPVariableClass || type == ParameterClass) ||
         PyType_IsSubtype(type_of(object), reinterpret_cast<PyTypeObject*>(THPVariableClass)) != 0;
}
inline TensorRef tensor_of(const void* object) {
  if (DLX_UNLIKELY(object == nullptr) || !is_torch_tensor(object)) return nullptr;
  return *reinterpret_cast<const TensorRef*>(static_cast<const char*>(object) + g_pyobject_size + kPayloadOffset);
}

inline bool is_plain(TensorRef tensor) { return kPlainKeys.isSupersetOf(impl_of(tensor)->key_set()); }
inline int scalar_type_of(TensorRef tensor) {
  caffe2::TypeMeta dtype = impl_of(tensor)->dtype();
  return static_cast<int>(dtype.toScalarType());
}
inline DeviceOf device_of(TensorRef tensor) {
  const c10::Device device = impl_of(tensor)->device();
  return {static_cast<int32_t>(device.type()), device.index()};
}
inline int64_t element_count_of(TensorRef tensor) { return impl_of(tensor)->numel(); }
inline bool is_contiguous(TensorRef tensor) { return impl_of(tensor)->is_contiguous(); }
inline int64_t storage_offset_of(TensorRef tensor) { return impl_of(tensor)->storage_offset(); }
inline Layout layout_of(TensorRef tensor) {
  const c10::IntArrayRef shape = impl_of(tensor)->sizes();
  return {static_cast<int32_t>(shape.size()), shape.data(), impl_of(tensor)->strides().data()};
}

inline char* storage_start_of(TensorRef tensor) {
  return static_cast<char*>(impl_of(tensor)->unsafe_storage().unsafeGetStorageImpl()->mutable_data());
}
inline int64_t storage_bytes_of(TensorRef tensor) {
  return static_cast<int64_t>(impl_of(tensor)->unsafe_storage().nbytes());
}
inline Storage storage_of(TensorRef tensor) {
  c10::Storage storage = impl_of(tensor)->unsafe_storage();
  return Storage(storage.unsafeReleaseStorageImpl());
}

}  // namespace dlx

#endif  // DLX_TORCH_TENSOR_INL_H_
