#include "forks.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <unistd.h>
#endif

#include <initializer_list>

#include "backends/backend.h"
#include "python_api.h"

namespace dlx {

std::atomic<Fork> g_fork{Fork::kNone};

namespace {

void forked() { g_fork.store(Fork::kUnknown, std::memory_order_relaxed); }

bool is_another_process(PyObject* number) {
#if defined(_WIN32)
  return false;
#else
  const long user = PyLong_AsLong(number);
  return user > 0 && user != getpid();
#endif
}

// What torch says of this process. A module that is not imported has not used a device.
bool ask_python() {
  const int gil = PyGILState_Ensure();
  PyObject *pending_type, *pending, *pending_traceback;
  PyErr_Fetch(&pending_type, &pending, &pending_traceback);
  const bool is_function = kBackend.fork_function != nullptr;
  PyObject* name = PyUnicode_FromString(kBackend.fork_module);
  PyObject* module = name == nullptr ? nullptr : PyImport_GetModule(name);
  PyObject* found = module == nullptr
                        ? nullptr
                        : PyObject_GetAttrString(module, is_function ? kBackend.fork_function : kBackend.fork_user);
  PyObject* answer = found == nullptr || !is_function ? nullptr : PyObject_CallObject(found, nullptr);
  const bool yes =
      is_function ? answer != nullptr && PyObject_IsTrue(answer) == 1 : found != nullptr && is_another_process(found);
  for (PyObject* object : {answer, found, module, name}) Py_DecRef(object);
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
    const bool unusable = kBackend.fork_module != nullptr && ask_python();
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
