// Cuts PTX text into pieces that can be compiled alone: what one kernel needs, or several kernels
// that share a variable.
//
// The text is only scanned, not parsed: a piece is cut out of it as it stands, and only pieces that
// are used are parsed. Names are found as words, so a name that is hidden by a local one counts as
// a reference too: a piece may be larger than needed, never smaller. Text that the scanner does not
// understand has no pieces.
//
// Kernels are joined into one piece where they reach
//   the same variable in .global or .const memory (variables exist once), except what the compiler
//   makes of string literals; function pointers: a pointer made in one kernel may be called in
//   another; each other's code (a kernel launched from a kernel).
// Code compiled with -G is one piece: its debug sections name labels of all functions.
#define _GNU_SOURCE
#include "gpu/modules/modules.h"

typedef enum { PART_KEEP, PART_DROP, PART_FUNC, PART_VAR, PART_ALIAS } PartKind;

typedef struct Part {  // one module-level thing, as written
  PartKind kind;
  const char *start, *end;
  uint32_t line;              // of start
  uint32_t body;              // offset from start of what may hold references
  uint32_t first_ref, nrefs;  // in Split.refs
  VEC(uint32_t) names;        // symbols it declares
} Part;

typedef struct Symbol {
  const char *name;
  uint32_t len;
  bool is_func, is_entry, is_unique, is_pointed_at;
  bool calls_pointer;  // func: calls through a register
  bool is_string;      // a label in .debug_str
  uint32_t mark;
  uint32_t joined;  // entry: union-find parent
  uint32_t piece;   // UINT32_MAX: none
  VEC(uint32_t) parts;
} Symbol;

struct GpuSplit {
  const char *text, *end;
  VEC(Part) parts;
  VEC(Symbol) symbols;
  VEC(uint32_t) refs;
  VEC(uint32_t) pointed_at;  // functions whose address is taken
  VEC(uint32_t) kernels;
  VEC(uint32_t) found;  // the walk's list
  StrMap by_name;       // index + 1
  Arena arena;
  uint32_t mark, npieces;
  bool whole;        // one piece
  bool all_strings;  // keep all: an expression subtracts two labels
  uint32_t failed;   // line
};

// --- words ---

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

typedef struct Scan {
  const char *at, *end;
  uint32_t line;
} Scan;

