#define _GNU_SOURCE

// Facts about kernels that clang's LLVM assembly has and PTX lacks: names, types and qualifiers of
// their arguments, the required size of a work-group. They are metadata:
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

// The same for the node that a definition names by `key`.
static const char *named(const char *assembly, const char *line, size_t len, const char *key) {
  const char *at = memmem(line, len, key, strlen(key));
  unsigned number;
  return at && sscanf(at + strlen(key), " !%u", &number) == 1 ? node(assembly, number) : NULL;
}

// A string whose opening quote is at *p, with \XX for odd characters.
char *ocl_assembly_text(const char **p, Arena *a) {
  Str s = {0};
  const char *at = *p + 1;
  for (; *at && *at != '"'; at++) {
    unsigned code;
    char digits[3] = {0};
    if (*at == '\\') memcpy(digits, at + 1, strnlen(at + 1, 2));
    if (*digits && sscanf(digits, "%2x", &code) == 1) {
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

// The next string of a node, !"…".
static char *next_string(const char **p, Arena *a) {
  const char *at = *p ? strstr(*p, "!\"") : NULL;
  if (!at || memchr(*p, '\n', (size_t)(at - *p))) return arena_strdup(a, "");
  *p = at + 1;
  return ocl_assembly_text(p, a);
}

static bool next_number(const char **p, unsigned *out) {
  const char *at = *p;
  while (at && *at && *at != '}' && !(at[0] == 'i' && at[1] == '3' && at[2] == '2')) at++;
  if (!at || *at != 'i' || sscanf(at + 3, " %u", out) != 1) return false;
  *p = at + 3;
  return true;
}

// "vec_type_hint(uchar2)" of !{<2 x i8> undef, i32 0}; the number says whether it is signed.
static void add_type_hint(Str *out, const char *node) {
  static const char *const names[][3] = {{"i8", "uchar", "char"},       {"i16", "ushort", "short"},
                                         {"i32", "uint", "int"},        {"i64", "ulong", "long"},
                                         {"half", "half", "half"},      {"float", "float", "float"},
                                         {"double", "double", "double"}};
  unsigned width = 0, is_signed = 0;
  int used = 0;
  if (sscanf(node, "<%u x %n", &width, &used) == 1) node += used;
  const char *comma = node + strcspn(node, ",\n");
  next_number(&comma, &is_signed);
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    size_t n = strlen(names[i][0]);
    if (strncmp(node, names[i][0], n) || !strchr("> ", node[n])) continue;
    str_printf(out, "vec_type_hint(%s", names[i][1 + (is_signed != 0)]);
    if (width) str_printf(out, "%u", width);
    str_add(out, ") ");
  }
}

static void add_size(Str *out, const char *name, const char *node) {
  unsigned n[3];
  if (node && next_number(&node, &n[0]) && next_number(&node, &n[1]) && next_number(&node, &n[2]))
    str_printf(out, "%s(%u,%u,%u) ", name, n[0], n[1], n[2]);
}

// The answer of clGetKernelInfo to CL_KERNEL_ATTRIBUTES.
static char *attributes(const char *assembly, const char *line, size_t len, Arena *a) {
  Str s = {0};
  const char *type = named(assembly, line, len, "!vec_type_hint");
  if (type) add_type_hint(&s, type);
  add_size(&s, "work_group_size_hint", named(assembly, line, len, "!work_group_size_hint"));
  add_size(&s, "reqd_work_group_size", named(assembly, line, len, "!reqd_work_group_size"));
  char *text = s.len ? arena_strndup(a, s.data, s.len - 1) : arena_strdup(a, "");
  str_free(&s);
  return text;
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
  e->attributes = attributes(assembly, line, len, a);
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
