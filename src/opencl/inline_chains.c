// Chains of inlined calls. clang's PTX has the place of each instruction, not the calls that led
// to it; LLVM's assembly has them:
//   !20 = !DILocation(line: 2, column: 10, scope: !10, inlinedAt: !22)
//   !22 = distinct !DILocation(line: 7, column: 10, scope: !15)
// Before clang makes PTX of it, the first becomes a place of the function that all was inlined
// into, whose line is FIRST_LINE and the number of the node. In the PTX that line becomes the
// chain, as nvcc writes it:
//   .loc 1 7 10
//   .loc 1 2 10, function_name $L__info_string0, inlined_at 1 7 10
#define _GNU_SOURCE

#include "opencl/opencl.h"

#include <ctype.h>

// No source has as many lines. DEEPEST: of a chain; damaged assembly may have circles.
enum { FIRST_LINE = 0x40000000, DEEPEST = 200, MOST_FILES = 100000 };
#define NONE UINT32_MAX  // no node

typedef struct Nodes {
  VEC(const char *) at;  // the line of node N, after "!N = "; NULL: there is none
} Nodes;

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// Reads "!N = "; NULL: the line is no node. (sscanf would look for the end of the whole text.)
static const char *node_head(const char *line, uint32_t *number) {
  char *end;
  if (line[0] != '!' || !isdigit((unsigned char)line[1])) return NULL;
  *number = (uint32_t)strtoul(line + 1, &end, 10);
  if (!starts(end, " = ") || *number >= FIRST_LINE) return NULL;
  end += 3;
  return starts(end, "distinct ") ? end + strlen("distinct ") : end;
}

static void read_nodes(const char *assembly, Nodes *out) {
  for (const char *line = assembly; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    uint32_t n;
    const char *text = node_head(line, &n);
    if (!text) continue;
    while (out->at.len <= n) vec_push(&out->at, NULL);
    out->at.data[n] = text;
  }
}

static const char *node(const Nodes *nodes, uint32_t n) {
  return n < nodes->at.len ? nodes->at.data[n] : NULL;
}

// The value after "name: " in a node; NULL: it has no such field.
static const char *field(const char *text, const char *name) {
  size_t n = text ? strcspn(text, "\n") : 0, len = strlen(name);
  for (const char *p = text; p && (p = memmem(p, n - (size_t)(p - text), name, len)); p++)
    if (p > text && strchr("( ", p[-1]) && starts(p + len, ": ")) return p + len + 2;
  return NULL;
}

