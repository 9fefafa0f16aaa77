// A tensor argument: a borrowed view of it, and checks that cost a few nanoseconds.
#ifndef DLX_TENSOR_H_
#define DLX_TENSOR_H_

#include <initializer_list>

#include "call.h"

namespace dlx DLX_HIDDEN {

class Owned;

// What an argument allows beside tensors on the device of the call's others that may be written. Combine with |.
enum Allow : unsigned {
  host_too = 1,       // host memory beside tensors of an accelerator
  read_only_too = 2,  // the function only reads it. A table does not say that memory is read-only; __dlpack__ may
};
constexpr Allow operator|(Allow a, Allow b) {
  return static_cast<Allow>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

enum class Layout {
  contiguous,  // as in C: the last dimension is dense, the others follow
  dense_rows,  // the last dimension is dense, the others have any strides
  strided,     // any strides
};
inline constexpr Layout contiguous = Layout::contiguous, dense_rows = Layout::dense_rows, strided = Layout::strided;

// A size that Tensor::require asks for: a number, a name, which has one value in the whole call, or any.
struct Dim {
  const char* name = nullptr;
  int64_t size = -1;

  constexpr Dim(const char* its_name) : name(its_name) {}  // NOLINT(google-explicit-constructor): {"rows", 4}
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  constexpr Dim(T its_size) : size(static_cast<int64_t>(its_size)) {}  // NOLINT(google-explicit-constructor)
};
inline constexpr Dim any{-1};

// Belongs to one Call, and must not outlive it or the object: it borrows the object's memory, and its shape and strides
// unless WithoutGil has copied them. An argument that was left out (maybe) is false, and has nothing else to say.
class Tensor {
 public:
  explicit Tensor(Allow allow = Allow{}) : allow_(allow) {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    if (DLX_UNLIKELY(more_ != nullptr)) drop();
  }

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* object() const { return object_; }  // borrowed
  const DLTensor& dl() const { return tensor_; }
  DLDataType dtype() const { return tensor_.dtype; }
  DLDevice device() const { return tensor_.device; }
  int ndim() const { return tensor_.ndim; }
  int64_t size(int i) const { return tensor_.shape[i < 0 ? i + ndim() : i]; }
  int64_t stride(int i) const;  // in elements
  int64_t numel() const;
  template <class T = void>
  T* data() const {
    return reinterpret_cast<T*>(static_cast<char*>(tensor_.data) + tensor_.byte_offset);
  }

  // Whether it has this dtype, these sizes and this layout, at addresses that the dtype's loads can use. TypeError for
  // the dtype, else ValueError.
  DLX_FAST bool require(const DLDataType& dtype, std::initializer_list<Dim> dims, Layout layout = contiguous) const {
    const int rank = static_cast<int>(dims.size());
    if (DLX_UNLIKELY(!same(tensor_.dtype, dtype) && dtype.code != any_dtype.code)) return wrong_dtype(dtype);
    if (DLX_UNLIKELY(tensor_.ndim != rank)) return wrong_rank(rank);
    for (int i = 0; i < rank; ++i) {
      const Dim& dim = dims.begin()[i];
      if (DLX_UNLIKELY(dim.name != nullptr ? !named(dim.name, i) : dim.size != tensor_.shape[i] && dim.size >= 0)) {
        return wrong_size(dim, i);
      }
    }
    return DLX_UNLIKELY(!is_laid_out(layout, rank)) ? wrong_layout(layout) : true;
  }

  // Whether it has the other's dtype and sizes, and this layout.
  DLX_FAST bool like(const Tensor& other, Layout layout = contiguous) const {
    const int rank = other.tensor_.ndim;
    if (DLX_UNLIKELY(!same(tensor_.dtype, other.tensor_.dtype) || tensor_.ndim != rank)) return unlike(other);
    for (int i = 0; i < rank; ++i) {
      if (DLX_UNLIKELY(tensor_.shape[i] != other.tensor_.shape[i])) return unlike(other);
    }
    return DLX_UNLIKELY(!is_laid_out(layout, rank)) ? wrong_layout(layout) : true;
  }

  bool aligned(unsigned bytes) const;
  bool on(DLDeviceType device_type) const;

  // Memory that outlives the call: output.h.
  bool own(Owned* out) const;
  // Says that its memory is used on this stream, which is not the one that it was made on: output.h.
  bool record_stream(void* stream) const;

  // Sets an exception that begins with the argument's name; the format is PyErr_Format's. Returns false.
  bool fail(PyObject* kind, const char* format, ...) const;
  // Puts the argument's name before the text of the exception that is set. Returns false.
  bool blame() const;

 private:
  template <class Error>
  friend class Argument;
  friend class Call;
  friend class WithoutGil;

  // What few tensors have.
  struct More {
    dlx_view view;  // where __dlpack__ or an owning export keeps the memory
    int64_t* kept;  // a copy of shape and strides
  };

  DLX_FAST bool is_laid_out(Layout layout, int rank) const {
    const DLTensor& t = tensor_;
    if (((reinterpret_cast<uintptr_t>(t.data) + t.byte_offset) & (alignment_of(t.dtype) - 1)) != 0) return false;
    if (t.strides == nullptr || layout == Layout::strided) return true;
    const int last = layout == Layout::dense_rows ? rank - 1 : 0;
    int64_t dense = 1;
    for (int i = rank - 1; i >= last && i >= 0; --i) {
      if (DLX_UNLIKELY(t.strides[i] != dense && t.shape[i] != 1)) return numel() == 0;
      dense *= t.shape[i];
    }
    return true;
  }
  // Whether size i is what this name stands for in the call. The first that says the name gives it its value.
  DLX_FAST bool named(const char* name, int i) const {
    // The compiler keeps equal texts once, so texts are rarely compared.
    if (call_->named_count_ == 0 || call_->named_[0].name != name) return named_later(name, i);
    return call_->named_[0].size == tensor_.shape[i];
  }
  bool named_later(const char* name, int i) const;
  bool unlike(const Tensor& other) const;
  bool wrong_layout(Layout layout) const;
  bool wrong_dtype(const DLDataType& wanted) const;
  bool wrong_rank(int wanted) const;
  bool wrong_size(const Dim& wanted, int i) const;
  dlx_view* more();
  void drop();
  bool keep_geometry();

  DLTensor tensor_;  // not cleared first: that would cost more than all the checks
  PyObject* object_ = nullptr;
  const DLPackExchangeAPI* api_;  // NULL: through __dlpack__
  More* more_ = nullptr;
  Call* call_;
  int position_;
  int item_;  // of a list, or -1
  Allow allow_;
};

}  // namespace dlx DLX_HIDDEN

#include "tensor_inl.h"

#endif  // DLX_TENSOR_H_