// Moves over blanks and comments. false: the end.
static bool skip_blanks(Scan *s) {
  for (; s->at < s->end; s->at++) {
    char c = *s->at;
    if (c == '\n') s->line++;
    else if (c == '/' && s->at + 1 < s->end && s->at[1] == '/') {
      const char *nl = memchr(s->at, '\n', (size_t)(s->end - s->at));
      s->at = (nl ? nl : s->end) - 1;
    } else if (c == '/' && s->at + 1 < s->end && s->at[1] == '*') {
      const char *p = s->at + 2;
      for (; p + 1 < s->end && !(p[0] == '*' && p[1] == '/'); p++) s->line += *p == '\n';
      s->at = p + 1 < s->end ? p + 1 : s->end - 1;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') return true;
  }
  return false;
}

// The next token: a word, ".word", a string, or one character. Length 0: the end.
typedef struct Word {
  const char *at;
  uint32_t len;
} Word;
static Word next_word(Scan *s) {
  if (!skip_blanks(s)) return (Word){s->end, 0};
  const char *from = s->at;
  if (*from == '"') {
    const char *p = from + 1;
    while (p < s->end && *p != '"' && *p != '\n') p++;
    s->at = p < s->end ? p + 1 : p;
  } else {
    s->at++;
    if (*from == '.' || is_word(*from))
      while (s->at < s->end && is_word(*s->at)) s->at++;
  }
  return (Word){from, (uint32_t)(s->at - from)};
}

static bool word_is(Word w, const char *text) {
  return w.len == strlen(text) && !memcmp(w.at, text, w.len);
}
static bool word_in(Word w, const char *const *list) {
  for (; *list; list++)
    if (word_is(w, *list)) return true;
  return false;
}

// Over a {…} block whose '{' was read. Only braces, comments and strings matter inside, so this
// part is a tight loop.
static bool skip_block(Scan *s) {
  static const bool matters[256] = {['\n'] = 1, ['{'] = 1, ['}'] = 1, ['/'] = 1, ['"'] = 1};
  unsigned depth = 1;
  while (s->at < s->end) {
    if (!matters[(unsigned char)*s->at]) {
      s->at++;
      continue;
    }
    if (*s->at == '/') {
      const char *slash = s->at;
      skip_blanks(s);
      if (s->at == slash) s->at++;
      continue;
    }
    char c = *s->at++;
    if (c == '\n') s->line++;
    else if (c == '{') depth++;
    else if (c == '}' && !--depth) return true;
    else if (c == '"')
      while (s->at < s->end && *s->at++ != '"') {}
  }
  return false;
}

// --- finding the parts ---

static uint32_t symbol_id(GpuSplit *s, Word w) {
  uintptr_t known = (uintptr_t)strmap_getn(&s->by_name, w.at, w.len);
  if (known) return (uint32_t)known - 1;
  const char *name = arena_strndup(&s->arena, w.at, w.len);
  uint32_t id = s->symbols.len;
  vec_push(&s->symbols, (Symbol){.name = name, .len = w.len, .joined = id, .piece = UINT32_MAX});
  strmap_put(&s->by_name, name, (void *)(uintptr_t)(id + 1));
  return id;
}

static void declare(GpuSplit *s, Part *p, uint32_t id) {
  vec_push(&p->names, id);
  vec_push(&s->symbols.data[id].parts, s->parts.len);  // p is pushed next
}

static bool is_name(Word w) { return is_word(*w.at) && !(*w.at >= '0' && *w.at <= '9'); }

// Read-only data that the compiler generates: may exist once in every piece.
static bool is_copyable(Word name, bool is_extern, bool has_linkage, bool has_value) {
  static const char *const prefixes[] = {
      "$str",          "__unnamed_",          "__const_", "__cudart_", "__func__$",
      "__FUNCTION__$", "__PRETTY_FUNCTION__", NULL};
  if (is_extern) return true;
  if (has_linkage || !has_value) return false;
  for (const char *const *p = prefixes; *p; p++)
    if (name.len >= strlen(*p) && !memcmp(name.at, *p, strlen(*p))) return true;
  return memmem(name.at, name.len, "__PRETTY_FUNCTION__", 19) != NULL;
}

// (returns) name (params) directives, then ';' or a body. The first word was read.
static bool scan_func(GpuSplit *s, Scan *scan, Part *p, bool is_entry) {
  unsigned depth = 0;
  bool named = false;
  for (;;) {
    Scan before = *scan;
    Word w = next_word(scan);
    if (!w.len) return false;
    char c = *w.at;
    if (c == '(') depth++;
    else if (c == ')') {
      if (!depth--) return false;
    } else if (depth) continue;
    else if (c == ';') break;
    else if (c == '{') {
      p->body = (uint32_t)(w.at - p->start);
      if (!skip_block(scan)) return false;
      break;
    } else if (!named && is_name(w)) {
      uint32_t id = symbol_id(s, w);
      Symbol *symbol = &s->symbols.data[id];
      if (is_entry && !symbol->is_entry) vec_push(&s->kernels, id);
      symbol->is_entry |= is_entry;
      symbol->is_func = true;
      declare(s, p, id);
      named = true;
    } else if (named) {  // a declaration may lack its ';'
      static const char *const starts[] = {".visible", ".extern", ".weak",  ".common",  ".entry",
                                           ".func",    ".global", ".const", ".shared",  ".local",
                                           ".tex",     ".alias",  ".file",  ".section", NULL};
      if (!word_in(w, starts)) continue;
      *scan = before;
      break;
    }
  }
  p->end = scan->at;
  return named;
}

// .align 4 .b8 name[10] = {…}, name2;
static bool scan_var(GpuSplit *s, Scan *scan, Part *p, bool shared_or_local, PtxLinkage linkage) {
  unsigned depth = 0;
  bool in_value = false, named = false;
  Word name = {0};
  uint32_t id = 0;
  p->body = 0;
  for (;;) {
    Word w = next_word(scan);
    if (!w.len) return false;
    char c = *w.at;
    bool ends = !depth && (c == ',' || c == ';');
    if (ends && named) {
      bool copyable = shared_or_local ||
                      is_copyable(name, linkage == LINK_EXTERN, linkage != LINK_NONE, in_value);
      if (!copyable) s->symbols.data[id].is_unique = true;
      in_value = named = false;
    }
    if (c == '(' || c == '[' || c == '{') depth++;
    else if (c == ')' || c == ']' || c == '}') {
      if (!depth--) return false;
    } else if (!depth && c == ';') break;
    else if (!depth && c == '=') {
      if (!p->body) p->body = (uint32_t)(w.at - p->start);
      in_value = true;
    } else if (!depth && !in_value && is_name(w)) {
      if (named) return false;
      id = symbol_id(s, w);
      declare(s, p, id);
      name = w;
      named = true;
    }
  }
  p->end = scan->at;
  return p->names.len > 0;
}

// The names of inlined functions, "label: .b8 …", are many: each piece takes those that it refers
// to.
static void scan_strings(GpuSplit *s, Scan inside, Part *p) {
  Part entry = {.kind = PART_KEEP, .start = p->start, .line = p->line};  // ".section .debug_str {"
  for (Word w; (w = next_word(&inside)).len;) {
    if (!is_name(w)) continue;
    Scan after = inside;
    if (!word_is(next_word(&after), ":")) continue;
    entry.end = w.at;
    vec_push(&s->parts, entry);
    entry = (Part){.kind = PART_VAR, .start = w.at, .line = inside.line};
    declare(s, &entry, symbol_id(s, w));
    s->symbols.data[entry.names.data[0]].is_string = true;
  }
  if (entry.kind != PART_VAR) return;
  entry.end = inside.end;
  vec_push(&s->parts, entry);
  p->start = inside.end;  // the '}'
  p->line = inside.line;
}

static bool scan_section(GpuSplit *s, Scan *scan, Part *p) {
  Word name = next_word(scan), w = next_word(scan);
  if (!word_is(w, "{")) return false;  // the form of old compilers
  Scan inside = *scan;
  if (!skip_block(scan)) return false;
  inside.end = scan->at - 1;
  p->end = scan->at;
  if (word_is(name, ".debug_str")) scan_strings(s, inside, p);
  else if (!next_word(&inside).len) p->kind = PART_DROP;
  else s->whole = true;
  return true;
}

static bool ends_with_semicolon(Scan *scan, Part *p) {
  for (Word w; (w = next_word(scan)).len;)
    if (*w.at == ';') {
      p->end = scan->at;
      return true;
    }
  return false;
}

// .version 8.7, .target sm_90, debug, .file 1 "a.cu", 5, 6: up to the next directive.
static bool scan_line(Scan *scan, Part *p) {
  for (;;) {
    p->end = scan->at;
    Scan before = *scan;
    Word w = next_word(scan);
    if (!w.len) return true;
    if (*w.at == '.' && w.len > 1 && !(w.at[1] >= '0' && w.at[1] <= '9')) {
      *scan = before;
      return true;
    }
  }
}

static bool scan_part(GpuSplit *s, Scan *scan) {
  if (!skip_blanks(scan)) return false;
  Part p = {.kind = PART_KEEP, .start = scan->at, .line = scan->line};
  PtxLinkage linkage = LINK_NONE;
  bool ok;
  Word w = next_word(scan);
  for (;; w = next_word(scan)) {
    if (word_is(w, ".visible")) linkage = LINK_VISIBLE;
    else if (word_is(w, ".extern")) linkage = LINK_EXTERN;
    else if (word_is(w, ".weak")) linkage = LINK_WEAK;
    else if (word_is(w, ".common")) linkage = LINK_COMMON;
    else break;
  }
  if (word_is(w, ".entry") || word_is(w, ".func")) {
    p.kind = PART_FUNC;
    ok = scan_func(s, scan, &p, word_is(w, ".entry"));
  } else if (word_is(w, ".global") || word_is(w, ".const") || word_is(w, ".tex")) {
    p.kind = PART_VAR;
    ok = scan_var(s, scan, &p, false, linkage);
  } else if (word_is(w, ".shared") || word_is(w, ".local")) {
    p.kind = PART_VAR;
    ok = scan_var(s, scan, &p, true, linkage);
  } else if (word_is(w, ".section")) {
    ok = scan_section(s, scan, &p);
  } else if (word_is(w, ".alias")) {
    p.kind = PART_ALIAS;
    Scan names = *scan;
    Word alias = next_word(&names);
    ok = alias.len && is_name(alias) && ends_with_semicolon(scan, &p);
    if (ok) {
      declare(s, &p, symbol_id(s, alias));
      p.body = (uint32_t)(alias.at + alias.len - p.start);
    }
  } else if (word_is(w, ".pragma")) {
    ok = ends_with_semicolon(scan, &p);
  } else if (word_is(w, ".version") || word_is(w, ".target") || word_is(w, ".address_size") ||
             word_is(w, ".file") || word_is(w, ".loc")) {
    ok = scan_line(scan, &p);
  } else {
    ok = false;
  }
  if (!ok) {
    s->failed = p.line;
    p.end = scan->at;
  }
  vec_push(&s->parts, p);
  return ok;
}

// --- references ---

static void add_ref(GpuSplit *s, Part *p, uint32_t id, bool is_call) {
  Symbol *symbol = &s->symbols.data[id];
  if (symbol->is_func && !is_call && !symbol->is_pointed_at) {
    symbol->is_pointed_at = true;
    vec_push(&s->pointed_at, id);
  }
  if (symbol->is_func && !is_call && !symbol->is_entry)
    for (uint32_t i = 0; i < p->names.len; i++)
      s->symbols.data[p->names.data[i]].calls_pointer = true;
  if (symbol->mark == s->mark) return;  // once for each part
  symbol->mark = s->mark;
  vec_push(&s->refs, id);
}

// call[.uni] (results), callee, (arguments): the callee, or nothing where it stands in a register.
static Word callee_of(Scan scan) {
  Word w = next_word(&scan);
  while (w.len && *w.at == '.') w = next_word(&scan);
  if (w.len && *w.at == '(') {
    while (w.len && *w.at != ')') w = next_word(&scan);
    next_word(&scan);  // the comma
    w = next_word(&scan);
  }
  return w;
}

static void find_refs(GpuSplit *s, Part *p) {
  p->first_ref = s->refs.len;
  if (!p->body) return;
  s->mark++;
  Scan scan = {p->start + p->body, p->end, 0};
  const char *callee = NULL;
  bool starts_statement = true;
  for (Word w; (w = next_word(&scan)).len;) {
    char c = *w.at;
    // a static variable in a body
    if (c == '.' && starts_statement && (word_is(w, ".global") || word_is(w, ".const")))
      for (uint32_t i = 0; i < p->names.len; i++)
        s->symbols.data[p->names.data[i]].is_unique = true;
    starts_statement = c == ';' || c == '{' || c == '}' || c == ':';
    if (!is_word(c) || (c >= '0' && c <= '9')) continue;
    uintptr_t id = (uintptr_t)strmap_getn(&s->by_name, w.at, w.len);
    if (id) {
      add_ref(s, p, (uint32_t)id - 1, w.at == callee || p->kind == PART_ALIAS);
      if (s->symbols.data[id - 1].is_string && scan.at < scan.end && *scan.at == '+')
        s->all_strings = true;
    } else if (p->kind == PART_FUNC && word_is(w, "call")) {
      Word target = callee_of(scan);
      uintptr_t f = target.len ? (uintptr_t)strmap_getn(&s->by_name, target.at, target.len) : 0;
      callee = f ? target.at : NULL;
      if (!f)
        for (uint32_t i = 0; i < p->names.len; i++)
          s->symbols.data[p->names.data[i]].calls_pointer = true;
    }
  }
  p->nrefs = s->refs.len - p->first_ref;
}

// --- pieces ---

static uint32_t root_of(GpuSplit *s, uint32_t kernel) {
  while (s->symbols.data[kernel].joined != kernel) {
    uint32_t up = s->symbols.data[kernel].joined;
    kernel = s->symbols.data[kernel].joined = s->symbols.data[up].joined;
  }
  return kernel;
}

static void join(GpuSplit *s, uint32_t a, uint32_t b) {
  a = root_of(s, a);
  b = root_of(s, b);
  if (a != b) s->symbols.data[MAX(a, b)].joined = MIN(a, b);
}

static void visit(GpuSplit *s, uint32_t id) {
  if (s->symbols.data[id].mark == s->mark) return;
  s->symbols.data[id].mark = s->mark;
  vec_push(&s->found, id);
}

// Everything a kernel needs, into s->found; appends if the mark is that of the call before.
static void walk(GpuSplit *s, uint32_t kernel) {
  uint32_t next = s->found.len;
  visit(s, kernel);
  bool all_pointed_at = false;
  for (; next < s->found.len; next++) {
    Symbol *symbol = &s->symbols.data[s->found.data[next]];
    for (uint32_t k = 0; k < symbol->parts.len; k++) {
      Part *p = &s->parts.data[symbol->parts.data[k]];
      for (uint32_t i = 0; i < p->nrefs; i++) visit(s, s->refs.data[p->first_ref + i]);
      for (uint32_t i = 0; i < p->names.len; i++) visit(s, p->names.data[i]);
    }
    if (s->symbols.data[s->found.data[next]].calls_pointer && !all_pointed_at) {
      all_pointed_at = true;
      for (uint32_t i = 0; i < s->pointed_at.len; i++)
        if (!s->symbols.data[s->pointed_at.data[i]].is_entry) visit(s, s->pointed_at.data[i]);
    }
  }
}

static void make_pieces(GpuSplit *s) {
  uint32_t *owner = mem_alloc(sizeof *owner * MAX(s->symbols.len, 1));
  uint32_t pointers = UINT32_MAX;  // a kernel that deals in function pointers
  memset(owner, 0xff, sizeof *owner * s->symbols.len);
  for (uint32_t k = 0; k < s->kernels.len; k++) {
    uint32_t kernel = s->kernels.data[k];
    s->mark++;
    s->found.len = 0;
    walk(s, kernel);
    for (uint32_t i = 0; i < s->found.len; i++) {
      uint32_t id = s->found.data[i];
      const Symbol *symbol = &s->symbols.data[id];
      if (symbol->is_entry) join(s, kernel, id);
      if (symbol->calls_pointer) {
        if (pointers == UINT32_MAX) pointers = kernel;
        join(s, kernel, pointers);
      }
      if (!symbol->is_unique) continue;
      if (owner[id] == UINT32_MAX) owner[id] = kernel;
      join(s, kernel, owner[id]);
    }
  }
  for (uint32_t k = 0; k < s->kernels.len; k++) {
    uint32_t root = root_of(s, s->kernels.data[k]);
    if (s->symbols.data[root].piece == UINT32_MAX) s->symbols.data[root].piece = s->npieces++;
    s->symbols.data[s->kernels.data[k]].piece = s->symbols.data[root].piece;
  }
  for (uint32_t i = 0; i < s->symbols.len; i++)
    if (owner[i] != UINT32_MAX && !s->symbols.data[i].is_func)
      s->symbols.data[i].piece = s->symbols.data[owner[i]].piece;
  free(owner);
}

// --- interface ---

GpuSplit *gpu_split(const char *text, size_t len) {
  GpuSplit *s = mem_alloc(sizeof *s);
  s->text = text;
  s->end = text + len;
  Scan scan = {text, s->end, 1};
  while (scan_part(s, &scan)) {}
  if (s->failed) {
    for (uint32_t i = 0; i < s->symbols.len; i++) s->symbols.data[i].piece = UINT32_MAX;
    return s;
  }
  for (uint32_t i = 0; i < s->parts.len && !s->whole; i++) {
    const Part *p = &s->parts.data[i];
    if (p->kind == PART_KEEP && p->end - p->start > 7 && !strncmp(p->start, ".target", 7) &&
        memmem(p->start, (size_t)(p->end - p->start), "debug", 5))
      s->whole = true;
  }
  if (s->whole) {
    s->npieces = 1;
    for (uint32_t i = 0; i < s->symbols.len; i++)
      if (s->symbols.data[i].is_entry || s->symbols.data[i].is_unique) s->symbols.data[i].piece = 0;
    return s;
  }
  for (uint32_t i = 0; i < s->parts.len; i++) find_refs(s, &s->parts.data[i]);
  make_pieces(s);
  return s;
}

void gpu_split_free(GpuSplit *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->parts.len; i++) vec_free(&s->parts.data[i].names);
  for (uint32_t i = 0; i < s->symbols.len; i++) vec_free(&s->symbols.data[i].parts);
  vec_free(&s->parts);
  vec_free(&s->symbols);
  vec_free(&s->refs);
  vec_free(&s->pointed_at);
  vec_free(&s->kernels);
  vec_free(&s->found);
  strmap_free(&s->by_name);
  arena_free(&s->arena);
  free(s);
}

