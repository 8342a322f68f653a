// Machine code that Triton, JAX or another framework made with Warpgrind's ptxas in front of its
// own (src/cli/ptxas.c): a variable in the code names its PTX text, which is in the cache. Without
// a tool such code runs as it is: it was compiled from re-emitted PTX already. With one, the text
// is instrumented like any other PTX.
#include "gpu/modules/modules.h"

#define STAMP "__warpgrind_ptx_"

static bool find_id(const Image *image, char id[33]) {
  Arena a = {0};
  Cubin cubin;
  bool found = false;
  if (image_read_cubin(&a, image->data, image->size, &cubin, NULL))
    for (uint32_t i = 0; i < cubin.n_variables && !found; i++) {
      const char *name = cubin.variables[i].name;
      found = strncmp(name, STAMP, sizeof STAMP - 1) == 0 &&
              strlen(name) == sizeof STAMP - 1 + 32 && !strchr(name, '/');
      if (found) memcpy(id, name + sizeof STAMP - 1, 33);
    }
  arena_free(&a);
  return found;
}

// The first source file the text names: .file 1 "folder/script.py"
static const char *source_of(Arena *a, const char *text) {
  const char *p = text;
  while ((p = strstr(p, ".file")) != NULL && p[5] != '\t' && p[5] != ' ') p += 5;
  const char *open = p ? strchr(p, '"') : NULL, *close = open ? strchr(open + 1, '"') : NULL,
             *line = p ? strchr(p, '\n') : NULL;
  if (!close || (line && line < close)) return "";
  const char *name = arena_strndup(a, open + 1, (size_t)(close - open - 1)),
             *slash = strrchr(name, '/');
  return slash ? slash + 1 : name;
}

// What follows the text: "// ptxas options: --fmad=false …"
static const char *options_of(Arena *a, const char *text) {
  static const char mark[] = "\n// ptxas options: ";
  const char *last = NULL;
  for (const char *p = text; (p = strstr(p, mark)) != NULL; p++) last = p;
  if (!last) return "";
  last += sizeof mark - 1;
  return arena_strndup(a, last, strcspn(last, "\n"));
}

bool gpu_stamped_code(const Image *image, GpuCode *c) {
  const char *folder = getenv("WARPGRIND_PTXAS_TEXTS");
  char id[33];
  if (!folder || !*folder || !find_id(image, id)) return false;
  Str file = {0};
  Error err = {{0}};
  Image text;
  const char *path = arena_printf(&c->arena, "%s/%s.ptx", folder, id);
  if (!file_read(path, &file, &err)) {
    log_verbose("the PTX of a kernel compiled under Warpgrind is gone: %s", err.text);
    return false;
  }
  char *copy = arena_strndup(&c->arena, file.data, file.len);
  str_free(&file);
  if (!image_open(copy, strlen(copy), &text, &err) || text.entries.len != 1) return false;
  c->units = ARENA_ARRAY(&c->arena, ImageEntry, 1);
  c->units[0] = text.entries.data[0];
  image_close(&text);
  c->units[0].options = options_of(&c->arena, copy);
  c->units[0].source = source_of(&c->arena, copy);
  c->nunits = 1;
  c->hash = gpu_hash(copy, strlen(copy), c->hash);
  c->as_is = session_tools() == 0;
  return true;
}
