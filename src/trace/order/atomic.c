// The value of memory after an atomic operation, by the operation and type of its instruction.
#include "trace/reader.h"

static bool has_word(const char *text, const char *word) {
  size_t n = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += n)
    if (at > text && at[-1] == '.' && (at[n] == '.' || at[n] == ' ' || at[n] == '\t' || !at[n]))
      return true;
  return false;
}

typedef enum {
  OP_NONE,
  OP_ADD,
  OP_MIN,
  OP_MAX,
  OP_AND,
  OP_OR,
  OP_XOR,
  OP_EXCH,
  OP_CAS,
  OP_INC,
  OP_DEC
} Operation;
static Operation operation_of(const char *text) {
  static const struct {
    const char *name;
    Operation op;
  } names[] = {{"add", OP_ADD}, {"min", OP_MIN}, {"max", OP_MAX},   {"and", OP_AND},
               {"or", OP_OR},   {"xor", OP_XOR}, {"exch", OP_EXCH}, {"cas", OP_CAS},
               {"inc", OP_INC}, {"dec", OP_DEC}};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    if (has_word(text, names[i].name)) return names[i].op;
  return OP_NONE;
}

static uint64_t integer(Operation op, uint64_t a, uint64_t b, bool is_signed, uint32_t bytes) {
  unsigned unused = 64 - 8 * bytes;
  int64_t x = (int64_t)(a << unused) >> unused, y = (int64_t)(b << unused) >> unused;
  switch (op) {
    case OP_ADD: return a + b;
    case OP_AND: return a & b;
    case OP_OR: return a | b;
    case OP_XOR: return a ^ b;
    case OP_MIN: return is_signed ? (x < y ? a : b) : MIN(a, b);
    case OP_MAX: return is_signed ? (x > y ? a : b) : MAX(a, b);
    case OP_INC: return a >= b ? 0 : a + 1;
    case OP_DEC: return a == 0 || a > b ? b : a - 1;
    default: return b;
  }
}

bool atomic_result(const ReaderSite *site, const uint8_t *operand, const uint8_t *old,
                   uint32_t bytes, uint8_t *out) {
  Operation op = site ? operation_of(site->text) : OP_NONE;
  if (op == OP_NONE || bytes > 16) return false;
  if (op == OP_EXCH || op == OP_CAS) {  // the recorded value of cas is what memory holds afterwards
    memcpy(out, operand, bytes);
    return true;
  }
  if (!old || (bytes != 4 && bytes != 8)) return false;
  if (has_word(site->text, "f32") && bytes == 4 && op == OP_ADD) {
    float a, b;
    memcpy(&a, old, 4);
    memcpy(&b, operand, 4);
    a += b;
    memcpy(out, &a, 4);
    return a == a;  // which NaN it is, the device decides
  }
  if (has_word(site->text, "f64") && bytes == 8 && op == OP_ADD) {
    double a, b;
    memcpy(&a, old, 8);
    memcpy(&b, operand, 8);
    a += b;
    memcpy(out, &a, 8);
    return a == a;
  }
  if (strstr(site->text, ".f") || strstr(site->text, ".bf16")) return false;
  uint64_t a = 0, b = 0;
  memcpy(&a, old, bytes);
  memcpy(&b, operand, bytes);
  a = integer(op, a, b, has_word(site->text, bytes == 4 ? "s32" : "s64"), bytes);
  memcpy(out, &a, bytes);
  return true;
}
