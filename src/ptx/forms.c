// Compiles forms.def on first use.
#include <pthread.h>

#include "ptx/forms.h"
#include "ptx/parse.h"

static const PtxForm form_texts[] = {
#define SET(name, mods)
#define FORM(op, mods, operands) {OP_##op, mods, operands},
#include "ptx/forms.def"
};
static const struct {
  const char *name, *mods;
} named_sets[] = {
#define SET(name, mods) {#name, mods},
#define FORM(op, mods, operands)
#include "ptx/forms.def"
};

typedef struct ModSet {
  uint64_t bits[MOD_WORDS];
} ModSet;
enum { NFORMS = ARRAY_LEN(form_texts), MAX_SETS = 512 };
static Form forms[NFORMS + 1];
static ModSet sets[MAX_SETS];
static uint16_t nsets;
static uint16_t op_first[OP_COUNT], op_end[OP_COUNT];
static pthread_once_t forms_once = PTHREAD_ONCE_INIT;

static void set_add(ModSet *s, unsigned m) { s->bits[m / 64] |= 1ull << m % 64; }

// A mistake in forms.def is ours: stop at once and say which line.
static void form_error(const char *text, const char *why) {
  fprintf(stderr, "forms.def: \"%s\": %s\n", text, why);
  CHECK(!"forms.def is well-formed");
}

static const char *add_modifier(ModSet *s, const char *p, const char *text) {
  const char *start = p++;
  while (*p && !strchr(".|{}<> ", *p)) p++;
  unsigned m = ptx_keyword(KEYWORD_MOD, start, (uint32_t)(p - start),
                           ptx_hash_word(start, (size_t)(p - start)), NULL);
  if (!m) form_error(text, start);
  set_add(s, m);
  return p;
}

static const char *add_named_set(ModSet *s, const char *p, const char *text) {
  size_t len = strcspn(p, ">");
  for (size_t i = 0; i < ARRAY_LEN(named_sets); i++) {
    if (strlen(named_sets[i].name) != len || strncmp(named_sets[i].name, p, len)) continue;
    const char *q = named_sets[i].mods;
    if (*q != '.') {  // a word without a dot: every modifier that begins with it
      for (unsigned m = 1; m < MOD_COUNT; m++)
        if (!strncmp(ptx_mod_name((PtxMod)m) + 1, q, strlen(q))) set_add(s, m);
    } else {
      while (*q) {
        if (*q == ' ') q++;
        else q = add_modifier(s, q, text);
      }
    }
    return p + len + 1;
  }
  form_error(text, "no such set");
  return NULL;
}

static uint16_t set_id(const ModSet *s) {
  for (uint16_t i = 0; i < nsets; i++)
    if (!memcmp(&sets[i], s, sizeof *s)) return i;
  CHECK(nsets < MAX_SETS);
  sets[nsets] = *s;
  return nsets++;
}

static bool holds_type(const ModSet *s) {
  for (unsigned m = 1; m < TYPE_COUNT; m++)
    if (s->bits[m / 64] >> m % 64 & 1) return true;
  return false;
}

static void compile_modifiers(Form *f) {
  const char *text = f->text.mods, *p = text;
  while (*p) {
    ModSet s = {{0}};
    bool optional = *p == '{';
    if (optional) p++;
    for (;;) {
      if (*p == '<') p = add_named_set(&s, p + 1, text);
      else if (*p == '.') p = add_modifier(&s, p, text);
      else form_error(text, "expected '.' or '<'");
      if (*p != '|') break;
      p++;
    }
    if (optional && *p++ != '}') form_error(text, "expected '}'");
    CHECK(f->ngroups < MAX_GROUPS);
    f->groups[f->ngroups++] = (FormGroup){set_id(&s), optional, holds_type(&s)};
  }
}

static void compile_operands(Form *f) {
  const char *text = f->text.operands, *p = text;
  bool optional = false;
  while (*p) {
    CHECK(f->noperands < MAX_FORM_OPERANDS);
    FormOperand *o = &f->operands[f->noperands++];
    o->kind = *p++;
    if (*p == ':') {
      char type[8] = "";
      size_t n = strcspn(++p, ",?");
      CHECK(n < sizeof type);
      memcpy(type, p, n);
      p += n;
      if (!strcmp(type, "w")) o->want = WANT_WIDE;
      else if (!strcmp(type, "*")) o->want = WANT_ANY;
      else if (*type >= '0' && *type <= '9') o->index = (uint8_t)(*type - '0');
      else {
        o->want = WANT_FIXED;
        for (unsigned t = 1; t < TYPE_COUNT; t++)
          if (!strcmp(type, ptx_type_name((PtxType)t))) o->type = (PtxType)t;
        if (!o->type) form_error(text, "unknown type");
      }
    }
    if (o->kind == 'x' || o->kind == 'm' || o->kind == 'l') o->want = WANT_ANY;
    if (*p == '?') {
      optional = true;
      p++;
    }
    o->optional = optional;
    if (*p == ',') p++;
    while (*p == ' ') p++;
  }
}

static void compile_forms(void) {
  for (uint32_t i = 0; i < NFORMS; i++) {
    Form *f = &forms[i + 1];
    f->text = form_texts[i];
    compile_modifiers(f);
    compile_operands(f);
    PtxOp op = f->text.op;
    if (!op_end[op]) op_first[op] = (uint16_t)(i + 1);
    CHECK(!op_end[op] || op_end[op] == i + 1);  // the forms of one opcode stand together
    op_end[op] = (uint16_t)(i + 2);
  }
  for (unsigned op = 1; op < OP_COUNT; op++)
    if (!op_end[op]) form_error(ptx_op_name((PtxOp)op), "an opcode without forms");
}

const Form *form_get(uint32_t index) {
  pthread_once(&forms_once, compile_forms);
  return index && index <= NFORMS ? &forms[index] : NULL;
}

void form_range(PtxOp op, uint32_t *first, uint32_t *end) {
  pthread_once(&forms_once, compile_forms);
  *first = op_first[op];
  *end = op_end[op];
}

bool form_set_has(uint16_t set, PtxMod m) { return sets[set].bits[m / 64] >> m % 64 & 1; }

void form_describe(const Form *f, Str *out) {
  str_add(out, ptx_op_name(f->text.op));
  for (unsigned g = 0; g < f->ngroups; g++) {
    if (f->groups[g].optional) str_addc(out, '{');
    unsigned shown = 0;
    for (unsigned m = 1; m < MOD_COUNT; m++) {
      if (!form_set_has(f->groups[g].set, (PtxMod)m)) continue;
      if (shown) str_addc(out, '|');
      if (shown++ == 12) {
        str_add(out, "…");
        break;
      }
      str_add(out, ptx_mod_name((PtxMod)m));
    }
    if (f->groups[g].optional) str_addc(out, '}');
  }
}

const PtxForm *ptx_form(uint32_t index) {
  const Form *f = form_get(index);
  return f ? &f->text : NULL;
}
