// OpenCL's printf as CUDA's: CUDA knows no vectors, and its lengths are those of C.
// In LLVM assembly, each call with a literal format,
//   %23 = call i32 (ptr addrspace(4), ...) @printf(ptr addrspace(4) @.str, <2 x float> %15)
// gets a new format, "%v2hlf" becomes "%f,%f", and its elements as arguments, widened as C does.
// The type of the argument decides what is printed. A conversion that has no argument of its kind,
// or that OpenCL does not know, is printed as it stands.
#define _GNU_SOURCE

#include "opencl/opencl.h"

enum { MOST_VALUES = 32 };  // that one printf of CUDA takes

typedef struct Piece {  // of the assembly
  const char *text;
  size_t len;
} Piece;
#define PIECE(p) (int)(p).len, (p).text

typedef struct Argument {
  Piece all, type, value;
} Argument;

typedef struct Call {
  Piece result;  // "%23"; empty: it has none
  Piece head;    // "call i32 (ptr addrspace(4), ...)"
  Piece rest;    // attributes and debug information
  VEC(Argument) arguments;
} Call;

typedef struct Conversion {
  Piece all;       // "%-5.2v4hlf"
  Piece flags;     // flags, width and precision: "-5.2"
  unsigned stars;  // arguments that width and precision take
  unsigned width;  // elements of the vector; 0: none
  bool has_width;  // it has a v, right or wrong
  char length[3];  // "", "hh", "h", "hl", "l"
  char letter;
} Conversion;

typedef struct Printer {
  const Call *call;
  uint32_t number, calls, names;  // this call in the module; calls and names made for it
  uint32_t next;                  // argument
  unsigned values;                // of the call that is being made
  Str format, arguments;          // of it
  Str *out, *formats;
} Printer;

static void clear(Str *s) {
  s->len = 0;
  if (s->data) s->data[0] = 0;
}

static bool starts(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static bool is_type(Piece type, const char *name) {
  return type.len == strlen(name) && !memcmp(type.text, name, type.len);
}

// The end of an operand: a comma outside of brackets, or a closing bracket of the caller's.
static const char *operand_end(const char *p, const char *end) {
  int depth = 0;
  for (; p < end; p++) {
    if (strchr("<([{", *p)) depth++;
    if (strchr(">)]}", *p) && depth-- == 0) break;
    if (*p == ',' && !depth) break;
  }
  return p;
}

static const char *type_end(const char *p, const char *end) {
  if (*p == '<') {
    const char *close = memchr(p, '>', (size_t)(end - p));
    return close ? close + 1 : end;
  }
  if (starts(p, "ptr addrspace(")) return p + strcspn(p, ")") + 1;
  const char *space = memchr(p, ' ', (size_t)(end - p));
  return space ? space : end;
}

static Argument read_argument(const char *p, const char *end) {
  static const char *const attributes[] = {"noundef ", "signext ", "zeroext ", "nonnull "};
  const char *value = type_end(p, end);
  Argument a = {.all = {p, (size_t)(end - p)}, .type = {p, (size_t)(value - p)}};
  value += *value == ' ';
  for (size_t i = 0; i < ARRAY_LEN(attributes);) {
    if (starts(value, attributes[i])) {
      value += strlen(attributes[i]);
      i = 0;
    } else i++;
  }
  a.value = (Piece){value, (size_t)(end - value)};
  return a;
}

static bool read_call(const char *line, const char *end, Call *c) {
  static const char name[] = " @printf(";
  const char *at = memmem(line, (size_t)(end - line), name, strlen(name));
  const char *begin = line + strspn(line, " ");
  const char *word = at ? memmem(line, (size_t)(at - line), "call ", 5) : NULL;
  if (!word) return false;
  const char *equals = memmem(begin, (size_t)(word - begin), " = ", 3);
  const char *head = equals ? equals + 3 : begin;
  c->result = (Piece){begin, equals ? (size_t)(equals - begin) : 0};
  c->head = (Piece){head, (size_t)(at - head)};
  const char *p = at + strlen(name);
  while (p < end && *p != ')') {
    const char *close = operand_end(p, end);
    vec_push(&c->arguments, read_argument(p, close));
    p = close + (*close == ',') + (*close == ',' && close[1] == ' ');
  }
  p += p < end;
  c->rest = (Piece){p, (size_t)(end - p)};
  return c->arguments.len > 0;
}

static int hex_digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

// The text of a global c"…\00" of the module.
static bool literal(const char *assembly, Piece name, Str *out) {
  Str head = {0};
  str_printf(&head, "\n%.*s = ", PIECE(name));
  const char *line = name.len && *name.text == '@' ? strstr(assembly, head.data) : NULL;
  const char *end = line ? strchrnul(line + 1, '\n') : NULL;
  const char *p = line ? memmem(line, (size_t)(end - line), " x i8] c\"", 9) : NULL;
  str_free(&head);
  if (!p) return false;
  str_add(out, "");
  for (p += 9; p < end && *p != '"'; p++) {
    char c = *p;
    if (c == '\\' && p[1] == '\\') p++;
    else if (c == '\\' && end - p > 2) {
      c = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
      p += 2;
    }
    if (!c) break;
    str_addc(out, c);
  }
  return true;
}

static Conversion read_conversion(const char *p) {
  static const char *const lengths[] = {"hh", "hl", "h", "l"};
  Conversion c = {.all = {p, 0}, .flags = {p + 1, 0}};
  c.flags.len = strspn(p + 1, "-+ #0123456789.*");
  for (size_t i = 0; i < c.flags.len; i++) c.stars += c.flags.text[i] == '*';
  p += 1 + c.flags.len;
  c.has_width = *p == 'v';
  if (c.has_width) {
    unsigned long n = strtoul(p + 1, (char **)&p, 10);
    c.width = n == 2 || n == 3 || n == 4 || n == 8 || n == 16 ? (unsigned)n : 0;
  }
  for (size_t i = 0; i < ARRAY_LEN(lengths) && !c.length[0]; i++)
    if (starts(p, lengths[i])) memcpy(c.length, lengths[i], strlen(lengths[i]) + 1);
  p += strlen(c.length);
  c.letter = *p;
  c.all.len = (size_t)(p - c.all.text) + (*p != 0);
  return c;
}

// Ends the call that is being made.
static void add_call(Printer *p, bool is_last) {
  const Call *c = p->call;
  Str *f = p->formats;
  Piece space = c->arguments.data[0].type;  // "ptr addrspace(4)"
  str_printf(f, "@__wgcl_format%u_%u = private unnamed_addr %.*s constant [%zu x i8] c\"",
             p->number, p->calls, (int)(space.len - 3), space.text + 3, p->format.len + 1);
  for (size_t i = 0; i < p->format.len; i++)
    str_printf(f, "\\%02X", (unsigned char)p->format.data[i]);
  str_add(f, "\\00\", align 1\n");
  str_printf(p->out, "  %%wgp%u_call%u = %.*s @printf(%.*s @__wgcl_format%u_%u%s)%.*s\n", p->number,
             p->calls, PIECE(c->head), PIECE(space), p->number, p->calls,
             p->arguments.len ? p->arguments.data : "", PIECE(c->rest));
  // CUDA's returns how many arguments there were, OpenCL's 0, or -1 after an error.
  if (is_last && c->result.len)
    str_printf(p->out, "  %.*s = ashr i32 %%wgp%u_call%u, 31\n", PIECE(c->result), p->number,
               p->calls);
  p->calls++;
  p->values = 0;
  clear(&p->format);
  clear(&p->arguments);
}

static void add_as_it_stands(Printer *p, Piece text) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.text[i] == '%') str_addc(&p->format, '%');
    str_addc(&p->format, text.text[i]);
  }
}

