// Reads Python frames by CPython's public functions (3.9 and newer), looked up in the process at
// run time. Never takes the interpreter's lock: that could wait for a thread that waits for us. For
// versions whose structures are known it asks python_unlocked.c first, and asks only that file if
// the thread does not hold the lock.
#define _GNU_SOURCE
#include "where/python.h"

#include <dlfcn.h>
#include <pthread.h>

Python where_py;
#define py where_py

// Python may be loaded at any time (an embedding program opens it late), so "absent" is checked
// again after libraries were loaded. That check costs as much as a whole stack, so it is made only
// now and then.
static bool find_python(void) {
  enum { LOOK_EVERY = 64 };
  // 0: not looked for; 1: there; otherwise absent as of that many loaded objects
  static _Atomic int state;
  static _Atomic unsigned calls;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int s = state;
  if (s == 1) return true;
  if (s && calls++ % LOOK_EVERY) return false;
  int loaded = (int)(where_objects_version() >> 32) + 2;
  if (s == loaded) return false;
  if (pthread_mutex_trylock(&lock) != 0) return false;
  bool all = true;
#define X(result, name, params) \
  all = (py.name = (result(*) params)(uintptr_t)dlsym(RTLD_DEFAULT, #name)) != NULL && all;
  PYTHON_FUNCTIONS(X)
#undef X
  // 3.13
  py.current_thread = (PyThing * (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT,
                                                            "PyThreadState_GetUnchecked");
  // until 3.12
  if (!py.current_thread)
    py.current_thread = (PyThing * (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT,
                                                              "_PyThreadState_UncheckedGet");
  py.code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  py.text_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
  py.bytes_type = dlsym(RTLD_DEFAULT, "PyBytes_Type");
  const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
  py.version = version ? (unsigned)(*version >> 16) : 0;
  all = all && py.current_thread && py.code_type && py.text_type && py.bytes_type;
  state = all ? 1 : loaded;
  pthread_mutex_unlock(&lock);
  return all;
}

// The texts of a code object do not change, so they are read once. Our reference keeps the object
// alive, so no other object gets its address.
enum { CODE_MAX = 4096 };
typedef struct Code {
  char *file, *function;
} Code;
static U64Map codes;
// for interpreters without a global lock
static pthread_mutex_t codes_lock = PTHREAD_MUTEX_INITIALIZER;

static char *attribute(PyThing *code, const char *name) {
  PyThing *value = py.PyObject_GetAttrString(code, name);
  const char *text = value ? py.PyUnicode_AsUTF8(value) : NULL;
  char *copy = text ? mem_strdup(text) : NULL;
  if (value) py.Py_DecRef(value);
  if (!text) py.PyErr_Clear();
  return copy;
}

static Code describe(PyThing *code) {
  PyThing *type, *value, *trace;  // a pending exception must not be lost, nor be seen by our calls
  py.PyErr_Fetch(&type, &value, &trace);
  // qualified names: 3.11
  Code c = {attribute(code, "co_filename"), attribute(code, "co_qualname")};
  if (!c.function) c.function = attribute(code, "co_name");
  py.PyErr_Restore(type, value, trace);
  return c;
}

void where_python_frame(Str *out, const char *file, int line, const char *function) {
  char digits[16];
  int at = sizeof digits - 1, number = MAX(line, 0);
  digits[at] = 0;
  // by hand: formatting would be a third of the whole cost
  do digits[--at] = (char)('0' + number % 10);
  while (number /= 10);
  str_add(out, file);
  str_addc(out, ':');
  str_add(out, digits + at);
  str_addc(out, ':');
  str_add(out, function);
  str_addc(out, '\n');
}

static void add_frame(Str *out, PyThing *frame, PyThing *code, bool locked) {
  Code *known = locked ? u64map_get(&codes, (uintptr_t)code) : NULL, c;
  bool keep = !known && locked && codes.len < CODE_MAX;
  if (!known) {
    c = describe(code);
    if (keep) {
      known = mem_alloc(sizeof *known);
      *known = c;
      u64map_put(&codes, (uintptr_t)code, known);
      py.Py_IncRef(code);
    }
  } else c = *known;
  where_python_frame(out, c.file ? c.file : "?", py.PyFrame_GetLineNumber(frame),
                     c.function ? c.function : "?");
  if (!known) {
    free(c.file);
    free(c.function);
  }
}

uint32_t where_python(Str *out) {
  if (!find_python() || !py.Py_IsInitialized()) return 0;
  PyThing *thread = py.current_thread();
  PyThing *own = py.PyGILState_GetThisThreadState();
  if (!own) return 0;
  // also the cheaper way: it makes no frame objects
  uint32_t direct = where_python_unlocked(own, out);
  if (direct || thread != own) return direct;
  bool locked = pthread_mutex_trylock(&codes_lock) == 0;
  uint32_t n = 0;
  PyThing *frame = py.PyEval_GetFrame();  // a borrowed reference; the following ones are ours
  if (frame) py.Py_IncRef(frame);
  while (frame && n < WHERE_MAX) {
    PyThing *code = py.PyFrame_GetCode(frame), *back = py.PyFrame_GetBack(frame);
    add_frame(out, frame, code, locked);
    py.Py_DecRef(code);
    py.Py_DecRef(frame);
    frame = back;
    n++;
  }
  if (frame) py.Py_DecRef(frame);
  if (locked) pthread_mutex_unlock(&codes_lock);
  return n;
}