uint32_t gpu_split_failed(const GpuSplit *s) { return s->failed; }
uint32_t gpu_split_count(const GpuSplit *s) { return s->npieces; }

bool gpu_split_next(const GpuSplit *s, uint32_t *it, const char **name, bool *is_kernel,
                    uint32_t *piece) {
  while (*it < s->symbols.len) {
    const Symbol *symbol = &s->symbols.data[(*it)++];
    if (symbol->piece == UINT32_MAX && (symbol->is_func || !symbol->is_unique)) continue;
    *name = symbol->name;
    *is_kernel = symbol->is_entry;
    *piece = symbol->piece;
    return true;
  }
  return false;
}

static void add_lines(Str *out, uint32_t n) {
  char block[256];
  memset(block, '\n', sizeof block);
  for (; n; n -= MIN(n, sizeof block)) str_addn(out, block, MIN(n, sizeof block));
}

// Parts keep their line, so that messages and sites speak of the lines of the whole text.
void gpu_split_text(GpuSplit *s, uint32_t piece, Str *out) {
  if (s->whole) {
    str_addn(out, s->text, (size_t)(s->end - s->text));
    return;
  }
  s->mark++;
  s->found.len = 0;
  for (uint32_t k = 0; k < s->kernels.len; k++)
    if (s->symbols.data[s->kernels.data[k]].piece == piece) walk(s, s->kernels.data[k]);
  uint32_t line = 1;
  for (uint32_t i = 0; i < s->parts.len; i++) {
    const Part *p = &s->parts.data[i];
    bool wanted = p->kind == PART_KEEP ||
                  (s->all_strings && p->names.len && s->symbols.data[p->names.data[0]].is_string);
    for (uint32_t k = 0; k < p->names.len; k++)
      wanted |= s->symbols.data[p->names.data[k]].mark == s->mark;
    if (!wanted) continue;
    if (out->len && out->data[out->len - 1] != '\n' && line >= p->line) str_addc(out, ' ');
    add_lines(out, p->line > line ? p->line - line : 0);
    line = MAX(line, p->line);
    str_addn(out, p->start, (size_t)(p->end - p->start));
    for (const char *c = p->start; (c = memchr(c, '\n', (size_t)(p->end - c))) != NULL; c++) line++;
  }
  str_addc(out, '\n');
}
