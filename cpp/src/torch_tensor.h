// Reading the tensor behind a PyObject, and making one: the only header through which the other files reach torch's classes.
//
// Here are plain values and two opaque handles, and no name of torch's. torch_tensor_inl.h, torch_tensor.cc and torch_exceptions.cc
// implement it with torch's headers; another implementation can stand in their place. "Throws" means: torch's exceptions, which
// Error::set_from_exception turns into an Error.
#ifndef DLX_TORCH_TENSOR_H_
#define DLX_TORCH_TENSOR_H_

#include <cstdint>
#include <utility>

#include "errors.h"
#include "geometry.h"
#include "python_api.h"

namespace dlx {

// object.__basicsize__ of the running CPython, in bytes. Set before the table is handed out, and never changed after.
extern uint32_t g_pyobject_size;

// The real type of a Python object; ob_type is the last member of PyObject in every build of CPython.
inline PyTypeObject* type_of(const void* object) {
  return *reinterpret_cast<PyTypeObject* const*>(static_cast<const char*>(object) + g_pyobject_size - sizeof(void*));
}

// A tensor that somebody else keeps alive.
class OpaqueTensor;
using TensorRef = const OpaqueTensor*;

// A tensor's device, as torch has it.
struct DeviceOf {
  int32_t type;   // c10::DeviceType
  int32_t index;  // -1: the only one
};

// An owning reference to a tensor's storage. It keeps the memory alive, not the Python object, so it can be dropped on any thread,
// with or without the GIL, also after finalisation. Empty once it was moved from.
class Storage {
 public:
  explicit Storage(void* impl) : impl_(impl) {}  // takes over the reference
  Storage(Storage&& other) noexcept : impl_(other.impl_) { other.impl_ = nullptr; }
  inline ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  Storage& operator=(Storage&&) = delete;

  inline char* data() const;
  inline int64_t bytes() const;
  inline int32_t device_type() const;
  inline int32_t device_index() const;  // -1: the only one

  // Whether the storage's end may take the GIL: torch's own allocators do not free the memory, which may be Python's (torch.frombuffer),
  // or the storage has, or had, a Python object (untyped_storage()).
  inline bool may_need_gil() const;

  void* impl() const { return impl_; }
  inline void* release();  // gives the reference to the caller
  void reset(Storage other) { std::swap(impl_, other.impl_); }

 private:
  void* impl_;
};

// --- Reading. No GIL is needed where the caller keeps the tensor alive. ---

// Whether the real type of `object`, not NULL, is torch.Tensor or a subclass.
inline bool is_torch_tensor(const void* object);

// NULL if `object` is not a torch.Tensor by its real type, or holds none.
inline TensorRef tensor_of(const void* object);

// Whether the tensor's memory is what its sizes and strides say.
inline bool is_plain(TensorRef tensor);

// Says why a tensor is not plain; always false.
bool refuse_not_plain(TensorRef tensor, Error* error);

// False where the accelerator keeps the tensor in a layout of its own, which sizes and strides do not describe. For the build's own
// accelerator, and only where its backend has such layouts. May throw.
bool has_plain_format(TensorRef tensor);

inline int scalar_type_of(TensorRef tensor);
inline DeviceOf device_of(TensorRef tensor);
inline int64_t element_count_of(TensorRef tensor);
inline bool is_contiguous(TensorRef tensor);         // row-major, without gaps
inline int64_t storage_offset_of(TensorRef tensor);  // in elements
inline Layout layout_of(TensorRef tensor);           // torch's own arrays, alive as long as the tensor is not changed

// The start of the storage, for writing: copy-on-write storage gets memory of its own. NULL if nothing is allocated. Throws where
// torch refuses access.
inline char* storage_start_of(TensorRef tensor);

// The size of the storage. Throws where it is symbolic.
inline int64_t storage_bytes_of(TensorRef tensor);

// A new reference to the storage.
inline Storage storage_of(TensorRef tensor);

// torch's spelling, for an error's text: static strings.
const char* scalar_type_name(int scalar_type);
const char* device_type_name(int32_t torch_device);

// --- Making ---

// Memory for a tensor, `bytes` bytes long, as torch makes it for its own tensors; not initialised. Leaves the current device as it was,
// reaches no dispatch mode, needs no GIL. Throws.
Storage allocate_storage(const Geometry& geometry, int64_t bytes);

// Makes torch allocate a byte on a device and free it again, as the first use of a device does. No GIL is needed. Throws.
void initialize_device(int32_t torch_device, int32_t device_index);

// A new torch.Tensor that takes over `*storage`; a new reference. NULL with a Python exception set, or throws; then *storage is as it
// was. Needs the GIL.
PyObject* tensor_from_storage(Storage* storage, const Geometry& geometry);

// A new torch.Tensor on somebody else's memory, `bytes` bytes from `data` on; a new reference. `deleter(context)`, where there is one,
// runs once, with the last owner of the memory. NULL with a Python exception set, or throws; then it never runs. Needs the GIL.
PyObject* tensor_from_blob(void* data, int64_t bytes, const Geometry& geometry, void* context, void (*deleter)(void*));

}  // namespace dlx

#include "torch_tensor_inl.h"

#endif  // DLX_TORCH_TENSOR_H_