static const Argument *next_argument(Printer *p) {
  const Call *c = p->call;
  return p->next < c->arguments.len ? &c->arguments.data[p->next++] : NULL;
}

static unsigned integer_bits(Piece type) {
  static const unsigned bits[] = {8, 16, 32, 64};
  char name[8];
  for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
    snprintf(name, sizeof name, "i%u", bits[i]);
    if (is_type(type, name)) return bits[i];
  }
  return 0;
}

static void add_value(Printer *p, const char *type, const char *value) {
  str_printf(&p->arguments, ", %s %s", type, value);
  p->values++;
}

// One instruction; its result has the next name, which replaces *value.
static void add_step(Printer *p, Str *value, const char *operation, const char *tail) {
  char name[48];
  snprintf(name, sizeof name, "%%wgp%u_%u", p->number, p->names++);
  str_printf(p->out, "  %s = %s %s%s\n", name, operation, value->data, tail);
  clear(value);
  str_add(value, name);
}

// Adds an integer of `type`; a length hh or h keeps only its lowest bits.
static void add_integer(Printer *p, const Conversion *c, Piece type, Str *value) {
  unsigned bits = integer_bits(type);
  bool is_signed = strchr("dic", c->letter);
  unsigned kept = !c->has_width && !strcmp(c->length, "hh")  ? 8
                  : !c->has_width && !strcmp(c->length, "h") ? 16
                                                             : bits;
  char operation[32], tail[32];
  if (kept < bits) {
    snprintf(operation, sizeof operation, "trunc i%u", bits);
    snprintf(tail, sizeof tail, " to i%u", kept);
    add_step(p, value, operation, tail);
    bits = kept;
  }
  if (bits < 32) {
    snprintf(operation, sizeof operation, "%s i%u", is_signed ? "sext" : "zext", bits);
    add_step(p, value, operation, " to i32");
  }
  if (bits == 64) str_add(&p->format, "ll");
  add_value(p, bits == 64 ? "i64" : "i32", value->data);
}

