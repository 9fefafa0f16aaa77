/*
 * Finds the table of a type: DLPack's exchange API, a struct of five C functions that the type's framework provides.
 *
 * dlpack.h: "this must be defined on the type. The consumer should look up the attribute on the type and may cache the result for each
 * unique type"; the table lives as long as the process.
 *
 * What is remembered: a type that has a table, with a reference to the type, so that its address cannot become another type's. A type
 * without one is asked each time, so a table that is attached later is seen at once. A table that was taken off or replaced is seen after
 * at most DLX_LOOK_AGAIN uses; until then the old one is used, which stays valid. dlx_forget_tables() does not wait.
 *
 * Interpreters and threads: an entry belongs to one interpreter and is dropped with it. Any number of threads may look, with the GIL or,
 * on free-threaded CPython, attached to their interpreter. There is no lock: a reader that meets a writer asks the type itself.
 */
#ifndef DLX_CORE_TABLE_H_
#define DLX_CORE_TABLE_H_

#include "errors.h"

#define DLX_SLOTS 8
/* A prime number: two types that take turns are both looked at again. */
#define DLX_LOOK_AGAIN 251

typedef struct dlx_slot {
  DLX_ATOMIC(unsigned) turn; /* odd while somebody writes; a reader that sees it change has read a mixture */
  DLX_ATOMIC(PyTypeObject*) type;
  DLX_ATOMIC(PyInterpreterState*) interpreter; /* NULL: free */
  DLX_ATOMIC(const DLPackExchangeAPI*) api;
} dlx_slot;

#ifdef __cplusplus
inline DLX_HIDDEN dlx_slot dlx_slots[DLX_SLOTS];
#else
static dlx_slot dlx_slots[DLX_SLOTS];
#endif

/* Counts the uses. With a GIL one counter serves all; without one each thread has its own, or they would wait for its cache line. */
DLX_INLINE int dlx_time_to_look(void) {
#ifndef Py_GIL_DISABLED
  static DLX_ATOMIC(unsigned) uses;
#elif defined(__cplusplus)
  static thread_local DLX_ATOMIC(unsigned) uses;
#else
  static _Thread_local DLX_ATOMIC(unsigned) uses;
#endif
  unsigned now = DLX_LOAD(uses, relaxed) + 1;
  DLX_STORE(uses, now == DLX_LOOK_AGAIN ? 0 : now, relaxed);
  return now == DLX_LOOK_AGAIN;
}

/*
 * The remembered table of this type, or NULL. It does not ask for the interpreter: a type that is alive in one is not another type in a
 * second one, and a type that several share (a static one) has one table.
 */
DLX_INLINE const DLPackExchangeAPI* dlx_remembered(PyTypeObject* type) {
  int i;
  for (i = 0; i < DLX_SLOTS; ++i) {
    dlx_slot* slot = &dlx_slots[i];
    const unsigned turn = DLX_LOAD(slot->turn, acquire);
    if (DLX_LOAD(slot->type, relaxed) == type) {
      const DLPackExchangeAPI* api = DLX_LOAD(slot->api, relaxed);
      DLX_FENCE(acquire);
      if ((turn & 1) == 0 && DLX_LOAD(slot->turn, relaxed) == turn) return api;
    }
  }
  return NULL;
}

/*
 * Writes a slot that is free or `interpreter`'s own, unless somebody else is writing it. Gives the reference that the slot held back to
 * the caller in `old`; takes the reference to `type` over and returns 1, or returns 0.
 */
DLX_INLINE int dlx_write(dlx_slot* slot, PyInterpreterState* interpreter, PyTypeObject* type,
                         const DLPackExchangeAPI* api, PyTypeObject** old) {
  unsigned turn = DLX_LOAD(slot->turn, relaxed);
  PyInterpreterState* owner;
  if ((turn & 1) != 0 ||
      !atomic_compare_exchange_strong_explicit(&slot->turn, &turn, turn + 1, DLX_ORDER(acquire), DLX_ORDER(relaxed))) {
    return 0;
  }
  owner = DLX_LOAD(slot->interpreter, relaxed);
  if (owner != NULL && owner != interpreter) {
    DLX_STORE(slot->turn, turn, release);
    return 0;
  }
  *old = DLX_LOAD(slot->type, relaxed);
  DLX_FENCE(release);
  DLX_STORE(slot->type, type, relaxed);
  DLX_STORE(slot->api, api, relaxed);
  DLX_STORE(slot->interpreter, type != NULL ? interpreter : NULL, relaxed);
  DLX_STORE(slot->turn, turn + 2, release);
  return 1;
}

/* Forgets this type, or with NULL every type of the interpreter. */
DLX_INLINE void dlx_forget(PyTypeObject* type, PyInterpreterState* interpreter) {
  int i;
  for (i = 0; i < DLX_SLOTS; ++i) {
    PyTypeObject *found = DLX_LOAD(dlx_slots[i].type, relaxed), *old = NULL;
    if (found == NULL || (type != NULL && found != type)) continue;
    if (DLX_LOAD(dlx_slots[i].interpreter, relaxed) != interpreter) continue;
    if (dlx_write(&dlx_slots[i], interpreter, NULL, NULL, &old)) Py_XDECREF((PyObject*)old);
  }
}

/* From now on this interpreter asks every type again. For tests that attach and detach. The caller holds the GIL. */
DLX_INLINE void dlx_forget_tables(void) { dlx_forget(NULL, PyInterpreterState_Get()); }

