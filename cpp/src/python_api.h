// The few functions of CPython's stable ABI that are used, declared here so that Python.h is not needed: one library serves
// every CPython. Source: https://docs.python.org/3/c-api/stable.html
#ifndef DLX_PYTHON_API_H_
#define DLX_PYTHON_API_H_

struct _object;
struct _typeobject;
using PyObject = _object;
using PyTypeObject = _typeobject;

#if defined(_WIN32)
#define DLX_PYTHON_DATA extern "C" __declspec(dllimport)
#else
#define DLX_PYTHON_DATA extern "C"
#endif

DLX_PYTHON_DATA PyObject* PyExc_BufferError;
DLX_PYTHON_DATA PyObject* PyExc_MemoryError;
DLX_PYTHON_DATA PyObject* PyExc_RuntimeError;
DLX_PYTHON_DATA PyObject* PyExc_TypeError;
DLX_PYTHON_DATA PyObject* PyExc_ValueError;

extern "C" {
int PyType_IsSubtype(PyTypeObject* type, PyTypeObject* base);
PyObject* PyErr_Occurred();
void PyErr_SetString(PyObject* type, const char* message);
void PyErr_Fetch(PyObject** type, PyObject** value, PyObject** traceback);
void PyErr_Restore(PyObject* type, PyObject* value, PyObject* traceback);
void PyErr_NormalizeException(PyObject** type, PyObject** value, PyObject** traceback);
void PyException_SetContext(PyObject* exception, PyObject* context);
int PyException_SetTraceback(PyObject* exception, PyObject* traceback);
PyObject* PyObject_GetAttrString(PyObject* object, const char* name);
PyObject* PyUnicode_AsUTF8String(PyObject* unicode);
char* PyBytes_AsString(PyObject* bytes);
void Py_DecRef(PyObject* object);
int Py_AddPendingCall(int (*function)(void*), void* argument);
PyObject* PyImport_GetModule(PyObject* name);
PyObject* PyObject_CallObject(PyObject* callable, PyObject* arguments);
int PyObject_IsTrue(PyObject* object);
long PyLong_AsLong(PyObject* number);
PyObject* PyUnicode_FromString(const char* text);
int Py_IsInitialized();
int PyGILState_Ensure();
void PyGILState_Release(int state);
}

#endif  // DLX_PYTHON_API_H_
