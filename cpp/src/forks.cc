#include "forks.h"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <initializer_list>

#include "backends/backend.h"
#include "python_api.h"

namespace dlx {

std::atomic<Fork> g_fork{Fork::kNone};

namespace {

void forked() { g_fork.store(Fork::kUnknown, std::memory_order_relaxed); }

// The answer of a function of torch's without arguments. A module that is not imported has not used a device.
bool ask_python(const char* module_name, const char* function_name) {
  const int gil = PyGILState_Ensure();
  PyObject *pending_type, *pending, *pending_traceback;
  PyErr_Fetch(&pending_type, &pending, &pending_traceback);
  PyObject* name = PyUnicode_FromString(module_name);
  PyObject* module = name == nullptr ? nullptr : PyImport_GetModule(name);
  PyObject* function = module == nullptr ? nullptr : PyObject_GetAttrString(module, function_name);
  PyObject* answer = function == nullptr ? nullptr : PyObject_CallObject(function, nullptr);
  const bool yes = answer != nullptr && PyObject_IsTrue(answer) == 1;
  for (PyObject* object : {answer, function, module, name}) Py_DecRef(object);
  PyErr_Restore(pending_type, pending, pending_traceback);  // an error of the question is dropped with it
  PyGILState_Release(gil);
  return yes;
}

}  // namespace

void watch_forks() noexcept {
#if !defined(_WIN32)
  static std::atomic<bool> watching{false};
  if (!watching.exchange(true)) pthread_atfork(nullptr, nullptr, &forked);
#endif
}

bool check_fork_now(Error* error) {
  if (g_fork.load(std::memory_order_relaxed) == Fork::kUnknown) {
    const bool unusable = kBackend.fork_module != nullptr && ask_python(kBackend.fork_module, kBackend.fork_function);
    g_fork.store(unusable ? Fork::kUnusable : Fork::kNone, std::memory_order_relaxed);
  }
  if (g_fork.load(std::memory_order_relaxed) != Fork::kUnusable) return true;
  return error->set(
      ErrorKind::kRuntimeError,
      "this process was forked after its parent had used the %s device, which does not work in a child: start it by "
      "'spawn' or 'forkserver'",
      kBackend.name.text);
}

}  // namespace dlx
