// .loc, .file and .section: the source of the PTX.
#include "ptx/parse.h"

static uint64_t loc_key(uint32_t file, uint32_t line, uint32_t column) {
  return (uint64_t)file << 48 ^ (uint64_t)line << 16 ^ column;
}

static uint32_t parse_u32(Parser *ps, const char *what) {
  if (ps->tok.kind != TOK_NUMBER || ps->tok.number > NUM_U64 || ps->tok.bits > UINT32_MAX)
    parse_fail(ps, &ps->tok, "expected %s, found %s", what, token_describe(ps, &ps->tok));
  uint32_t v = (uint32_t)ps->tok.bits;
  ptx_lex(ps);
  return v;
}

// Finds the .loc that `inlined_at` refers to. File, line and column do not suffice: two functions
// may have been inlined at one line of a third, which may itself be inlined in several places. The
// compiler writes the whole chain the first time, each .loc directly after the one it is inlined
// at; later it may write only the last.
static const PtxLoc *call_site(Parser *ps, const PtxLoc *l, uint32_t file, uint32_t line,
                               uint32_t column) {
  uint64_t place = loc_key(file, line, column);
  uint64_t function =
      l->function_label
          ? ((uint64_t)ptx_hash_word(l->function_label, (uint32_t)strlen(l->function_label)) << 32 |
             l->function_offset) *
                0x9e3779b97f4a7c15ull
          : 0;
  PtxLoc *at = u64map_get(&ps->locs, place);
  if (at && at == ps->last_loc) u64map_put(&ps->chains, place ^ function, at);
  else at = u64map_get(&ps->chains, place ^ function) ?: at;
  if (at && at->file == file && at->line == line && at->column == column) return at;
  at = ARENA_NEW(ps->arena, PtxLoc);
  at->file = file;
  at->line = line;
  at->column = column;
  return at;
}

// loc: '.loc' file line column [',' 'function_name' label ['+' n] [',' 'inlined_at' file line
// column]]
const PtxLoc *parse_loc(Parser *ps) {
  PtxLoc *l = ARENA_NEW(ps->arena, PtxLoc);
  ptx_lex(ps);
  l->file = parse_u32(ps, "a file number");
  l->line = parse_u32(ps, "a line number");
  l->column = parse_u32(ps, "a column number");
  while (accept(ps, ',')) {
    if (accept_word(ps, "function_name")) {
      l->function_label = expect_ident(ps, "the label of a function name");
      if (accept(ps, '+')) l->function_offset = parse_u32(ps, "an offset");
      vec_push(&ps->inlined_locs, l);
    } else if (accept_word(ps, "inlined_at")) {
      uint32_t file = parse_u32(ps, "a file number"), line = parse_u32(ps, "a line number"),
               column = parse_u32(ps, "a column number");
      l->inlined_at = call_site(ps, l, file, line, column);
    } else {
      parse_fail(ps, &ps->tok, "expected function_name or inlined_at, found %s",
                 token_describe(ps, &ps->tok));
    }
  }
  u64map_put(&ps->locs, loc_key(l->file, l->line, l->column), l);
  ps->last_loc = l;
  return l;
}

// file: '.file' index "path" [',' mtime ',' size]
void parse_file(Parser *ps) {
  PtxFile *f = ARENA_NEW(ps->arena, PtxFile);
  ptx_lex(ps);
  f->index = parse_u32(ps, "a file number");
  if (ps->tok.kind != TOK_STRING)
    parse_fail(ps, &ps->tok, "expected a file name, found %s", token_describe(ps, &ps->tok));
  f->path = token_text(ps, &ps->tok);
  ptx_lex(ps);
  if (accept(ps, ',')) {
    f->has_stamp = true;
    f->mtime = (uint64_t)parse_int_constant(ps, "a time stamp");
    expect(ps, ',', "after a time stamp");
    f->size = (uint64_t)parse_int_constant(ps, "a file size");
  }
  vec_push(&ps->files, f);
  vec_push(&ps->items, (PtxItem){.kind = ITEM_FILE, .file = f});
}

