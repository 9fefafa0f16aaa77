// How a refusal travels: a kind and one line of text, set where it is found, reported where C begins.
//
// The text says what was asked, what is here and what to do. Nothing is allocated, so a refusal cannot fail.
#ifndef DLX_ERRORS_H_
#define DLX_ERRORS_H_

namespace dlx {

enum class ErrorKind { kTypeError, kBufferError, kValueError, kMemoryError, kRuntimeError };

struct Error {
  ErrorKind kind;
  char text[256];

  // Always false, so that a check can end with `return error->set(...)`.
  [[gnu::format(printf, 3, 4)]] bool set(ErrorKind new_kind, const char* format, ...);

  // The same, from the C++ exception being handled: c10::Error's first line without its backtrace, out-of-memory as MemoryError.
  bool set_from_exception(ErrorKind otherwise);
};

// The Python name of a kind, as DLPack's SetError wants it.
const char* kind_name(ErrorKind kind);

// Sets the Python exception and returns -1. Takes the GIL if the caller does not hold it. An exception that was pending
// becomes the new one's __context__.
int set_python_error(const Error& error);

}  // namespace dlx

#endif  // DLX_ERRORS_H_
