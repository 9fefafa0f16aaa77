#include "overlay/npu_tensor.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <vector>

#include "backends/npu_library.h"
#include "devices.h"
#include "from_blob.h"
#include "glibc.h"
#include "layout.h"
#include "python_api.h"

namespace dlx {
namespace {

// The layout of c10's classes, unchanged since torch 1.8: c10/util/ArrayRef.h, c10/core/Device.h, c10/core/TensorOptions.h.
struct ArrayRef {
  const int64_t* data;
  size_t size;
};

struct Device {
  int8_t type;
  int8_t index;
};

struct TensorOptions {
  Device device;
  uint16_t dtype;        // caffe2::TypeMeta's index: the ScalarType for every type in dtypes.h
  int8_t layout;         // 0: strided
  int8_t memory_format;  // 0: contiguous
  uint8_t flags;         // one bit each: requires_grad, pinned_memory, then has_device, has_dtype, has_layout, ...
};
static_assert(sizeof(TensorOptions) == 8);
constexpr uint8_t kHasDeviceAndDtype = 1 << 2 | 1 << 3;

// An at::Tensor, which from_blob returns through memory because it has a destructor. Its one pointer is moved into Python.
struct TensorHandle {
  ~TensorHandle() {}
  void* impl;
};

using FromBlob = TensorHandle (*)(void*, ArrayRef, ArrayRef, int64_t, const std::function<void(void*)>&,
                                  const TensorOptions&, std::optional<Device>);
using Wrap = PyObject* (*)(TensorHandle&&);

// THPVariable_Wrap(at::TensorBase&&), exported from torch 2.10 on, which is where the overlay begins.
Wrap find_wrap() {
  void* library = dlopen("libtorch_python.so", RTLD_NOW | RTLD_NOLOAD);
  void* address = library == nullptr ? nullptr : dlsym(library, "_Z16THPVariable_WrapON2at10TensorBaseE");
  if (address == nullptr) throw std::runtime_error("this torch does not export THPVariable_Wrap(at::TensorBase&&)");
  return reinterpret_cast<Wrap>(address);
}

// Whether the tensor that came out is the one that was asked for.
bool matches(const DLTensor& made, const DLTensor& asked, const void* data) {
  if (made.ndim != asked.ndim || std::memcmp(&made.dtype, &asked.dtype, sizeof(made.dtype)) != 0) return false;
  if (!is_name_of(kTorchPrivateUse1, made.device.device_type) || made.device.device_id != asked.device.device_id)
    return false;
  int64_t elements = 1;
  for (int32_t i = 0; i < asked.ndim; ++i) {
    if (made.shape[i] != asked.shape[i]) return false;
    elements *= asked.shape[i];
  }
  return elements == 0 || static_cast<char*>(made.data) + made.byte_offset == data;
}

}  // namespace

void* make_npu_tensor(const DLPackExchangeAPI& upstream, DLManagedTensorVersioned* managed, void* data,
                      const Geometry& geometry, Error* error) {
  static std::atomic<Wrap> found{nullptr};
  if (found.load(std::memory_order_acquire) == nullptr) found.store(find_wrap(), std::memory_order_release);
  const Wrap wrap = found.load(std::memory_order_acquire);
  const auto from_blob = reinterpret_cast<FromBlob>(npu_library().from_blob);

  const std::vector<int64_t> strides = strides_of(geometry.layout);
  ArmedDeleter release(managed, managed->deleter == nullptr ? nullptr : &delete_managed);
  const Device device = {kTorchPrivateUse1, static_cast<int8_t>(geometry.device_index)};
  const TensorOptions options = {device, static_cast<uint16_t>(geometry.scalar_type), 0, 0, kHasDeviceAndDtype};
  const auto ndim = static_cast<size_t>(geometry.layout.ndim);
  TensorHandle tensor =
      from_blob(data, {geometry.layout.shape, ndim}, {strides.data(), ndim}, 0, release.function(), options, device);
  PyObject* result = wrap(std::move(tensor));
  if (result == nullptr) throw std::runtime_error("torch could not make a Python object for the tensor");

  DLTensor made;
  if (upstream.dltensor_from_py_object_no_sync(result, &made) != 0 || !matches(made, managed->dl_tensor, data)) {
    Py_DecRef(result);
    error->set(
        ErrorKind::kRuntimeError,
        "torch_npu's from_blob made another tensor than was asked for: dlx-torch-ext does not know this torch_npu yet");
    return nullptr;
  }
  release.arm();
  return result;
}

}  // namespace dlx
