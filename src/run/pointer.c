// The program's name for a buffer: x of `cudaMalloc(&x, …)` at the line that allocated it. If that
// function returns the pointer, or stores it through a parameter, the caller's line has the name.
// Uncertain names are left out: the source is newer than the program, or the line has several calls
// and some of them were not made.
#include <sys/stat.h>

#include "run/internal.h"
#include "run/source.h"

enum { SOURCES_MAX = 256, NAME_MAX_ = 64, DEEP = 6, CALLS_MOST = 16 };

static bool newer_than(const char *a, const char *b) {
  struct stat sa, sb;
  if (stat(a, &sa) != 0 || stat(b, &sb) != 0) return true;
  return sa.st_mtim.tv_sec != sb.st_mtim.tv_sec ? sa.st_mtim.tv_sec > sb.st_mtim.tv_sec
                                                : sa.st_mtim.tv_nsec > sb.st_mtim.tv_nsec;
}

// folder: what a relative name is relative to. program: the file built from the source; a source
// that is newer than the program is not used.
static const Source *source_at(Run *r, const char *file, const char *folder, const char *program) {
  Str joined = {0};
  if (file[0] != '/' && folder) str_printf(&joined, "%s/", folder);
  str_add(&joined, file);
  const char *path = run_text(r, joined.data);
  str_free(&joined);
  if (newer_than(path, program)) return NULL;
  Source *s = strmap_get(&r->sources, path);
  if (!s && r->sources.len < SOURCES_MAX) {
    s = mem_alloc(sizeof *s);
    source_read(s, path);
    strmap_put(&r->sources, path, s);
  }
  return s && s->text ? s : NULL;
}

static const Source *source_of(Run *r, const RunFrame *f) {
  return f->python || !f->file || !f->object ? NULL : source_at(r, f->file, f->folder, f->object);
}

void run_free_sources(Run *r) {
  uint32_t it = 0;
  const char *path;
  void *s;
  while (strmap_next(&r->sources, &it, &path, &s)) {
    source_free(s);
    free(s);
  }
  strmap_free(&r->sources);
}

// Functions that store the address through their first argument.
static bool allocates(const char *name, size_t n, void *user) {
  static const char *const functions[] = {"cudaMalloc",          "cudaMallocManaged",
                                          "cudaMallocHost",      "cudaHostAlloc",
                                          "cudaMallocAsync",     "cudaMallocFromPoolAsync",
                                          "cudaMallocPitch",     "cudaMalloc3D",
                                          "cuMemAlloc",          "cuMemAlloc_v2",
                                          "cuMemAllocManaged",   "cuMemAllocHost",
                                          "cuMemAllocHost_v2",   "cuMemHostAlloc",
                                          "cuMemAllocAsync",     "cuMemAllocFromPoolAsync",
                                          "cuMemAllocPitch",     "cuMemAllocPitch_v2",
                                          "cudaGetSymbolAddress"};
  for (size_t i = 0; i < ARRAY_LEN(functions); i++)
    if (strlen(functions[i]) == n && !strncmp(functions[i], name, n)) return true;
  return false;
}

// Functions that return the address, or a handle of the allocation.
static bool creates(const char *name, size_t n, void *user) {
  static const char *const functions[] = {"clCreateBuffer",  "clCreateBufferWithProperties",
                                          "clCreateImage",   "clCreateImageWithProperties",
                                          "clCreateImage2D", "clCreateImage3D",
                                          "clSVMAlloc"};
  for (size_t i = 0; i < ARRAY_LEN(functions); i++)
    if (strlen(functions[i]) == n && !strncmp(functions[i], name, n)) return true;
  return false;
}

static bool is_called(const char *name, size_t n, void *user) {
  return strlen(user) == n && !strncmp(user, name, n);
}

// "float* ns::make<float>(unsigned long)" -> "make"
bool run_base_name(const char *function, char *out, size_t size) {
  size_t n = strcspn(function ? function : "", "(<");
  if (!function || !function[n]) n = strlen(function ? function : "");
  size_t start = n;
  while (start && (function[start - 1] == '_' ||
                   (function[start - 1] >= '0' && function[start - 1] <= '9') ||
                   ((function[start - 1] | 32) >= 'a' && (function[start - 1] | 32) <= 'z')))
    start--;
  snprintf(out, size, "%.*s", (int)(n - start), function ? function + start : "");
  return n > start;
}

// RETURNED, STORED: the caller's line has the name
typedef enum { NAME_NONE, NAME_FOUND, NAME_RETURNED, NAME_STORED } NameState;

// Finds which call of its line a frame belongs to, if every call of the line has allocated
// something: the code of a line lies in memory in source order. UINT32_MAX: some call has not
// allocated.
static uint32_t which_call(const RunStack *stack, const RunFrame *f, uint32_t calls) {
  uint64_t met[CALLS_MOST];
  uint32_t n = 0, before = 0, it = 0;
  uint64_t id;
  void *x;
  while (u64map_next(&stack->process->stacks, &it, &id, &x)) {
    const RunStack *s = x;
    const RunFrame *o = s->resolved && s->nframes ? &s->frames[0] : NULL;
    if (!o || o->line != f->line || o->file != f->file || o->object != f->object ||
        o->function != f->function)
      continue;
    bool known = false;
    for (uint32_t i = 0; i < n; i++) known |= met[i] == o->address;
    if (known) continue;
    if (n == CALLS_MOST) return UINT32_MAX;
    met[n++] = o->address;
    before += o->address < f->address;
  }
  return n == calls ? before : UINT32_MAX;
}