/* The destructor of a capsule in the interpreter's own dict, which CPython clears when the interpreter ends. */
DLX_INLINE void dlx_forget_interpreter(PyObject* capsule) {
  dlx_forget(NULL, (PyInterpreterState*)PyCapsule_GetPointer(capsule, "dlx.slots"));
}

/* Sees to it that the entries of this interpreter end with it. 0: it cannot be done, so nothing may be remembered. */
DLX_INLINE int dlx_end_with_interpreter(PyInterpreterState* interpreter) {
  PyObject* dict = PyInterpreterState_GetDict(interpreter); /* borrowed */
  PyObject *name, *capsule = NULL;
  int kept = 0;
  if (dict == NULL) return 0;
  name = PyUnicode_FromFormat("dlx.slots %p", (void*)dlx_slots); /* each extension has its own */
  if (name != NULL && PyDict_GetItemWithError(dict, name) != NULL) {
    kept = 1;
  } else if (name != NULL && !PyErr_Occurred()) {
    capsule = PyCapsule_New(interpreter, "dlx.slots", dlx_forget_interpreter);
    kept = capsule != NULL && PyDict_SetItem(dict, name, capsule) == 0;
  }
  Py_XDECREF(capsule);
  Py_XDECREF(name);
  if (!kept) PyErr_Clear();
  return kept;
}

DLX_INLINE void dlx_remember(PyTypeObject* type, PyInterpreterState* interpreter, const DLPackExchangeAPI* api) {
  static DLX_ATOMIC(unsigned) next; /* a full cache gives up its entries in turn */
  PyTypeObject* old = NULL;
  int i, at = -1;
  if (!dlx_end_with_interpreter(interpreter)) return;
  for (i = 0; i < DLX_SLOTS; ++i) {
    PyInterpreterState* owner = DLX_LOAD(dlx_slots[i].interpreter, relaxed);
    if (owner == interpreter && DLX_LOAD(dlx_slots[i].type, relaxed) == type) break;
    if (owner == NULL && at < 0) at = i;
  }
  if (i == DLX_SLOTS) i = at >= 0 ? at : (int)(atomic_fetch_add_explicit(&next, 1U, DLX_ORDER(relaxed)) % DLX_SLOTS);
  Py_INCREF((PyObject*)type);
  if (!dlx_write(&dlx_slots[i], interpreter, type, api, &old)) old = type;
  Py_XDECREF((PyObject*)old);
}

/* Reads type.name, which is a table's capsule, its address, or None for no table; 0 if there is no such attribute, else 1, or -1. */
DLX_INLINE int dlx_read_attribute(PyTypeObject* type, const char* name, const DLPackExchangeAPI** out) {
  PyObject* value = dlx_attribute((PyObject*)type, name);
  if (value == NULL) return PyErr_Occurred() ? -1 : 0;
  if (PyLong_Check(value)) { /* as the attribute was before DLPack 1.3 */
    *out = (const DLPackExchangeAPI*)PyLong_AsVoidPtr(value);
  } else if (value != Py_None) {
    *out = (const DLPackExchangeAPI*)PyCapsule_GetPointer(value, "dlpack_exchange_api");
    if (*out == NULL) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError, "%s of its type is %R; a capsule named 'dlpack_exchange_api' is needed", name,
                   value);
    }
  }
  Py_DECREF(value);
  return PyErr_Occurred() ? -1 : 1;
}

/* Asks the type itself: 1 with its table, 0 if it has none that we can read, -1 with an exception. */
DLX_INLINE DLX_COLD int dlx_ask_type(PyTypeObject* type, const DLPackExchangeAPI** out) {
  int found = dlx_read_attribute(type, "__dlpack_c_exchange_api__", out);
  if (found == 0) found = dlx_read_attribute(type, "__c_dlpack_exchange_api__", out);
  if (found > 0) found = *out != NULL;
  /* dlpack.h: a consumer that is older than the table follows prev_api to a version that it knows. */
  while (found > 0 && (*out)->header.version.major != DLPACK_MAJOR_VERSION) {
    *out = (const DLPackExchangeAPI*)(*out)->header.prev_api;
    found = *out != NULL;
  }
  /* These two must not be NULL by dlpack.h. Without them there is nothing to be had from the table. */
  if (found > 0 && (*out)->dltensor_from_py_object_no_sync == NULL &&
      (*out)->managed_tensor_from_py_object_no_sync == NULL) {
    found = 0;
  }
  if (found <= 0) *out = NULL;
  return found;
}

DLX_INLINE DLX_COLD int dlx_ask_and_remember(PyTypeObject* type, const DLPackExchangeAPI** out) {
  const dlx_pending old = dlx_set_aside();
  const int found = dlx_ask_type(type, out);
  if (found > 0) {
    dlx_remember(type, PyInterpreterState_Get(), *out);
  } else {
    dlx_forget(type, PyInterpreterState_Get());
  }
  dlx_put_back(old);
  return found;
}

/* The table of a type: 1 with `out` set, 0 if it has none, -1 with an exception. The table lives as long as the process. */
DLX_INLINE int dlx_table(PyTypeObject* type, const DLPackExchangeAPI** out) {
  *out = dlx_time_to_look() ? NULL : dlx_remembered(type);
  return *out != NULL ? 1 : dlx_ask_and_remember(type, out);
}

#endif /* DLX_CORE_TABLE_H_ */
