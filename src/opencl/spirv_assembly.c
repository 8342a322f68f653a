// Converts the LLVM assembly that llvm-spirv makes of SPIR-V to the assembly that clang makes of
// OpenCL C for PTX.
//   - Address spaces: SPIR's constant 2 and generic 4 become 4 and 0. A cast between spaces that
//     become one is a bitcast.
//   - Names of built-ins contain the spaces: …PU3AS2f becomes …PU3AS4f, and U3AS4 is removed.
//   - Calling conventions: spir_func is removed, spir_kernel becomes ptx_kernel.
//   - Debug information: lines only, as in our own calls of clang. The description of variables is
//     removed: clang (19) crashes on it.
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <ctype.h>

static unsigned space_of(unsigned spir) { return spir == 2 ? 4 : spir == 4 ? 0 : spir; }

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// Reads `ptr` or `ptr addrspace(N)`: its space in PTX, or -1.
static int pointer_space(const char *p) {
  unsigned n = 0;
  if (!starts(p, "ptr")) return -1;
  return sscanf(p + 3, " addrspace(%u)", &n) == 1 ? (int)space_of(n) : 0;
}

// Does the address space cast at p join spaces that become one?
static bool casts_nothing(const char *p, const char *end) {
  p += strlen("addrspacecast");
  while (*p == ' ' || *p == '(') p++;
  int from = pointer_space(p);
  const char *to = memmem(p, (size_t)(end - p), " to ptr", 7);
  return to && from >= 0 && from == pointer_space(to + 4);
}

// A name that begins with @: built-ins and intrinsics have spaces in theirs.
static const char *add_name(Str *out, const char *p, const char *end) {
  bool mangled = starts(p, "@_Z"), intrinsic = starts(p, "@llvm.");
  for (; p < end && (isalnum((unsigned char)*p) || strchr("@_.$-", *p)); p++) {
    if (mangled && starts(p, "U3AS4")) {
      p += 4;
      continue;
    }
    if (mangled && starts(p, "U3AS2")) {
      str_add(out, "U3AS4");
      p += 4;
      continue;
    }
    bool space = intrinsic && p[0] == '.' && p[1] == 'p' && isdigit((unsigned char)p[2]) &&
                 !isalnum((unsigned char)p[3]);
    if (space) {
      str_printf(out, ".p%u", space_of((unsigned)(p[2] - '0')));
      p += 2;
      continue;
    }
    str_addc(out, *p);
  }
  return p;
}

static const char *const words[][2] = {{"spir_kernel ", "ptx_kernel "},
                                       {"spir_func ", ""},
                                       {"emissionKind: FullDebug", "emissionKind: LineTablesOnly"}};

// `, retainedNodes: !7`: variables of a function.
static const char *retained(const char *p) {
  static const char word[] = ", retainedNodes: !";
  if (!starts(p, word)) return NULL;
  p += sizeof word - 1;
  return p + strspn(p, "0123456789");
}

static void add_line(Str *out, const char *p, const char *end) {
  while (p < end) {
    unsigned n;
    int used = 0;
    size_t k = 0;
    if (*p == '"') {  // a text: not ours
      const char *close = memchr(p + 1, '"', (size_t)(end - p - 1));
      const char *next = close ? close + 1 : end;
      str_addn(out, p, (size_t)(next - p));
      p = next;
      continue;
    }
    if (*p == '@') {
      p = add_name(out, p, end);
      continue;
    }
    const char *behind = retained(p);
    if (behind) {
      p = behind;
      continue;
    }
    if (starts(p, "addrspace(") && sscanf(p, "addrspace(%u)%n", &n, &used) == 1 && used) {
      str_printf(out, "addrspace(%u)", space_of(n));
      p += used;
      continue;
    }
    if (starts(p, "addrspacecast") && casts_nothing(p, end)) {
      str_add(out, "bitcast");
      p += strlen("addrspacecast");
      continue;
    }
    while (k < ARRAY_LEN(words) && !starts(p, words[k][0])) k++;
    if (k < ARRAY_LEN(words)) {
      str_add(out, words[k][1]);
      p += strlen(words[k][0]);
      continue;
    }
    str_addc(out, *p++);
  }
}

static bool describes_variable(const char *line, const char *end) {
  return memmem(line, (size_t)(end - line), " @llvm.dbg.", 11) || starts(line, "  #dbg_") ||
         starts(line, "    #dbg_");
}

void ocl_spirv_assembly(const char *assembly, const char *target_lines, Str *out) {
  str_add(out, target_lines);
  for (const char *line = assembly; *line;) {
    const char *end = strchrnul(line, '\n');
    end += *end == '\n';
    if (!starts(line, "target ") && !describes_variable(line, end)) add_line(out, line, end);
    line = end;
  }
}
