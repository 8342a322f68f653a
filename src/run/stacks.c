// Return addresses to functions, files and lines. Python frames come first: they are what a Python
// programmer called.
#include "run/internal.h"

enum { INLINED_MAX = 16 };

static uint32_t python_frames(Run *r, const char *text, RunFrame *out, uint32_t max) {
  uint32_t n = 0;
  for (const char *line = text; line && *line && n < max; n++) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) : strlen(line);
    char copy[1024];
    snprintf(copy, sizeof copy, "%.*s", (int)MIN(length, sizeof copy - 1), line);
    char *function = strrchr(copy, ':');
    if (function) *function++ = 0;
    char *number = strrchr(copy, ':');
    if (number) *number++ = 0;
    out[n] = (RunFrame){.function = run_text(r, function),
                        .file = run_text(r, copy),
                        .line = number ? (uint32_t)strtoul(number, NULL, 10) : 0,
                        .python = true};
    line = end ? end + 1 : NULL;
  }
  return n;
}

// A template has a third function between the two below: "copy<int>" has
// "__wrapper__device_stub_copy<int>", after the same namespace if the names come from the symbol
// table. Returns the text after the prefix; NULL: another function.
static const char *template_stub(const RunFrame *f) {
  static const char prefix[] = "__wrapper__device_stub_";
  const char *at = f->function ? strstr(f->function, prefix) : NULL;
  return at ? at + sizeof prefix - 1 : NULL;
}

static bool wraps_template_stub(const RunFrame *stub, const char *name, const RunFrame *f) {
  size_t scope = (size_t)(strstr(stub->function, "__wrapper__") - stub->function),
         n = strcspn(name, "<(");
  return !strncmp(f->function, stub->function, scope) && !strncmp(f->function + scope, name, n) &&
         f->function[scope + n] == name[n];
}

// nvcc makes two functions for the host's side of a kernel: __device_stub__Z4copyPi (of _Z4copyPi),
// and one with the kernel's own name that calls it.
static bool wraps_stub(Run *r, const RunFrame *stub, const RunFrame *f) {
  enum { PREFIX = 14 };  // "__device_stub_"
  if (!stub->function || !f->function) return false;
  if (template_stub(stub)) return wraps_template_stub(stub, template_stub(stub), f);
  if (strncmp(stub->function, "__device_stub__", PREFIX + 1)) return false;
  char name[1024];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(stub->function + PREFIX, "("),
           stub->function + PREFIX);
  return !strcmp(f->function, run_readable_name(r, name)) || !strcmp(f->function, name + 1);
}

static const char *last_part(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path;
}

// The CUDA runtime, linked into the program or a library of its own, and its inline functions,
// which only pass a call on; OpenCL's loader and our platform.
static bool is_runtime(const RunFrame *f, SymbolNoise noise) {
  const char *file = last_part(f->file), *object = last_part(f->object), *name = f->function;
  bool opencl = object && (!strncmp(object, "libwarpgrind_opencl.so", 22) ||
                           !strncmp(object, "libOpenCL.so", 12));
  if (opencl) return true;
  if (file) return !strcmp(file, "cuda_runtime.h") || !strcmp(file, "cuda_runtime_api.h");
  if (noise == SYMBOL_CUDA || (object && !strncmp(object, "libcudart.so", 12))) return true;
  return name && !strncmp(name, "cuda", 4) && name[4] >= 'A' && name[4] <= 'Z';
}

// Ubuntu strips the C library: its functions that call main have no names.
static bool is_nameless_libc(const RunFrame *f) {
  const char *object = last_part(f->object);
  return !f->function && !f->python && object && !strcmp(object, "libc.so.6");
}

// Leaves out frames that tell nothing: the start of the program or thread, nvcc's functions around
// a launch, the CUDA runtime where the program called it, and the interpreter under Python frames.
// A stack that has only such frames stays.
static uint32_t drop_noise(Run *r, RunFrame *f, uint32_t n) {
  uint32_t kept = 0;
  bool python = n && f[0].python, called = false;  // called: by the program, not by its runtime
  RunFrame before = {0};
  for (uint32_t i = 0; i < n; i++) {
    RunFrame inner = before, at = before = f[i];
    SymbolNoise noise = at.python ? SYMBOL_PROGRAM : symbol_noise(at.function);
    if (noise == SYMBOL_START || noise == SYMBOL_LAUNCH || (!at.python && template_stub(&at)) ||
        (noise == SYMBOL_PYTHON && python) || wraps_stub(r, &inner, &at) || is_nameless_libc(&at))
      continue;
    if (!at.python && !called && is_runtime(&at, noise)) continue;
    if (!at.python) called = true;
    f[kept++] = at;
  }
  return kept ? kept : n;
}

const RunFrame *run_stack_frames(Run *r, RunStack *s, uint32_t *n) {
  if (!s->resolved) {
    s->resolved = true;
    VEC(RunFrame) all = {0};
    RunFrame python[WHERE_MAX];
    uint32_t np = python_frames(r, s->python, python, WHERE_MAX);
    for (uint32_t i = 0; i < np; i++) vec_push(&all, python[i]);
    for (uint32_t i = 0; i < s->naddresses; i++) {
      SymbolFrame found[INLINED_MAX];
      uint32_t k = s->symbols ? symbol_lookup(s->symbols, s->addresses[i], found, INLINED_MAX) : 0;
      if (!k) vec_push(&all, (RunFrame){.address = s->addresses[i]});
      for (uint32_t j = 0; j < k; j++)
        vec_push(&all, (RunFrame){run_text(r, found[j].function), run_text(r, found[j].file),
                                  run_text(r, found[j].object), run_text(r, found[j].folder),
                                  found[j].line, found[j].address, found[j].inlined, false});
    }
    all.len = drop_noise(r, all.data, all.len);
    s->frames = ARENA_ARRAY(s->process ? &s->process->arena : &r->arena, RunFrame, all.len);
    if (all.len) memcpy(s->frames, all.data, all.len * sizeof(RunFrame));
    s->nframes = all.len;
    vec_free(&all);
    run_save_stack(r, s);
  }
  *n = s->nframes;
  return s->frames;
}
