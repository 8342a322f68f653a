// Counts the program's references to objects: objects left at the end were never released.
#define _GNU_SOURCE

#include "opencl_layer/layer.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>

enum { FRAMES = 16 };
typedef struct Object {
  const char *type, *made_by;
  const void *caller;
  void *stack[FRAMES];
  int frames;
  uint32_t references, number;  // number: in the order in which they were made
} Object;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map objects;
static uint32_t made;

void layer_object_made(const void *handle, const LayerCall *c, const char *type) {
  if (!handle) return;
  pthread_mutex_lock(&lock);
  Object *o = u64map_get(&objects, (uintptr_t)handle);
  if (!o) u64map_put(&objects, (uintptr_t)handle, o = mem_alloc(sizeof *o));
  *o = (Object){type, c->name, c->caller, .references = 1, .number = ++made};
  o->frames = backtrace(o->stack, FRAMES);
  pthread_mutex_unlock(&lock);
}

void layer_object_retained(const void *handle) {
  pthread_mutex_lock(&lock);
  Object *o = u64map_get(&objects, (uintptr_t)handle);
  if (o) o->references++;
  pthread_mutex_unlock(&lock);
}

void layer_object_released(const void *handle) {
  pthread_mutex_lock(&lock);
  Object *o = u64map_get(&objects, (uintptr_t)handle);
  if (o && --o->references == 0) free(u64map_remove(&objects, (uintptr_t)handle));
  pthread_mutex_unlock(&lock);
}

void layer_print_place(FILE *out, const char *word, const void *caller) {
  Dl_info at;
  if (!dladdr(caller, &at) || !at.dli_fname) return;
  const char *slash = strrchr(at.dli_fname, '/');
  fprintf(out, "%s %s+0x%zx", word, slash ? slash + 1 : at.dli_fname,
          (size_t)((const char *)caller - (const char *)at.dli_fbase) - 1);
  if (at.dli_sname) fprintf(out, " in %s", at.dli_sname);
}

// Who called the caller, up to the C library that has called main.
static void print_stack(FILE *out, const Object *o) {
  bool behind = false;
  for (int i = 0; i < o->frames; i++) {
    Dl_info at;
    bool known = dladdr(o->stack[i], &at) && at.dli_fname;
    if (behind && (!known || strstr(at.dli_fname, "/libc.so"))) return;
    if (behind) {
      layer_print_place(out, "    by", o->stack[i]);
      fputc('\n', out);
    }
    behind |= o->stack[i] == o->caller;
  }
}

typedef struct Left {
  uint64_t handle;
  Object object;
} Left;

static int by_number(const void *a, const void *b) {
  uint32_t x = ((const Left *)a)->object.number, y = ((const Left *)b)->object.number;
  return (x > y) - (x < y);
}

void layer_objects_left(FILE *out) {
  VEC(Left) list = {0};
  uint32_t it = 0;
  uint64_t key;
  void *value;
  pthread_mutex_lock(&lock);
  while (u64map_next(&objects, &it, &key, &value)) vec_push(&list, (Left){key, *(Object *)value});
  pthread_mutex_unlock(&lock);
  if (list.len) qsort(list.data, list.len, sizeof *list.data, by_number);
  fprintf(out, "objects that were not released: %u\n", list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    const Object *o = &list.data[i].object;
    fprintf(out, "  %s 0x%llx made by %s", o->type, (unsigned long long)list.data[i].handle,
            o->made_by);
    layer_print_place(out, ", called at", o->caller);
    fprintf(out, "; references left: %u\n", o->references);
    print_stack(out, o);
  }
  vec_free(&list);
}
