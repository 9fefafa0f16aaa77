// One call of an author's function: its arguments, the one device that its tensors share, that device's stream, its
// errors.
#ifndef DLX_CALL_H_
#define DLX_CALL_H_

#include <initializer_list>
#include <type_traits>

#include "dtypes.h"

namespace dlx DLX_HIDDEN {

template <class Error>
class Argument;
class Tensor;
class Tensors;
class Output;
template <class T>
struct Maybe;

inline constexpr int kMaxArguments = 32;
inline constexpr int kMaxNamedSizes = 16;

// A function's name and its arguments' names in their order: what errors say, and what keywords are matched with.
struct Signature {
  const char* function;
  const char* names[kMaxArguments + 1];
};

// Lives on the stack of a function that Python has called (METH_FASTCALL, or METH_FASTCALL | METH_KEYWORDS), and is
// used by that thread alone, with the GIL. Owns nothing: the objects are the caller's, who holds them until the
// function returns.
//
// Every function that returns bool returns false exactly when a Python exception is set; return nullptr then.
class Call {
 public:
  // Errors name the arguments by their positions.
  Call(PyObject* const* given, Py_ssize_t count) : given_(given), count_(count) {}
  // Errors name the function and the arguments. `keywords` is METH_KEYWORDS' tuple of names, or nullptr.
  Call(const Signature& signature, PyObject* const* given, Py_ssize_t count, PyObject* keywords = nullptr)
      : signature_(&signature), given_(given), count_(count), keywords_(keywords) {}
  // For join(), where something else takes the arguments from Python. The names are those of the tensors.
  Call() : joined_(true) {}
  explicit Call(const Signature& tensors) : signature_(&tensors), joined_(true) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Converts the arguments in their order, and finds the device. Each slot is a pointer to Tensor, Tensors, double,
  // float, a signed integer, bool, const char* (UTF-8, the caller's) or PyObject* (borrowed), or maybe() around such a
  // pointer: arguments.h.
  template <class... Slots>
  DLX_FAST bool args(Slots... slots);

  // Makes one call of tensors that type casters have taken (pybind11.h, nanobind.h): one device, one stream, one value
  // for each named size. NULL stands for one that was left out.
  bool join(std::initializer_list<const Tensor*> tensors);

  // The accelerator that the tensors share, or the CPU.
  DLDevice device() const;

  // The stream to launch on: the current one of the framework of the first tensor on the accelerator that has a table,
  // asked once in a call. NULL on the CPU, and for the default stream. T is what the runtime's stream points to:
  // cudaStream_t stream; call.stream(&stream).
  template <class T>
  bool stream(T** out) {
    if (DLX_UNLIKELY(lead_ != nullptr && !asked_) && !ask_stream()) return false;
    *out = static_cast<T*>(stream_);
    return true;
  }

  // A new tensor of the framework of the call's tensors, on the call's device, not initialised: output.h.
  bool empty(Output* out, DLDataType dtype, const int64_t* shape, int ndim);
  bool empty_like(Output* out, const Tensor& like);

  // Sets an exception that begins with the function's name; the format is PyErr_Format's. Returns false.
  bool fail(PyObject* kind, const char* format, ...) const;

 private:
  template <class Error>
  friend class Argument;
  friend class Tensor;

  struct NamedSize {
    const char* name;
    int64_t size;
    const Tensor* from;
  };

  // What comes before an error's text: "saxpy: argument 2 'x'", with "[3]" for an item of a list. A new str, or NULL.
  PyObject* where(int position, int item) const;
  PyObject* where_in_call(int position, int item) const;  // the same without the function
  bool fail_at(int position, PyObject* kind, const char* format, ...) const;
  void set_error(int position, int item, PyObject* kind, const char* format, va_list values) const;
  bool blame(int position, int item = -1) const;  // the exception that is set is about this argument, or an item of it
  bool missing(int position) const;

  bool arrange(int slots);
  bool arrange_keywords(int slots);

  DLX_FAST bool take(int position, Tensor* out);
  bool take(int position, Tensors* out);
  bool take(int position, double* out) const;
  bool take(int position, float* out) const;
  bool take(int position, bool* out) const;
  bool take(int position, const char** out) const;
  bool take(int position, PyObject** out) const;
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  bool take(int position, T* out) const;
  template <class T>
  bool take(int position, Maybe<T> slot);

  DLX_FAST bool borrow(PyObject* object, int position, int item, Tensor* out);
  bool look_up(PyTypeObject* type, Tensor* out);
  bool borrow_owned(Tensor* out);
  bool place(Tensor* tensor);
  bool elsewhere(const Tensor* tensor) const;
  bool may_be_written(const Tensor* tensor) const;
  bool settle(Tensor* tensor);
  bool settle(Tensors* tensors);
  template <class T>
  bool settle(Maybe<T> slot);
  template <class T>
  bool settle(T*) {
    return true;
  }
  bool ask_stream();

  const Signature* signature_ = nullptr;
  PyObject* const* given_ = nullptr;
  Py_ssize_t count_ = 0;
  PyObject* keywords_ = nullptr;
  PyTypeObject* type_ = nullptr;  // of the tensor before, with its table
  const DLPackExchangeAPI* api_ = nullptr;
  Tensor* lead_ = nullptr;  // the first one on an accelerator; those with a table come first
  Tensor* host_ = nullptr;  // the first one on the host that has to be where the others are
  Tensor* some_ = nullptr;  // any one, for a function whose tensors are all allowed on the host
  bool later_ = false;      // some have no table, and wait until the stream is known
  bool asked_ = false;
  bool joined_ = false;  // the arguments' positions are not known
  int named_count_ = 0;
  void* stream_ = nullptr;
  NamedSize named_[kMaxNamedSizes];
  PyObject* by_name_[kMaxArguments];
};

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_CALL_H_
