// where: host call stacks. Taken cheaply inside the program as return addresses, turned into
// functions, files and lines later by the command (src/symbol). Python frames are taken as text, at
// once, when CPython is in the process.
#ifndef WG_WHERE_H
#define WG_WHERE_H

#include "base/base.h"

enum { WHERE_MAX = 48 };

// --- capture.c, python.c: inside the program; links nothing but libc into it ---
// where_capture returns the innermost return address first, without our own library's. where_hide
// also leaves out frames of the library that `code` is in.
void where_hide(const void *code);
uint32_t where_capture(uint64_t *frames, uint32_t max);
// "file:line:function\n", innermost first; 0: no Python, or the thread does not hold its lock
uint32_t where_python(Str *out);
// --- forward.c ---
void where_keep_forward(void);  // from now on Python frames of forward passes are kept
// In a thread that executes a step of PyTorch's backward pass: the frames of its forward pass, as
// where_python gives them. 0: not such a step, or not known.
uint32_t where_forward(Str *out);
// --- hlo.c ---
// Python lines that an XLA kernel was made from, as where_python gives them; NULL: not known.
char *where_hlo(const char *kernel);
typedef struct WhereObject {
  const char *path;
  uint64_t start, end, bias;
  uint8_t build_id[20];
  uint32_t build_id_len;
} WhereObject;
// everything that is loaded now
void where_objects(void (*each)(void *user, const WhereObject *o), void *user);
uint64_t where_objects_version(void);  // changes when something was loaded or unloaded

#endif
