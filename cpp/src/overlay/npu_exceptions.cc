// What torch_npu throws, as an Error, without torch's header: c10::Error is a std::exception whose text begins with its message.
#include <exception>
#include <new>

#include "errors.h"

namespace dlx {

bool Error::set_from_exception(ErrorKind otherwise) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return set(ErrorKind::kMemoryError, "out of memory");
  } catch (const std::exception& error) {
    return set(otherwise, "%s", error.what());
  } catch (...) {
    return set(otherwise, "torch_npu threw something that is not an exception");
  }
}

}  // namespace dlx
