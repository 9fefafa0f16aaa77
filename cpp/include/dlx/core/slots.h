/*
 * The types that have a table, remembered with it: a few slots, and no lock.
 *
 * What is remembered holds a reference to the type, so that its address cannot become another type's. A type without a
 * table is not remembered.
 *
 * Interpreters and threads: an entry belongs to one interpreter and is dropped with it. Any number of threads may look,
 * with the GIL or, on free-threaded CPython, attached to their interpreter. A reader that meets a writer finds nothing,
 * and asks the type itself.
 */
#ifndef DLX_CORE_SLOTS_H_
#define DLX_CORE_SLOTS_H_

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

/*
 * Counts the uses. With a GIL one counter serves all; without one each thread has its own, or they would wait for its
 * cache line.
 */
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
 * The remembered table of this type, or NULL. It does not ask for the interpreter: a type that is alive in one is not
 * another type in a second one, and a type that several share (a static one) has one table.
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
 * Writes a slot that is free or `interpreter`'s own, unless somebody else is writing it. Gives the reference that the
 * slot held back to the caller in `old`; takes the reference to `type` over and returns 1, or returns 0.
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

#endif /* DLX_CORE_SLOTS_H_ */