static void add_floating(Printer *p, Piece type, Str *value) {
  if (is_type(type, "half")) add_step(p, value, "fpext half", " to double");
  if (is_type(type, "float")) add_step(p, value, "fpext float", " to double");
  add_value(p, "double", value->data);
}

typedef enum { KIND_NONE, KIND_INTEGER, KIND_FLOATING, KIND_POINTER } Kind;

static Kind kind_of_type(Piece type) {
  if (integer_bits(type)) return KIND_INTEGER;
  if (is_type(type, "half") || is_type(type, "float") || is_type(type, "double"))
    return KIND_FLOATING;
  return type.len >= 3 && starts(type.text, "ptr") ? KIND_POINTER : KIND_NONE;
}

static Kind kind_of_letter(char letter) {
  if (!letter) return KIND_NONE;
  if (strchr("diouxXc", letter)) return KIND_INTEGER;
  if (strchr("aAeEfFgG", letter)) return KIND_FLOATING;
  return strchr("sp", letter) ? KIND_POINTER : KIND_NONE;
}

// The type of a vector's elements; false: it is no vector of this width.
static bool element_type(Piece type, unsigned width, Piece *out) {
  unsigned n;
  int used = 0;
  if (sscanf(type.text, "<%u x %n", &n, &used) != 1 || !used || n != width) return false;
  *out = (Piece){type.text + used, type.len - (size_t)used - 1};
  return true;
}

// One value with its flags; `stars`: arguments of width and precision.
static void add_element(Printer *p, const Conversion *c, const Argument *stars, Piece type,
                        Str *value) {
  str_printf(&p->format, "%%%.*s", PIECE(c->flags));
  for (unsigned i = 0; i < c->stars; i++) {
    str_printf(&p->arguments, ", %.*s", PIECE(stars[i].all));
    p->values++;
  }
  Kind kind = kind_of_type(type);
  if (kind == KIND_INTEGER) add_integer(p, c, type, value);
  else if (kind == KIND_FLOATING) add_floating(p, type, value);
  else {
    Str pointer = {0};
    str_addn(&pointer, type.text, type.len);
    add_value(p, pointer.data, value->data);
    str_free(&pointer);
  }
  str_addc(&p->format, c->letter);
}

static void add_conversion(Printer *p, const Conversion *c) {
  if (c->letter == '%') {
    str_add(&p->format, "%%");
    return;
  }
  Kind kind = kind_of_letter(c->letter);
  const Argument *stars = p->call->arguments.data + p->next, *a = NULL;
  for (unsigned i = 0; kind && i < c->stars; i++) next_argument(p);
  if (kind) a = next_argument(p);
  Piece type = a ? a->type : (Piece){0};
  bool right = a && (!c->has_width || (c->width && kind != KIND_POINTER && c->letter != 'c' &&
                                       element_type(a->type, c->width, &type)));
  if (!right || kind_of_type(type) != kind) {
    add_as_it_stands(p, c->all);
    return;
  }
  unsigned n = c->width ? c->width : 1;
  if (p->values && p->values + n * (1 + c->stars) > MOST_VALUES) add_call(p, false);
  for (unsigned i = 0; i < n; i++) {
    Str value = {0};
    char tail[32];
    str_addn(&value, a->value.text, a->value.len);
    if (c->width) {
      Str extract = {0};
      str_printf(&extract, "extractelement %.*s", PIECE(a->type));
      snprintf(tail, sizeof tail, ", i32 %u", i);
      add_step(p, &value, extract.data, tail);
      str_free(&extract);
    }
    if (i) str_addc(&p->format, ',');
    add_element(p, c, stars, type, &value);
    str_free(&value);
  }
}

static void add_printf(Printer *p, const char *format) {
  p->next = 1;
  for (const char *at = format; *at;) {
    size_t plain = strcspn(at, "%");
    str_addn(&p->format, at, plain);
    at += plain;
    if (!*at) break;
    Conversion c = read_conversion(at);
    add_conversion(p, &c);
    at += c.all.len;
  }
  add_call(p, true);
}

void ocl_fit_printf(const char *assembly, Str *out) {
  Str formats = {0};
  uint32_t number = 0;
  for (const char *line = assembly; *line;) {
    const char *end = strchrnul(line, '\n');
    Call c = {0};
    Str format = {0};
    if (read_call(line, end, &c) && literal(assembly, c.arguments.data[0].value, &format)) {
      Printer p = {.call = &c, .number = number++, .out = out, .formats = &formats};
      add_printf(&p, format.data);
      str_free(&p.format);
      str_free(&p.arguments);
    } else {
      str_addn(out, line, (size_t)(end - line));
      str_addc(out, '\n');
    }
    vec_free(&c.arguments);
    str_free(&format);
    line = end + (*end == '\n');
  }
  if (formats.len) str_add(out, formats.data);
  str_free(&formats);
}