static NameState at_creation(const Source *s, uint32_t line, char *name, size_t size) {
  SourceCall c;
  if (!source_call(s, line, creates, NULL, &c) || !source_assigned(s, &c, name, size))
    return NAME_NONE;
  return source_is_returned(s, c.close, name) ? NAME_RETURNED : NAME_FOUND;
}

static NameState at_allocation(const Source *s, const RunStack *stack, const RunFrame *f,
                               char *name, size_t size) {
  SourceCall calls[CALLS_MOST], c;
  uint32_t n = source_calls(s, f->line, allocates, NULL, calls, CALLS_MOST),
           which = n > 1 && n <= CALLS_MOST ? which_call(stack, f, n) : 0;
  if (!n) return at_creation(s, f->line, name, size);
  if (which >= n) return NAME_NONE;
  c = calls[which];
  switch (source_argument(c.open + 1, source_argument_end(c.open + 1, c.close), name, size)) {
    case ARGUMENT_ADDRESS: return source_is_returned(s, c.close, name) ? NAME_RETURNED : NAME_FOUND;
    case ARGUMENT_PLAIN: return NAME_STORED;
    case ARGUMENT_OTHER: break;
  }
  return NAME_NONE;
}

// Finds the name at the line that calls an allocating function.
static NameState at_call(const Source *s, uint32_t line, char *callee, NameState state, char *name,
                         size_t size) {
  SourceCall c;
  char word[NAME_MAX_], only[NAME_MAX_];
  if (!source_call(s, line, is_called, callee, &c)) return NAME_NONE;
  if (state == NAME_RETURNED) {
    if (!source_assigned(s, &c, word, sizeof word)) return NAME_NONE;
    snprintf(name, size, "%s", word);
    return source_is_returned(s, c.close, name) ? NAME_RETURNED : NAME_FOUND;
  }
  unsigned addresses = 0;
  for (const char *p = c.open + 1; p < c.close; p++) {
    const char *end = source_argument_end(p, c.close);
    if (source_argument(p, end, word, sizeof word) == ARGUMENT_ADDRESS) {
      addresses++;
      memcpy(only, word, sizeof only);
    }
    p = end;
  }
  if (addresses != 1) return NAME_NONE;
  snprintf(name, size, "%s", only);
  return NAME_FOUND;
}

static const char *name_at(Run *r, const RunStack *stack, const RunFrame *f, uint32_t n) {
  char name[NAME_MAX_] = "", callee[NAME_MAX_ * 4];
  const Source *s = n ? source_of(r, f) : NULL;
  NameState state = s ? at_allocation(s, stack, f, name, sizeof name) : NAME_NONE;
  const char *best = state == NAME_FOUND || state == NAME_RETURNED ? run_text(r, name) : NULL;
  for (unsigned i = 1;
       i < MIN(n, (uint32_t)DEEP) && (state == NAME_RETURNED || state == NAME_STORED); i++) {
    s = run_base_name(f[i - 1].function, callee, sizeof callee) ? source_of(r, &f[i]) : NULL;
    state = s ? at_call(s, f[i].line, callee, state, name, sizeof name) : NAME_NONE;
    if (state != NAME_NONE) best = run_text(r, name);
  }
  return best;
}

const char *run_pointer_name(Run *r, RunStack *stack) {
  if (!stack) return NULL;
  if (!stack->pointer_asked) {
    uint32_t n;
    const RunFrame *frames = run_stack_frames(r, stack, &n);
    stack->pointer_asked = true;
    stack->pointer = name_at(r, stack, frames, n);
  }
  return stack->pointer;
}

const char *run_parameter_name(Run *r, const RunFinding *f) {
  char function[NAME_MAX_ * 4], name[NAME_MAX_];
  const RunSite *s = f->site;
  const char *program = f->process->program,
             *file = s && s->nplaces ? s->places[s->nplaces - 1].file : NULL;
  if (!s || !s->parameter || !file || !program || !f->kernel || !s->function ||
      strcmp(s->function, f->kernel->name))
    return NULL;
  const Source *source = run_base_name(f->kernel->readable, function, sizeof function)
                             ? source_at(r, file, NULL, program)
                             : NULL;
  return source && source_parameter(source, function, s->parameter - 1, true, name, sizeof name)
             ? run_text(r, name)
             : NULL;
}

// Any site of the kernel has the source file of the kernel.
static const char *file_of(const RunKernel *k) {
  uint32_t it = 0;
  uint64_t number;
  void *found;
  while (u64map_next(&k->process->sites, &it, &number, &found)) {
    const RunSite *s = found;
    if (s->nplaces && s->function && !strcmp(s->function, k->name))
      return s->places[s->nplaces - 1].file;
  }
  return NULL;
}

const Source *run_kernel_source(Run *r, const RunKernel *k) {
  const char *file = file_of(k), *program = k->process->program;
  return file && program ? source_at(r, file, NULL, program) : NULL;
}

const char *run_launch_parameter_name(Run *r, RunKernel *k, uint32_t index) {
  char function[NAME_MAX_ * 4], name[NAME_MAX_];
  if (!k || index >= RUN_PARAMETERS_NAMED) return NULL;
  if (!k->parameters) {
    k->parameters = ARENA_ARRAY(&k->process->arena, const char *, RUN_PARAMETERS_NAMED);
    const Source *source = run_base_name(k->readable ? k->readable : k->name, function,
                                         sizeof function)
                               ? run_kernel_source(r, k)
                               : NULL;
    for (uint32_t i = 0; source && i < RUN_PARAMETERS_NAMED; i++)
      if (source_parameter(source, function, i, false, name, sizeof name))
        k->parameters[i] = run_text(r, name);
  }
  return k->parameters[index];
}
