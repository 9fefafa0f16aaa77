// What torch throws, as an Error. Apart from errors.cc because it needs torch's header.
#include <c10/util/Exception.h>

#include <exception>
#include <new>

#include "errors.h"

namespace dlx {

bool Error::set_from_exception(ErrorKind otherwise) {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    return set(ErrorKind::kMemoryError, "%s", error.what_without_backtrace());
  } catch (const c10::Error& error) {
    return set(otherwise, "%s", error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return set(ErrorKind::kMemoryError, "out of memory");
  } catch (const std::exception& error) {
    return set(otherwise, "%s", error.what());
  } catch (...) {
    return set(otherwise, "torch threw something that is not an exception");
  }
}

}  // namespace dlx
