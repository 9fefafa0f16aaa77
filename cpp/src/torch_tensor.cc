#include "torch_tensor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_strided_ops.h>
#include <c10/core/TensorOptions.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "backends/backend.h"
#include "devices.h"
#include "dtypes.h"
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

bool refuse_not_plain(Tensor* tensor, Error* error) {
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
  c10::DispatchKeySet keys = tensor->key_set();
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
  return error->set(ErrorKind::kBufferError,
                    "cannot export a tensor with dispatch keys beyond a plain strided one's (0x%llx)",
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

static c10::Device device_of(const Geometry& geometry) {
  const auto type = static_cast<c10::DeviceType>(geometry.torch_device);
  if (type == c10::DeviceType::CPU) return c10::Device(type);
  return c10::Device(type, static_cast<c10::DeviceIndex>(geometry.device_index));
}

// An empty tensor as torch.empty_strided makes it, with every mode of the dispatcher (FakeTensorMode, functorch, ...) left out.
static at::Tensor ask_dispatcher(c10::IntArrayRef shape, c10::IntArrayRef strides, c10::ScalarType dtype,
                                 c10::Device device) {
  constexpr c10::DispatchKeySet below(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::BackendSelect);
  constexpr c10::DispatchKeySet modes =
      c10::DispatchKeySet(c10::DispatchKeySet::FULL) - (below | c10::DispatchKeySet(c10::DispatchKey::BackendSelect));
  const c10::impl::ExcludeDispatchKeyGuard guard(modes);
  return at::_ops::empty_strided::call(c10::fromIntArrayRefSlow(shape), c10::fromIntArrayRefSlow(strides), dtype,
                                       c10::kStrided, device, std::nullopt);
}

void use_memory(int32_t torch_device, int32_t device_index) {
  ask_dispatcher({1}, {1}, c10::ScalarType::Byte,
                 c10::Device(static_cast<c10::DeviceType>(torch_device), static_cast<c10::DeviceIndex>(device_index)));
}

// torch creates an accelerator's context and allocator on first use, behind a flag in at::Context that only code in libtorch_cpu
// reaches without dragging the whole of ATen/Context.h in here.
static bool warm_up(const Geometry& geometry) {
  use_memory(geometry.torch_device, geometry.device_index);
  return true;
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

// Those of `geometry`, or contiguous ones where it has none.
static c10::SmallVector<int64_t, 5> strides_of(const Geometry& geometry) {
  c10::SmallVector<int64_t, 5> strides(geometry.ndim);
  if (geometry.strides != nullptr) {
    std::copy_n(geometry.strides, geometry.ndim, strides.begin());
  } else {
    fill_contiguous_strides(geometry.ndim, geometry.shape, strides.data());
  }
  return strides;
}

Memory allocate_memory(const Geometry& geometry, int64_t bytes) {
  if (geometry.torch_device == kTorchCPU) {
    return Memory(Memory::use_byte_size_t(), bytes, c10::GetAllocator(c10::DeviceType::CPU), /*resizable=*/true);
  }
  const c10::Device device = device_of(geometry);
  const CurrentDevice guard(device);
  if (kBackend.allocator != nullptr) {
    static const bool warm = warm_up(geometry);  // after an exception the next call tries again
    (void)warm;
    return Memory(Memory::use_byte_size_t(), bytes, kBackend.allocator(), /*resizable=*/true);
  }
  const c10::IntArrayRef shape(geometry.shape, geometry.ndim);
  const auto strides = strides_of(geometry);
  return ask_dispatcher(shape, strides, static_cast<c10::ScalarType>(geometry.scalar_type), device).storage();
}

bool has_plain_layout(Tensor* tensor) {
  // An at::Tensor is a pointer to its TensorImpl and nothing else; this one borrows it.
  return kBackend.has_plain_layout(reinterpret_cast<const at::Tensor&>(tensor));
}

static c10::DispatchKeySet keys_for(const Memory& memory, const Geometry& geometry) {
  if (geometry.torch_device == kTorchCPU) return c10::DispatchKeySet(c10::DispatchKey::CPU);
  return c10::DispatchKeySet(
      c10::computeDispatchKey(static_cast<c10::ScalarType>(geometry.scalar_type), c10::kStrided, memory.device()));
}

PyObject* make_tensor(Memory* memory, const Geometry& geometry) {
  const c10::DispatchKeySet keys = keys_for(*memory, geometry);
  auto impl = c10::make_intrusive<c10::TensorImpl>(
      std::move(*memory), keys, c10::scalarTypeToTypeMeta(static_cast<c10::ScalarType>(geometry.scalar_type)));
  const at::TensorBase tensor(std::move(impl));
  PyObject* result = nullptr;
  try {
    c10::TensorImpl* target = tensor.unsafeGetTensorImpl();
    const c10::IntArrayRef shape(geometry.shape, geometry.ndim);
    if (geometry.strides == nullptr) {
      target->set_sizes_contiguous(shape);
      target->set_storage_offset(geometry.storage_offset);
    } else {
      target->set_sizes_and_strides(shape, c10::IntArrayRef(geometry.strides, geometry.ndim), geometry.storage_offset);
    }
    result = THPVariable_Wrap(tensor);
  } catch (...) {
    *memory = tensor.storage();
    throw;
  }
  if (result == nullptr) *memory = tensor.storage();
  return result;
}

// What an accelerator's own from_blob is told to call. Until the tensor is complete it does nothing, so that a failure on the way
// leaves the memory with the caller.
struct Release {
  void* context;
  void (*deleter)(void*);
  bool armed;
};

static PyObject* borrow_through(void* from_blob, void* data, const Geometry& geometry, void* context,
                                void (*deleter)(void*)) {
  using FromBlob = at::Tensor (*)(void*, c10::IntArrayRef, c10::IntArrayRef, int64_t, const std::function<void(void*)>&,
                                  const c10::TensorOptions&, std::optional<c10::Device>);
  const c10::IntArrayRef shape(geometry.shape, geometry.ndim);
  const auto strides = strides_of(geometry);
  const c10::Device device = device_of(geometry);
  const auto options = c10::TensorOptions().dtype(static_cast<c10::ScalarType>(geometry.scalar_type)).device(device);
  const auto release = std::make_shared<Release>(Release{context, deleter, false});
  const std::function<void(void*)> call = [release](void*) {
    if (release->armed) release->deleter(release->context);
  };
  const at::Tensor tensor = reinterpret_cast<FromBlob>(from_blob)(data, shape, strides, 0, call, options, device);
  PyObject* result = THPVariable_Wrap(tensor);
  release->armed = result != nullptr && deleter != nullptr;
  return result;
}

PyObject* borrow_tensor(void* data, int64_t bytes, const Geometry& geometry, void* context, void (*deleter)(void*)) {
  if (kBackend.from_blob != nullptr && geometry.torch_device == kBackend.torch_device) {
    return borrow_through(kBackend.from_blob(), data, geometry, context, deleter);
  }
  const c10::Device device = device_of(geometry);
  const Memory memory(Memory::use_byte_size_t(), bytes, c10::DataPtr(data, device), /*allocator=*/nullptr,
                      /*resizable=*/false);
  Memory taken = memory;
  PyObject* result = make_tensor(&taken, geometry);
  if (result != nullptr && deleter != nullptr) {
    // Handed over last, so that a failure on the way leaves the memory with the caller.
    memory.unsafeGetStorageImpl()->_mutable_data_ptr_no_checks() = c10::DataPtr(data, context, deleter, device);
  }
  return result;
}

}  // namespace dlx
