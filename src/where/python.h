// Shared by python.c and python_unlocked.c: CPython's functions, looked up in the process.
#ifndef WG_WHERE_PYTHON_H
#define WG_WHERE_PYTHON_H

#include "where/internal.h"

typedef struct PyThing PyThing;  // a PyObject, a PyThreadState: opaque

// The functions we use: result, name, parameters.
#define PYTHON_FUNCTIONS(X) \
  X(int, Py_IsInitialized, (void)) \
  X(PyThing *, PyGILState_GetThisThreadState, (void)) \
  X(PyThing *, PyEval_GetFrame, (void)) \
  X(PyThing *, PyFrame_GetBack, (PyThing *)) \
  X(PyThing *, PyFrame_GetCode, (PyThing *)) \
  X(int, PyFrame_GetLineNumber, (PyThing *)) \
  X(int, PyCode_Addr2Line, (PyThing *, int)) \
  X(PyThing *, PyObject_GetAttrString, (PyThing *, const char *)) \
  X(const char *, PyUnicode_AsUTF8, (PyThing *)) \
  X(intptr_t, PyUnicode_GetLength, (PyThing *)) \
  X(uint32_t, PyUnicode_ReadChar, (PyThing *, intptr_t)) \
  X(void, Py_IncRef, (PyThing *)) \
  X(void, Py_DecRef, (PyThing *)) \
  X(void, PyErr_Fetch, (PyThing **, PyThing **, PyThing **)) \
  X(void, PyErr_Restore, (PyThing *, PyThing *, PyThing *)) \
  X(void, PyErr_Clear, (void))
typedef struct Python {
#define X(result, name, params) result(*name) params;
  PYTHON_FUNCTIONS(X)
#undef X
  PyThing *(*current_thread)(void);                // NULL where no thread has the lock
  const void *code_type, *text_type, *bytes_type;  // PyCode_Type, PyUnicode_Type, PyBytes_Type
  unsigned version;                                // 0x030c: 3.12; 0: older than 3.11
} Python;
extern Python where_py;

void where_python_frame(Str *out, const char *file, int line, const char *function);
// --- python_unlocked.c: the frames of a thread that has released the lock ---
uint32_t where_python_unlocked(PyThing *thread, Str *out);

#endif
