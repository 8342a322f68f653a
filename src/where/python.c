// Python frames, by CPython's public functions only (3.9 and newer), looked up in the process at run time. A thread that does
// not hold the interpreter's lock has none: taking the lock here could wait for a thread that waits for us.
#define _GNU_SOURCE
#include "where/internal.h"

#include <dlfcn.h>
#include <pthread.h>

typedef struct Object Object;                            // PyObject, and what inherits from it

// The functions we use: result, name, parameters.
#define PYTHON_FUNCTIONS(X) \
  X(int, Py_IsInitialized, (void)) \
  X(Object *, PyGILState_GetThisThreadState, (void)) \
  X(Object *, PyEval_GetFrame, (void)) \
  X(Object *, PyFrame_GetBack, (Object *)) \
  X(Object *, PyFrame_GetCode, (Object *)) \
  X(int, PyFrame_GetLineNumber, (Object *)) \
  X(Object *, PyObject_GetAttrString, (Object *, const char *)) \
  X(const char *, PyUnicode_AsUTF8, (Object *)) \
  X(void, Py_IncRef, (Object *)) \
  X(void, Py_DecRef, (Object *)) \
  X(void, PyErr_Fetch, (Object **, Object **, Object **)) \
  X(void, PyErr_Restore, (Object *, Object *, Object *)) \
  X(void, PyErr_Clear, (void))
static struct {
#define X(result, name, params) result (*name) params;
  PYTHON_FUNCTIONS(X)
#undef X
  Object *(*current_thread)(void);                       // NULL where no thread has the lock
} py;

// Python can come at any time (an embedding program opens it late), so "absent" is asked again when libraries were loaded;
// that is looked at now and then only, since it costs as much as a whole stack.
static bool find_python(void) {
  enum { LOOK_EVERY = 64 };
  static _Atomic int state;                              // 0: not looked for; 1: there; otherwise absent as of that many loaded objects
  static _Atomic unsigned calls;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int s = state;
  if (s == 1) return true;
  if (s && calls++ % LOOK_EVERY) return false;
  int loaded = (int)(where_objects_version() >> 32) + 2;
  if (s == loaded) return false;
  if (pthread_mutex_trylock(&lock) != 0) return false;
  bool all = true;
#define X(result, name, params) all = (py.name = (result(*) params)(uintptr_t)dlsym(RTLD_DEFAULT, #name)) != NULL && all;
  PYTHON_FUNCTIONS(X)
#undef X
  py.current_thread = (Object * (*)(void))(uintptr_t) dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");                           // 3.13
  if (!py.current_thread) py.current_thread = (Object * (*)(void))(uintptr_t) dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");  // until 3.12
  all = all && py.current_thread;
  state = all ? 1 : loaded;
  pthread_mutex_unlock(&lock);
  return all;
}

// What a code object says of itself does not change, so it is asked once. The object is kept: its address stays its own.
enum { CODE_MAX = 4096 };
typedef struct Code { char *file, *function; } Code;
static U64Map codes;
static pthread_mutex_t codes_lock = PTHREAD_MUTEX_INITIALIZER;   // for interpreters without a global lock

static char *attribute(Object *code, const char *name) {
  Object *value = py.PyObject_GetAttrString(code, name);
  const char *text = value ? py.PyUnicode_AsUTF8(value) : NULL;
  char *copy = text ? mem_strdup(text) : NULL;
  if (value) py.Py_DecRef(value);
  if (!text) py.PyErr_Clear();
  return copy;
}

static Code describe(Object *code) {
  Object *type, *value, *trace;                          // an exception on its way must not be lost, nor met by our calls
  py.PyErr_Fetch(&type, &value, &trace);
  Code c = {attribute(code, "co_filename"), attribute(code, "co_qualname")};   // qualified names: 3.11
  if (!c.function) c.function = attribute(code, "co_name");
  py.PyErr_Restore(type, value, trace);
  return c;
}

static void add_frame(Str *out, Object *frame, Object *code, bool locked) {
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
  char line[16];
  int at = sizeof line - 1, number = MAX(py.PyFrame_GetLineNumber(frame), 0);
  line[at] = 0;
  do line[--at] = (char)('0' + number % 10); while (number /= 10);   // by hand: formatting would be a third of the whole cost
  str_add(out, c.file ? c.file : "?");
  str_addc(out, ':');
  str_add(out, line + at);
  str_addc(out, ':');
  str_add(out, c.function ? c.function : "?");
  str_addc(out, '\n');
  if (!known) { free(c.file); free(c.function); }
}

uint32_t where_python(Str *out) {
  if (!find_python() || !py.Py_IsInitialized()) return 0;
  Object *thread = py.current_thread();
  if (!thread || thread != py.PyGILState_GetThisThreadState()) return 0;
  bool locked = pthread_mutex_trylock(&codes_lock) == 0;
  uint32_t n = 0;
  Object *frame = py.PyEval_GetFrame();                  // borrowed, the others are ours
  if (frame) py.Py_IncRef(frame);
  while (frame && n < WHERE_MAX) {
    Object *code = py.PyFrame_GetCode(frame), *back = py.PyFrame_GetBack(frame);
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