// section: '.section' .name '{' anything '}', kept as written
void parse_section(Parser *ps) {
  Token start = ps->tok;
  ptx_lex(ps);
  if (ps->tok.kind != TOK_DOT && ps->tok.kind != TOK_IDENT)
    parse_fail(ps, &ps->tok, "expected the name of a section, found %s",
               token_describe(ps, &ps->tok));
  ptx_lex(ps);
  if (!is_punct(ps, '{'))
    parse_fail(ps, &ps->tok, "expected '{' after the name of a section, found %s",
               token_describe(ps, &ps->tok));
  const char *close = memchr(ps->p, '}', (size_t)(ps->end - ps->p));
  if (!close) parse_fail(ps, &start, "section without an end");
  if (memchr(ps->p, 0, (size_t)(close - ps->p))) parse_fail(ps, &start, "a NUL byte in a section");
  for (const char *p = ps->p; p < close; p++)
    if (*p == '\n') {
      ps->line++;
      ps->bol = p + 1;
    }
  vec_push(&ps->items,
           (PtxItem){.kind = ITEM_SECTION, .text = text_between(ps, start.at, close + 1)});
  ps->p = close + 1;
  ptx_lex(ps);
}

static bool ident_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
static bool ident_char(char c) { return (ident_start(c) && c != '%') || (c >= '0' && c <= '9'); }

typedef struct DebugStr {
  Str bytes;
  StrMap labels;
} DebugStr;

// The bytes and labels of .debug_str, as far as they are written the way nvcc writes them: labels
// and .b8 lists.
static void read_debug_str(Parser *ps, const char *text, DebugStr *d) {
  const char *p = strchr(text, '{');
  for (p = p ? p + 1 : text + strlen(text); *p;) {
    if (ident_start(*p)) {
      const char *s = p++;
      while (ident_char(*p)) p++;
      if (*p == ':')
        strmap_put(&d->labels, arena_strndup(ps->arena, s, (size_t)(p - s)),
                   (void *)(uintptr_t)(d->bytes.len + 1));
    } else if (*p == '.') {
      while (*p && *p != ' ' && *p != '\t' && *p != '\n') p++;
    } else if (*p >= '0' && *p <= '9') {
      char *stop;
      str_addc(&d->bytes, (char)strtoul(p, &stop, 0));
      p = stop;
    } else {
      p++;
    }
  }
}

static void resolve_function_names(Parser *ps) {
  if (!ps->inlined_locs.len) return;
  DebugStr d = {{0}, {0}};
  for (uint32_t i = 0; i < ps->items.len; i++) {
    const PtxItem *it = &ps->items.data[i];
    if (it->kind != ITEM_SECTION) continue;
    const char *name = it->text + strlen(".section");
    while (*name == ' ' || *name == '\t') name++;
    if (!strncmp(name, ".debug_str", 10)) read_debug_str(ps, it->text, &d);
  }
  for (uint32_t i = 0; i < ps->inlined_locs.len; i++) {
    PtxLoc *l = ps->inlined_locs.data[i];
    uintptr_t at = (uintptr_t)strmap_get(&d.labels, l->function_label);
    if (!at) continue;
    uint64_t offset = at - 1 + (uint64_t)l->function_offset;
    if (offset < d.bytes.len)
      l->function_name = arena_strndup(ps->arena, d.bytes.data + offset,
                                       strnlen(d.bytes.data + offset, d.bytes.len - offset));
  }
  str_free(&d.bytes);
  strmap_free(&d.labels);
}

typedef struct LabelHome {
  PtxLabel *label;
  PtxFunc *func;
} LabelHome;
typedef struct SectionScan {
  Parser *ps;
  StrMap labels;  // name -> LabelHome
  PtxFunc *func;  // of the last label; the registers named next are of this function
  PtxFunc *regs_of;
  StrMap regs;  // names of the registers of regs_of
  VEC(struct PtxSectionRef) refs;
} SectionScan;

static void collect_labels(SectionScan *s) {
  Parser *ps = s->ps;
  for (uint32_t f = 0; f < ps->funcs.len; f++) {
    PtxFunc *func = ps->funcs.data[f];
    LabelHome *homes = ARENA_ARRAY(ps->arena, LabelHome, func->nlabels + 1);
    for (uint32_t l = 0; l < func->nlabels; l++) {
      homes[l] = (LabelHome){func->labels[l], func};
      if (!strmap_get(&s->labels, func->labels[l]->name))
        strmap_put(&s->labels, func->labels[l]->name, &homes[l]);
    }
  }
}

