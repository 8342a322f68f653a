// A folder in /tmp for one compilation, and the files in it.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <unistd.h>

bool ocl_folder_open(OclFolder *f) {
  snprintf(f->path, sizeof f->path, "/tmp/warpgrind-opencl-XXXXXX");
  return mkdtemp(f->path) != NULL;
}

char *ocl_folder_file(OclFolder *f, const char *name) {
  Str s = {0};
  str_printf(&s, "%s/%s", f->path, name);
  vec_push(&f->files, s.data);
  return s.data;
}

void ocl_folder_close(OclFolder *f) {
  for (uint32_t i = f->files.len; i > 0; i--) {
    if (unlink(f->files.data[i - 1])) rmdir(f->files.data[i - 1]);
    free(f->files.data[i - 1]);
  }
  vec_free(&f->files);
  rmdir(f->path);
}
