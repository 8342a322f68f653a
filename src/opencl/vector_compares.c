// Splits comparisons of vectors of half and short into single elements: clang (19) makes no PTX of
// whole vectors ("Cannot select: v2i16 = setcc"). In LLVM assembly,
//   %20 = fcmp oeq <2 x half> %14, %19, !dbg !7
// becomes an extraction of each element, its comparison, and an insertion of the result.
#define _GNU_SOURCE

#include "opencl/opencl.h"

typedef struct Form {
  const char *compare, *before, *element, *type;
} Form;
static const Form forms[] = {{"fcmp", " = fcmp ", "half", " x half> "},
                             {"icmp", " = icmp ", "i16", " x i16> "}};

typedef struct Compare {
  const Form *form;
  char result[64];  // "%20"
  char predicate[64];
  unsigned n;
  const char *a, *b, *rest;  // operands, and what follows them
  size_t a_len, b_len, rest_len;
} Compare;

// The end of an operand: a comma outside of brackets, or the line's.
static const char *operand_end(const char *p, const char *end) {
  int depth = 0;
  for (; p < end; p++) {
    if (strchr("<([{", *p)) depth++;
    if (strchr(">)]}", *p)) depth--;
    if (*p == ',' && !depth) break;
  }
  return p;
}

static bool read_form(const char *line, const char *end, const Form *f, Compare *c) {
  const char *at = memmem(line, (size_t)(end - line), f->before, strlen(f->before));
  const char *type = at ? memmem(at, (size_t)(end - at), f->type, strlen(f->type)) : NULL;
  if (!type) return false;
  c->form = f;
  const char *name = line + strspn(line, " "), *open = type;
  while (open > at && *open != '<') open--;
  if (*open != '<' || sscanf(open, "<%u x", &c->n) != 1) return false;
  snprintf(c->result, sizeof c->result, "%.*s", (int)(at - name), name);
  snprintf(c->predicate, sizeof c->predicate, "%.*s", (int)(open - at - 9), at + 8);
  c->a = type + strlen(f->type);
  const char *comma = operand_end(c->a, end);
  if (comma == end) return false;
  c->a_len = (size_t)(comma - c->a);
  c->b = comma + 2;
  c->rest = operand_end(c->b, end);
  c->b_len = (size_t)(c->rest - c->b);
  c->rest_len = (size_t)(end - c->rest);
  return true;
}

static bool read_compare(const char *line, const char *end, Compare *c) {
  for (size_t i = 0; i < ARRAY_LEN(forms); i++)
    if (read_form(line, end, &forms[i], c)) return true;
  return false;
}

static void add_compare(const Compare *c, uint32_t number, Str *out) {
  const char *element = c->form->element;
  for (unsigned i = 0; i < c->n; i++) {
    str_printf(out, "  %%wgh%u_a%u = extractelement <%u x %s> %.*s, i32 %u\n", number, i, c->n,
               element, (int)c->a_len, c->a, i);
    str_printf(out, "  %%wgh%u_b%u = extractelement <%u x %s> %.*s, i32 %u\n", number, i, c->n,
               element, (int)c->b_len, c->b, i);
    str_printf(out, "  %%wgh%u_c%u = %s %s %s %%wgh%u_a%u, %%wgh%u_b%u%.*s\n", number, i,
               c->form->compare, c->predicate, element, number, i, number, i, (int)c->rest_len,
               c->rest);
    if (i + 1 == c->n) str_printf(out, "  %s", c->result);
    else str_printf(out, "  %%wgh%u_v%u", number, i);
    str_printf(out, " = insertelement <%u x i1> ", c->n);
    if (i) str_printf(out, "%%wgh%u_v%u", number, i - 1);
    else str_add(out, "poison");
    str_printf(out, ", i1 %%wgh%u_c%u, i32 %u\n", number, i, i);
  }
}

void ocl_split_vector_compares(const char *assembly, Str *out) {
  uint32_t number = 0;
  for (const char *line = assembly; *line;) {
    const char *end = strchrnul(line, '\n');
    Compare c;
    if (read_compare(line, end, &c)) add_compare(&c, number++, out);
    else {
      str_addn(out, line, (size_t)(end - line));
      str_addc(out, '\n');
    }
    line = end + (*end == '\n');
  }
}