static PtxReg *find_register(SectionScan *s, const char *name) {
  if (!s->func) return NULL;
  if (s->regs_of != s->func) {
    strmap_free(&s->regs);
    s->regs_of = s->func;
    for (uint32_t i = 0; i < s->func->nregs; i++)
      strmap_put(&s->regs, s->func->regs[i]->name, s->func->regs[i]);
  }
  return strmap_get(&s->regs, name);
}

// The next byte of a .b8 list at p, or -1.
static int next_byte(const char **p) {
  for (;;) {
    while (**p == ' ' || **p == '\t' || **p == '\n' || **p == '\r' || **p == ',') ++*p;
    if (strncmp(*p, ".b8", 3)) break;
    *p += 3;
  }
  if (**p < '0' || **p > '9') return -1;
  char *stop;
  unsigned long v = strtoul(*p, &stop, 10);
  *p = stop;
  return v < 256 ? (int)v : -1;
}

// After the DWARF operator "regx": a LEB128 number whose bytes spell the register, "%r1" being
// 0x257231.
static void scan_register(SectionScan *s, const char *text, const char *p) {
  char name[32];
  uint64_t bits = 0;
  unsigned have = 0, n = sizeof name;
  const char *start = NULL, *end = p;
  name[--n] = 0;
  for (int byte = 128; byte & 128;) {
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r' || *p == ',') p++;
    if (!start) start = p;
    byte = next_byte(&p);
    if (byte < 0 || n == 0) return;
    end = p;
    bits |= (uint64_t)(byte & 127) << have;
    have += 7;
    if (have >= 8) {
      name[--n] = (char)(bits & 255);
      bits >>= 8;
      have -= 8;
    }
  }
  if (bits) {
    if (!n) return;
    name[--n] = (char)bits;
  }
  while (n < sizeof name - 1 && !name[n]) n++;
  PtxReg *reg = name[n] == '%' ? find_register(s, name + n) : NULL;
  if (reg)
    vec_push(&s->refs,
             (struct PtxSectionRef){(uint32_t)(start - text), (uint32_t)(end - start), NULL, reg});
}

static void scan_section(SectionScan *s, PtxItem *it) {
  enum { DW_OP_regx = 144, DW_OP_bregx = 146 };
  const char *p = strchr(it->text, '{');
  bool bytes = false;
  s->refs.len = 0;
  s->func = NULL;
  while (p && *p) {
    if (ident_start(*p)) {
      const char *start = p++;
      while (ident_char(*p)) p++;
      LabelHome *home = *p == ':' ? NULL : strmap_getn(&s->labels, start, (size_t)(p - start));
      if (!home) continue;
      s->func = home->func;
      vec_push(&s->refs, (struct PtxSectionRef){(uint32_t)(start - it->text), (uint32_t)(p - start),
                                                home->label, NULL});
    } else if (*p == '.') {
      const char *start = p++;
      while (ident_char(*p)) p++;
      bytes = p - start == 3 && !memcmp(start, ".b8", 3);
    } else if (*p >= '0' && *p <= '9') {
      const char *start = p;
      while (ident_char(*p)) p++;
      if (!bytes || p - start != 3) continue;
      int v = atoi(start);
      if (v == DW_OP_regx || v == DW_OP_bregx) {
        uint32_t before = s->refs.len;
        scan_register(s, it->text, p);
        if (s->refs.len > before)
          p = it->text + s->refs.data[before].offset + s->refs.data[before].length;
      }
    } else if (*p == '/' && p[1] == '/') {
      while (*p && *p != '\n') p++;
    } else {
      p++;
    }
  }
  it->nrefs = s->refs.len;
  it->refs = VEC_TO_ARENA(s->ps, &s->refs);
}

void resolve_debug(Parser *ps) {
  resolve_function_names(ps);
  SectionScan s = {.ps = ps};
  for (uint32_t i = 0; i < ps->items.len; i++) {
    if (ps->items.data[i].kind != ITEM_SECTION) continue;
    if (!s.labels.len) collect_labels(&s);
    scan_section(&s, &ps->items.data[i]);
  }
  strmap_free(&s.labels);
  strmap_free(&s.regs);
  vec_free(&s.refs);
}
