// A program image: lines that describe the kernels, then PTX. clGetProgramInfo returns it as the
// binary, and the cache keeps it.
//   kernel NAME X Y Z HAS_LAUNCH PARAMETERS ATTRIBUTES
//   SPACE BYTES access TAB type TAB qualifiers TAB name
//   ptx
#include "opencl/opencl.h"

static char *take_line(char **p) {
  char *line = *p;
  size_t n = strcspn(line, "\n");
  *p = line + n + (line[n] == '\n');
  line[n] = 0;
  return line;
}

static char *take_field(char **p) {
  char *field = *p;
  size_t n = strcspn(field, "\t");
  *p = field + n + (field[n] == '\t');
  field[n] = 0;
  return field;
}

static bool read_kernel(char *line, char **rest, OclImage *out) {
  OclEntry *e = ARENA_NEW(&out->arena, OclEntry);
  unsigned launch, n;
  int read = 0;
  char *name = arena_alloc(&out->arena, strlen(line) + 1);
  if (sscanf(line, "kernel %s %zu %zu %zu %u %u %n", name, &e->required[0], &e->required[1],
             &e->required[2], &launch, &n, &read) != 6)
    return false;
  e->name = name;
  e->has_launch = launch;
  e->attributes = line + read;
  vec_push(&out->kernels, e);
  for (unsigned i = 0; i < n; i++) {
    OclParameter p = {0};
    int used = 0;
    char *at = take_line(rest);
    if (sscanf(at, "%u %zu %n", &p.space, &p.bytes, &used) != 2) return false;
    at += used;
    p.access = take_field(&at);
    p.type = take_field(&at);
    p.qualifiers = take_field(&at);
    p.name = take_field(&at);
    vec_push(&e->parameters, p);
  }
  return true;
}

bool ocl_image_read(const char *text, OclImage *out) {
  size_t mark = strlen(OCL_IMAGE_MARK);
  memset(out, 0, sizeof *out);
  if (strncmp(text, OCL_IMAGE_MARK, mark)) return false;
  char *rest = arena_strdup(&out->arena, text + mark);
  for (;;) {
    char *line = take_line(&rest);
    if (!strcmp(line, "ptx")) break;
    if (!read_kernel(line, &rest, out)) {
      ocl_image_free(out);
      return false;
    }
  }
  out->ptx = rest;
  return true;
}

void ocl_image_free(OclImage *image) {
  for (uint32_t i = 0; i < image->kernels.len; i++) vec_free(&image->kernels.data[i]->parameters);
  vec_free(&image->kernels);
  arena_free(&image->arena);
  memset(image, 0, sizeof *image);
}
