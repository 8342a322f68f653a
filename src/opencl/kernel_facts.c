#define _GNU_SOURCE

// What clang's LLVM assembly says of kernels and PTX does not: names, types and qualifiers of their
// arguments, the required size of a work-group. It is metadata:
//   define … spir_kernel void @k(…) … !kernel_arg_name !26 …
//   !26 = !{!"a", !"b"}
#include "opencl/opencl.h"

#include <ctype.h>

// The text between the braces of node `number`; NULL: there is none.
static const char *node(const char *assembly, unsigned number) {
  char head[32];
  int n = snprintf(head, sizeof head, "\n!%u = !{", number);
  const char *at = strstr(assembly, head);
  return at ? at + n : NULL;
}

// … of the node that a definition names by `key`.
static const char *named(const char *assembly, const char *line, size_t len, const char *key) {
  const char *at = memmem(line, len, key, strlen(key));
  unsigned number;
  return at && sscanf(at + strlen(key), " !%u", &number) == 1 ? node(assembly, number) : NULL;
}

// The next string of a node, !"…" with \XX for odd characters.
static char *next_string(const char **p, Arena *a) {
  Str s = {0};
  const char *at = *p ? strstr(*p, "!\"") : NULL;
  if (!at || memchr(*p, '\n', (size_t)(at - *p))) return arena_strdup(a, "");
  for (at += 2; *at && *at != '"'; at++) {
    unsigned code;
    if (*at == '\\' && sscanf(at + 1, "%2x", &code) == 1) {
      str_addc(&s, (char)code);
      at += 2;
    } else {
      str_addc(&s, *at);
    }
  }
  *p = *at ? at + 1 : at;
  char *text = arena_strdup(a, s.data ? s.data : "");
  str_free(&s);
  return text;
}

static bool next_number(const char **p, unsigned *out) {
  const char *at = *p;
  while (at && *at && *at != '}' && !(at[0] == 'i' && at[1] == '3' && at[2] == '2')) at++;
  if (!at || *at != 'i' || sscanf(at + 3, " %u", out) != 1) return false;
  *p = at + 3;
  return true;
}

static void add_kernel(const char *assembly, const char *line, size_t len, Arena *a,
                       OclEntries *out) {
  const char *at = memchr(line, '@', len);
  if (!at) return;
  at++;
  OclEntry *e = ARENA_NEW(a, OclEntry);
  e->name = arena_strndup(a, at, strcspn(at, "( \n"));
  const char *spaces = named(assembly, line, len, "!kernel_arg_addr_space");
  const char *access = named(assembly, line, len, "!kernel_arg_access_qual");
  const char *types = named(assembly, line, len, "!kernel_arg_type ");
  const char *qualifiers = named(assembly, line, len, "!kernel_arg_type_qual");
  const char *names = named(assembly, line, len, "!kernel_arg_name");
  for (unsigned space; next_number(&spaces, &space);) {
    OclParameter p = {.space = space};
    p.access = next_string(&access, a);
    p.type = next_string(&types, a);
    p.qualifiers = next_string(&qualifiers, a);
    p.name = next_string(&names, a);
    vec_push(&e->parameters, p);
  }
  const char *size = named(assembly, line, len, "!reqd_work_group_size");
  for (unsigned i = 0, n; i < 3 && next_number(&size, &n); i++) e->required[i] = n;
  vec_push(out, e);
}

void ocl_kernel_facts(const char *assembly, Arena *a, OclEntries *out) {
  for (const char *line = assembly; line && *line;) {
    size_t len = strcspn(line, "\n");
    bool kernel = !strncmp(line, "define ", 7) &&
                  (memmem(line, len, " spir_kernel ", 13) || memmem(line, len, " ptx_kernel ", 12));
    if (kernel) add_kernel(assembly, line, len, a, out);
    line += len + (line[len] == '\n');
  }
}
