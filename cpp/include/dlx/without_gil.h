// A launch, or work on the host, while other threads run Python.
#ifndef DLX_WITHOUT_GIL_H_
#define DLX_WITHOUT_GIL_H_

#include "output.h"

namespace dlx DLX_HIDDEN {

// Releases the GIL (on free-threaded CPython: detaches the thread) until it ends. Before that it copies the shapes and
// strides of the tensors that are named, because another thread may change a tensor's geometry meanwhile. The objects,
// and with them their memory, are held by the caller of the function. Meanwhile only data(), size(), stride(), dl() and
// the like may be used: nothing that can fail.
//
// Where there is no memory for the copies the GIL is kept, which is slower and as right.
class WithoutGil {
 public:
  template <class... Named>
  explicit WithoutGil(Named&... tensors) {
    if ((keep(tensors) && ...)) thread_ = PyEval_SaveThread();
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    if (thread_ != nullptr) PyEval_RestoreThread(thread_);
  }

 private:
  static bool keep(Tensor& tensor) { return !tensor || tensor.keep_geometry(); }
  static bool keep(Tensors& tensors) {
    for (Tensor& tensor : tensors) {
      if (!tensor.keep_geometry()) return false;
    }
    return true;
  }

  PyThreadState* thread_ = nullptr;
};

inline bool Tensor::keep_geometry() {
  DLTensor& t = tensor_;
  if (t.ndim <= 0) return true;
  if (more() == nullptr) {
    PyErr_Clear();
    return false;
  }
  if (more_->kept != nullptr) return true;
  const auto count = static_cast<size_t>(t.ndim);
  more_->kept = static_cast<int64_t*>(PyMem_Malloc(2 * count * sizeof(int64_t)));
  if (more_->kept == nullptr) return false;
  int64_t* kept = more_->kept;
  std::memcpy(kept, t.shape, count * sizeof(int64_t));
  t.shape = kept;
  if (t.strides != nullptr) {
    std::memcpy(kept + count, t.strides, count * sizeof(int64_t));
    t.strides = kept + count;
  }
  return true;
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_WITHOUT_GIL_H_
