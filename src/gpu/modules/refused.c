// Reads the compiler's message when it refuses code, so that the other kernels can keep their
// checks.
//
//   Entry function 'K' with max regcount of 32 calls function 'F' with regcount of 70
//
// is what the compiler and, with a small letter, the linker say of functions that were compiled
// apart. Other messages name the kernel in quotes, too.
#define _GNU_SOURCE
#include "gpu/modules/modules.h"

const char *gpu_refused_reason(const GpuRefused *r, const char *kernel) {
  for (uint32_t i = 0; i < r->kernels.len; i++)
    if (!strcmp(r->kernels.data[i], kernel)) return r->reasons.data[i];
  return NULL;
}

// The name in quotes that begins here; NULL: none, or it is cut off.
static char *quoted(const char *at, const char **end) {
  const char *close = *at == '\'' ? strchr(at + 1, '\'') : NULL;
  if (!close) return NULL;
  *end = close + 1;
  return strndup(at + 1, (size_t)(close - at - 1));
}

// The message of "ptxas error   : Entry function …", without the words before the colon.
static const char *message_of(Arena *a, const char *line, size_t len) {
  const char *colon = memmem(line, len, " : ", 3);
  if (colon) {
    len -= (size_t)(colon + 3 - line);
    line = colon + 3;
  }
  return arena_printf(a, "the driver's compiler refuses it with checks: %.*s", (int)MIN(len, 300u),
                      line);
}

static bool is_one_of(const char *name, const char *const *list, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!strcmp(list[i], name)) return true;
  return false;
}

bool gpu_refused_add(GpuRefused *r, const char *log, const char *const *kernels,
                     uint32_t nkernels) {
  bool any = false;
  while (log && *log) {
    size_t len = strcspn(log, "\n");
    const char *quote = memchr(log, '\'', len), *end;
    char *name = quote ? quoted(quote, &end) : NULL;
    if (name && is_one_of(name, kernels, nkernels) && !gpu_refused_reason(r, name)) {
      vec_push(&r->kernels, arena_strdup(&r->arena, name));
      vec_push(&r->reasons, message_of(&r->arena, log, len));
      any = true;
    }
    free(name);
    log += len + (log[len] == '\n');
  }
  return any;
}

void gpu_refused_free(GpuRefused *r) {
  arena_free(&r->arena);
  vec_free(&r->kernels);
  vec_free(&r->reasons);
}

// The unit that defines the function; n: it is a probe; UINT32_MAX: none does.
static uint32_t unit_of(const char *name, PtxModule *const *units, uint32_t n,
                        const char *probe_prefix) {
  if (!strncmp(name, probe_prefix, strlen(probe_prefix))) return n;
  for (uint32_t u = 0; u < n; u++) {
    const PtxFunc *f = ptx_find_func(units[u], name);
    if (f && !f->is_declaration) return u;
  }
  return UINT32_MAX;
}

bool gpu_limit_callees(const char *log, PtxModule *const *units, uint32_t n,
                       const char *probe_prefix, unsigned *registers) {
  static const char calls[] = "calls function ", most[] = "max regcount of ";
  bool any = false;
  while (log && (log = strstr(log, most))) {
    unsigned limit = (unsigned)strtoul(log + strlen(most), NULL, 10);
    const char *end = log + strcspn(log, "\n"), *at = strstr(log, calls), *after;
    char *callee = at && at < end ? quoted(at + strlen(calls), &after) : NULL;
    uint32_t u = callee ? unit_of(callee, units, n, probe_prefix) : UINT32_MAX;
    if (u != UINT32_MAX && limit && (!registers[u] || limit < registers[u])) {
      registers[u] = limit;
      any = true;
    }
    free(callee);
    log = end;
  }
  return any;
}
