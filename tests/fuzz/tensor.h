// A torch.Tensor that an import has made: what it has to look like, and the ways that it can go.
#ifndef DLX_TESTS_FUZZ_TENSOR_H_
#define DLX_TESTS_FUZZ_TENSOR_H_

#include <algorithm>
#include <thread>
#include <vector>

#include "rules.h"

// What an accepted description says, kept apart from it: the import may free it.
struct Picture {
  Picture(const DLTensor& tensor, const Rules& rules) : dtype(tensor.dtype), strides(strides_of(tensor)) {
    shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    if (!rules.empty) data = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
    if (!is_host_memory(tensor.device.device_type)) {
      device = {static_cast<DLDeviceType>(g_host.accelerator), tensor.device.device_id};
    }
  }

  uintptr_t data = 0;
  DLDevice device = {kDLCPU, 0};
  DLDataType dtype;
  std::vector<int64_t> shape, strides;
};

inline void check_tensor(void* tensor, const Picture& expected) {
  DLTensor seen;
  int rc;
  const Kind kind =
      call_checked(false, &rc, [&] { return g_host.table->dltensor_from_py_object_no_sync(tensor, &seen); });
  CHECK(rc == 0, ": a tensor that was imported cannot be exported, kind %u", kind);
  CHECK(reinterpret_cast<uintptr_t>(seen.data) == expected.data && seen.byte_offset == 0, ": data %p", seen.data);
  CHECK(std::memcmp(&seen.device, &expected.device, sizeof(DLDevice)) == 0, ": device %d", seen.device.device_type);
  CHECK(std::memcmp(&seen.dtype, &expected.dtype, sizeof(DLDataType)) == 0, ": dtype code %d", seen.dtype.code);
  CHECK(seen.ndim == static_cast<int32_t>(expected.shape.size()), ": %d dimensions", seen.ndim);
  CHECK(std::equal(expected.shape.begin(), expected.shape.end(), seen.shape), ": another shape");
  CHECK(std::equal(expected.strides.begin(), expected.strides.end(), seen.strides), ": other strides");
}

// Runs the deleter here or, while this thread holds the GIL and waits, on one that Python does not know.
inline void delete_managed(DLManagedTensorVersioned* managed, bool on_a_thread) {
  if (!on_a_thread) return managed->deleter(managed);
  std::thread(managed->deleter, managed).join();
}

// The next call of the table frees what a deleter without the GIL had to leave; torch drops a tensor's memory without it, too.
inline void make_next_call() {
  DLManagedTensorVersioned* next = nullptr;
  CHECK(g_host.table->managed_tensor_from_py_object_no_sync(g_host.objects[0].object, &next) == 0, " ");
  next->deleter(next);
}

// Drops the tensor; or exports it first, so that the managed tensor is the last owner of the memory.
inline void drop_tensor(void* tensor, bool exported, bool on_a_thread) {
  if (!exported) return Py_DecRef(tensor);
  DLManagedTensorVersioned* last = nullptr;
  CHECK(g_host.table->managed_tensor_from_py_object_no_sync(tensor, &last) == 0, " ");
  Py_DecRef(tensor);
  delete_managed(last, on_a_thread);
}

#endif  // DLX_TESTS_FUZZ_TENSOR_H_
