#include "torch_tensor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided_ops.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>
#include <functional>
#include <vector>

#include "backends/backend.h"
#include "devices.h"
#include "dtypes.h"
#include "from_blob.h"
#include "layout.h"

namespace dlx {

uint32_t g_pyobject_size = 0;

#define DLX_ASSERT_DTYPE(name, number, since, code, bits, lanes) DLX_ASSERT_DTYPE_SINCE_##since(name, number)
#define DLX_ASSERT_SCALAR_TYPE(name, number) static_assert(static_cast<int>(c10::ScalarType::name) == number, #name);
#define DLX_ASSERT_DTYPE_SINCE_4(name, number) DLX_ASSERT_SCALAR_TYPE(name, number)
#if DLX_TORCH_MINOR >= 7
#define DLX_ASSERT_DTYPE_SINCE_7(name, number) DLX_ASSERT_SCALAR_TYPE(name, number)
#else
#define DLX_ASSERT_DTYPE_SINCE_7(name, number)
#endif
#if DLX_TORCH_MINOR >= 8
#define DLX_ASSERT_DTYPE_SINCE_8(name, number) DLX_ASSERT_SCALAR_TYPE(name, number)
#else
#define DLX_ASSERT_DTYPE_SINCE_8(name, number)
#endif
DLX_FOR_EACH_DTYPE(DLX_ASSERT_DTYPE)

static_assert(static_cast<int>(c10::DeviceType::CPU) == kTorchCPU);
static_assert(static_cast<int>(c10::DeviceType::CUDA) == kTorchCUDA);
static_assert(static_cast<int>(c10::DeviceType::OPENCL) == kTorchOpenCL);
static_assert(static_cast<int>(c10::DeviceType::HIP) == kTorchHIP);
static_assert(static_cast<int>(c10::DeviceType::XPU) == kTorchXPU);
static_assert(static_cast<int>(c10::DeviceType::MPS) == kTorchMPS);
static_assert(static_cast<int>(c10::DeviceType::MAIA) == kTorchMAIA);
static_assert(static_cast<int>(c10::DeviceType::PrivateUse1) == kTorchPrivateUse1);

bool refuse_not_plain(TensorRef tensor, Error* error) {
  using c10::DispatchKey;
  static constexpr struct {
    DispatchKey key;
    const char* what;
    const char* remedy;
  } kReasons[] = {
      {DispatchKey::FuncTorchBatched, "a tensor inside torch.vmap", "call the kernel outside the transform"},
      {DispatchKey::FuncTorchGradWrapper, "a tensor inside a torch.func transform",
       "call the kernel outside the transform"},
      {DispatchKey::Functionalize, "a functional tensor", "call the kernel outside functionalize"},
      {DispatchKey::NestedTensor, "a nested tensor", "export its values()"},
      {DispatchKey::Python, "a fake, wrapper or other __torch_dispatch__ tensor",
       "export the tensor that it stands for"},
      {DispatchKey::ZeroTensor, "a zero tensor, which has no memory", "call clone() first"},
      {DispatchKey::Conjugate, "a tensor with the conjugate bit", "call resolve_conj() first"},
      {DispatchKey::Negative, "a tensor with the negative bit", "call resolve_neg() first"},
      {DispatchKey::Quantized, "a quantised tensor", "export its int_repr()"},
      {DispatchKey::Sparse, "a sparse tensor", "export its indices and values, or call to_dense() first"},
      {DispatchKey::SparseCsr, "a sparse compressed tensor", "export its indices and values, or call to_dense() first"},
      {DispatchKey::MkldnnCPU, "an mkldnn tensor", "call to_dense() first"},
  };
  c10::DispatchKeySet keys = impl_of(tensor)->key_set();
  for (const auto& reason : kReasons) {
    // has_any: a key with a copy per backend, such as Sparse, does not count as `has` without its backend's bit.
    if (keys.has_any(c10::DispatchKeySet(reason.key))) {
      return error->set(ErrorKind::kBufferError, "cannot export %s: %s", reason.what, reason.remedy);
    }
  }
  if (keys.has_backend(c10::BackendComponent::MetaBit)) {
    return error->set(ErrorKind::kBufferError,
                      "cannot export a meta tensor, which has no memory: create it on a device");
  }
  return error->set(
      ErrorKind::kBufferError,
      "cannot export a tensor with dispatch keys that a plain strided tensor has not (0x%llx): export a plain copy",
      static_cast<unsigned long long>((keys - kPlainKeys).raw_repr()));
}

const char* scalar_type_name(int scalar_type) { return c10::toString(static_cast<c10::ScalarType>(scalar_type)); }

const char* device_type_name(int32_t torch_device) {
  static constexpr const char* kNames[] = {"cpu",  "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip",
                                           "fpga", "maia", "xla",    "vulkan", "metal",  "xpu",   "mps",
                                           "meta", "hpu",  "ve",     "lazy",   "ipu",    "mtia",  "privateuseone"};
  constexpr int32_t count = sizeof(kNames) / sizeof(kNames[0]);
  return torch_device >= 0 && torch_device < count ? kNames[torch_device] : "unknown";
}

namespace {

c10::Device device_of(int32_t torch_device, int32_t device_index) {
  const auto type = static_cast<c10::DeviceType>(torch_device);
  if (type == c10::DeviceType::CPU) return c10::Device(type);
  return c10::Device(type, static_cast<c10::DeviceIndex>(device_index));
}
c10::Device device_of(const Geometry& geometry) { return device_of(geometry.torch_device, geometry.device_index); }

c10::ScalarType scalar_type_of(const Geometry& geometry) { return static_cast<c10::ScalarType>(geometry.scalar_type); }

c10::IntArrayRef shape_of(const Geometry& geometry) {
  return {geometry.layout.shape, static_cast<size_t>(geometry.layout.ndim)};
}

// An empty tensor as torch.empty_strided makes it, with every mode of the dispatcher (FakeTensorMode, functorch, ...) left out.
at::Tensor empty_without_modes(c10::IntArrayRef shape, c10::IntArrayRef strides, c10::ScalarType dtype,
                               c10::Device device) {
  constexpr c10::DispatchKeySet below(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::BackendSelect);
  constexpr c10::DispatchKeySet modes =
      c10::DispatchKeySet(c10::DispatchKeySet::FULL) - (below | c10::DispatchKeySet(c10::DispatchKey::BackendSelect));
  const c10::impl::ExcludeDispatchKeyGuard guard(modes);
  return at::_ops::empty_strided::call(c10::fromIntArrayRefSlow(shape), c10::fromIntArrayRefSlow(strides), dtype,
                                       c10::kStrided, device, std::nullopt);
}

// torch creates an accelerator's context and allocator on first use, behind a flag in at::Context. Only code in libtorch_cpu reaches
// that flag without the whole of ATen/Context.h, so torch is made to allocate. Threads that come at the same time all do that: one that
// waited for another could be the one whom torch's callbacks wait for.
void initialize_once(const Geometry& geometry) {
  static std::atomic<bool> initialized{false};
  if (initialized.load(std::memory_order_acquire)) return;
  initialize_device(geometry.torch_device, geometry.device_index);
  initialized.store(true, std::memory_order_release);
}

// Makes `device` current and the former one again at its end. c10::DeviceGuard does the same with three times the code.
class CurrentDevice {
 public:
  explicit CurrentDevice(c10::Device device)
      : guard_(c10::impl::getDeviceGuardImpl(device.type())), former_(guard_->exchangeDevice(device)) {}
  ~CurrentDevice() { guard_->uncheckedSetDevice(former_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  const c10::impl::DeviceGuardImplInterface* guard_;
  c10::Device former_;
};

Storage take(c10::Storage storage) { return Storage(storage.unsafeReleaseStorageImpl()); }

Storage storage_from(c10::Allocator* allocator, int64_t bytes) {
  return take(c10::Storage(c10::Storage::use_byte_size_t(), bytes, allocator, /*resizable=*/true));
}

c10::DispatchKeySet keys_for(const Geometry& geometry) {
  if (geometry.torch_device == kTorchCPU) return c10::DispatchKeySet(c10::DispatchKey::CPU);
  return c10::DispatchKeySet(c10::computeDispatchKey(scalar_type_of(geometry), c10::kStrided, device_of(geometry)));
}

// Through an accelerator's own from_blob, which makes a storage of the class that its operators expect.
PyObject* tensor_from_own_blob(void* from_blob, void* data, const Geometry& geometry, void* context,
                               void (*deleter)(void*)) {
  using FromBlob = at::Tensor (*)(void*, c10::IntArrayRef, c10::IntArrayRef, int64_t, const std::function<void(void*)>&,
                                  const c10::TensorOptions&, std::optional<c10::Device>);
  const std::vector<int64_t> strides = strides_of(geometry.layout);
  const c10::Device device = device_of(geometry);
  const auto options = c10::TensorOptions().dtype(scalar_type_of(geometry)).device(device);
  ArmedDeleter release(context, deleter);
  const at::Tensor tensor =
      reinterpret_cast<FromBlob>(from_blob)(data, shape_of(geometry), strides, 0, release.function(), options, device);
  PyObject* result = THPVariable_Wrap(tensor);
  if (result != nullptr) release.arm();
  return result;
}

}  // namespace

void initialize_device(int32_t torch_device, int32_t device_index) {
  empty_without_modes({1}, {1}, c10::ScalarType::Byte, device_of(torch_device, device_index));
}

Storage allocate_storage(const Geometry& geometry, int64_t bytes) {
  if (geometry.torch_device == kTorchCPU) return storage_from(c10::GetAllocator(c10::DeviceType::CPU), bytes);
  const c10::Device device = device_of(geometry);
  const CurrentDevice guard(device);
  if (kBackend.allocator != nullptr) {
    initialize_once(geometry);
    return storage_from(static_cast<c10::Allocator*>(kBackend.allocator()), bytes);
  }
  return take(
      empty_without_modes(shape_of(geometry), strides_of(geometry.layout), scalar_type_of(geometry), device).storage());
}

bool has_plain_format(TensorRef tensor) { return kBackend.has_plain_format(tensor); }

PyObject* tensor_from_storage(Storage* storage, const Geometry& geometry) {
  const c10::DispatchKeySet keys = keys_for(geometry);
  const caffe2::TypeMeta dtype = c10::scalarTypeToTypeMeta(scalar_type_of(geometry));
  c10::Storage moved(c10::intrusive_ptr<c10::StorageImpl>::reclaim(impl_of(*storage)));
  storage->release();
  at::TensorBase tensor;
  PyObject* result = nullptr;
  try {
    tensor = at::TensorBase(c10::make_intrusive<c10::TensorImpl>(std::move(moved), keys, dtype));
    c10::TensorImpl* target = tensor.unsafeGetTensorImpl();
    if (geometry.layout.strides == nullptr) {
      target->set_sizes_contiguous(shape_of(geometry));
      target->set_storage_offset(geometry.storage_offset);
    } else {
      target->set_sizes_and_strides(shape_of(geometry), {geometry.layout.strides, shape_of(geometry).size()},
                                    geometry.storage_offset);
    }
    result = THPVariable_Wrap(tensor);
  } catch (...) {
    storage->reset(take(tensor.defined() ? tensor.storage() : moved));
    throw;
  }
  if (result == nullptr) storage->reset(take(tensor.storage()));
  return result;
}

PyObject* tensor_from_blob(void* data, int64_t bytes, const Geometry& geometry, void* context, void (*deleter)(void*)) {
  if (kBackend.from_blob != nullptr && geometry.torch_device == kBackend.torch_device) {
    return tensor_from_own_blob(kBackend.from_blob(), data, geometry, context, deleter);
  }
  const c10::Device device = device_of(geometry);
  const c10::Storage kept(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(data, device), /*allocator=*/nullptr,
                          /*resizable=*/false);
  Storage storage = take(kept);
  PyObject* result = tensor_from_storage(&storage, geometry);
  if (result != nullptr && deleter != nullptr) {
    // Handed over last, so that a failure on the way leaves the memory with the caller.
    kept.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks() = c10::DataPtr(data, context, deleter, device);
  }
  return result;
}

}  // namespace dlx