static uint32_t number_field(const char *text, const char *name) {
  const char *at = field(text, name);
  return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

static uint32_t node_field(const char *text, const char *name) {
  const char *at = field(text, name);
  return at && *at == '!' ? (uint32_t)strtoul(at + 1, NULL, 10) : NONE;
}

static bool is_inlined(const char *text) {
  return text && starts(text, "!DILocation(") && field(text, "inlinedAt");
}

// The scope that everything was inlined into.
static uint32_t outer_scope(const Nodes *nodes, const char *text) {
  for (int i = 0; i < DEEPEST && is_inlined(text); i++)
    text = node(nodes, node_field(text, "inlinedAt"));
  return node_field(text, "scope");
}

// Does the line order the uses of a constant? clang (19) writes some of these that it cannot read.
static bool orders_constant(const char *line) {
  line += strspn(line, " ");
  if (!starts(line, "uselistorder ")) return false;
  size_t n = strcspn(line, "{\n");
  return !memmem(line, n, " %", 2);
}

void ocl_number_inlined(const char *assembly, Str *out) {
  Nodes nodes = {0};
  read_nodes(assembly, &nodes);
  for (const char *line = assembly; *line;) {
    const char *end = strchrnul(line, '\n');
    uint32_t n = 0;
    const char *text = node_head(line, &n);
    if (is_inlined(text)) {
      uint32_t known = number_field(text, "line");
      str_printf(out, "!%u = !DILocation(line: %u, scope: !%u)\n", n, known ? FIRST_LINE + n : 0,
                 outer_scope(&nodes, text));
    } else if (!orders_constant(line)) {
      str_addn(out, line, (size_t)(end - line));
      str_addc(out, '\n');
    }
    line = end + (*end == '\n');
  }
  vec_free(&nodes.at);
}

typedef struct Writer {
  Nodes nodes;
  Arena arena;
  VEC(char *) files;      // by number; NULL: none
  VEC(char *) functions;  // by the number of their label
  uint32_t known_files;   // those of the PTX; the others are to be declared
  Str *out;
} Writer;

// The first number after a directive that the line begins with; *end: what follows. 0: another
// line.
static uint32_t directive(const char *line, const char *name, char **end) {
  line += strspn(line, " \t");
  if (!starts(line, name)) return 0;
  return (uint32_t)strtoul(line + strlen(name), end, 10);
}

// `.file 1 "/path"`
static void read_file_number(Writer *w, const char *line) {
  char *at;
  uint32_t n = directive(line, ".file", &at);
  if (!n || n > MOST_FILES || !starts(at, " \"")) return;
  while (w->files.len <= n) vec_push(&w->files, NULL);
  w->files.data[n] = arena_strndup(&w->arena, at + 2, strcspn(at + 2, "\"\n"));
}

// The node whose chain a `.loc` stands for; NONE: it is a plain one, or another line.
static uint32_t numbered_node(const Nodes *nodes, const char *line) {
  char *at;
  if (!directive(line, ".loc", &at)) return NONE;
  unsigned long number = strtoul(at, NULL, 10);
  if (number < FIRST_LINE) return NONE;
  uint32_t n = (uint32_t)(number - FIRST_LINE);
  return is_inlined(node(nodes, n)) ? n : NONE;
}

static uint32_t file_number(Writer *w, const char *scope) {
  const char *file = node(&w->nodes, node_field(scope, "file"));
  const char *name = field(file, "filename"), *folder = field(file, "directory");
  Str path = {0};
  if (folder && name && name[1] != '/' && folder[1] != '"')
    str_printf(&path, "%s/", ocl_assembly_text(&folder, &w->arena));
  str_add(&path, name ? ocl_assembly_text(&name, &w->arena) : "");
  uint32_t i = 1;
  while (i < w->files.len && (!w->files.data[i] || strcmp(w->files.data[i], path.data))) i++;
  if (!w->files.len) vec_push(&w->files, NULL);
  if (i == w->files.len) vec_push(&w->files, arena_strdup(&w->arena, path.data));
  str_free(&path);
  return i;
}

// The function that a scope is in; NULL: damaged.
static const char *function_of(const Writer *w, const char *scope) {
  for (int i = 0; scope && i < DEEPEST && !starts(scope, "!DISubprogram("); i++)
    scope = node(&w->nodes, node_field(scope, "scope"));
  return scope;
}

static uint32_t function_label(Writer *w, const char *scope) {
  const char *at = field(function_of(w, scope), "name");
  char *name = at ? ocl_assembly_text(&at, &w->arena) : "";
  uint32_t i = 0;
  while (i < w->functions.len && strcmp(w->functions.data[i], name)) i++;
  if (i == w->functions.len) vec_push(&w->functions, name);
  return i;
}

// All of a chain: the outermost call first.
static void add_chain(Writer *w, uint32_t innermost) {
  const char *chain[DEEPEST];
  uint32_t n = 0;
  for (uint32_t at = innermost; n < DEEPEST && node(&w->nodes, at);) {
    chain[n++] = node(&w->nodes, at);
    at = node_field(chain[n - 1], "inlinedAt");
  }
  char caller[64] = "";
  while (n--) {
    const char *scope = node(&w->nodes, node_field(chain[n], "scope"));
    char place[64];
    snprintf(place, sizeof place, "%u %u %u", file_number(w, scope), number_field(chain[n], "line"),
             number_field(chain[n], "column"));
    str_printf(w->out, "\t.loc\t%s", place);
    if (*caller)
      str_printf(w->out, ", function_name $L__info_string%u, inlined_at %s",
                 function_label(w, scope), caller);
    str_addc(w->out, '\n');
    memcpy(caller, place, sizeof place);
  }
}

static void add_declarations(Writer *w) {
  for (uint32_t i = w->known_files; i < w->files.len; i++)
    if (w->files.data[i]) str_printf(w->out, "\t.file\t%u \"%s\"\n", i, w->files.data[i]);
  if (!w->functions.len) return;
  str_add(w->out, "\t.section\t.debug_str\n\t{\n");
  for (uint32_t i = 0; i < w->functions.len; i++) {
    str_printf(w->out, "$L__info_string%u:\n.b8 ", i);
    for (const char *p = w->functions.data[i]; *p; p++)
      str_printf(w->out, "%u,", (unsigned char)*p);
    str_add(w->out, "0\n");
  }
  str_add(w->out, "\n\t}\n");
}

// PTX has chains since version 7.2.
static bool is_older(const char *line) {
  char *end;
  uint32_t major = directive(line, ".version", &end);
  return major && *end == '.' && major * 10 + strtoul(end + 1, NULL, 10) < 72;
}

void ocl_add_chains(const char *ptx, const char *assembly, Str *out) {
  Writer w = {.out = out};
  read_nodes(assembly, &w.nodes);
  for (const char *line = ptx; *line; line += strcspn(line, "\n"), line += *line == '\n')
    read_file_number(&w, line);
  w.known_files = w.files.len;
  for (const char *line = ptx; *line;) {
    const char *end = strchrnul(line, '\n');
    uint32_t numbered = numbered_node(&w.nodes, line);
    if (numbered != NONE) add_chain(&w, numbered);
    else if (is_older(line)) str_add(out, ".version 7.2\n");
    else {
      str_addn(out, line, (size_t)(end - line));
      str_addc(out, '\n');
    }
    line = end + (*end == '\n');
  }
  add_declarations(&w);
  vec_free(&w.nodes.at);
  vec_free(&w.files);
  vec_free(&w.functions);
  arena_free(&w.arena);
}
