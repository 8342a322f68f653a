// Text to tokens, and the errors that point into the text.
#define _GNU_SOURCE  // strtod_l
#include <locale.h>
#include <pthread.h>

#include "ptx/parse.h"

enum { CH_OTHER, CH_SPACE, CH_IDENT, CH_DIGIT };
static const uint8_t char_class[256] = {
    [' '] = CH_SPACE,  ['\t'] = CH_SPACE, ['\r'] = CH_SPACE,        ['\n'] = CH_SPACE,
    ['\f'] = CH_SPACE, ['\v'] = CH_SPACE, ['a' ... 'z'] = CH_IDENT, ['A' ... 'Z'] = CH_IDENT,
    ['_'] = CH_IDENT,  ['$'] = CH_IDENT,  ['%'] = CH_IDENT,         ['0' ... '9'] = CH_DIGIT,
};
static inline bool word_char(char c) {
  return char_class[(unsigned char)c] >= CH_IDENT && c != '%';
}

static const char *line_start(const PtxModule *m, const char *at) {
  while (at > m->text && at[-1] != '\n') at--;
  return at;
}

// start: of the line
static bool error_with_line(Error *err, const PtxModule *m, const char *start, uint32_t line,
                            uint32_t column, const char *message) {
  const char *stop = m->text + m->text_len, *end = start;
  while (end < stop && *end != '\n' && *end != '\r') end++;
  // Long lines are cut to a window around the column.
  size_t width = (size_t)(end - start), skip = 0, caret = column ? column - 1 : 0;
  if (caret > width) caret = width;
  if (width > 140) {
    skip = caret > 70 ? caret - 70 : 0;
    if (width - skip > 140) width = skip + 140;
  }
  char shown[160], pad[160];
  size_t n = 0;
  for (size_t i = skip; i < width && n < sizeof shown - 1; i++)
    shown[n++] = (unsigned char)start[i] < ' ' ? ' ' : start[i];
  shown[n] = 0;
  caret -= skip;
  if (caret > sizeof pad - 1) caret = sizeof pad - 1;
  memset(pad, ' ', caret);
  pad[caret] = 0;
  return error_set(err, "%s:%u:%u: error: %s\n  %s\n  %s^", m->name, line, column, message, shown,
                   pad);
}

bool ptx_error_at(Error *err, const PtxModule *m, uint32_t line, uint32_t column, const char *fmt,
                  ...) {
  const char *start = m->text, *stop = m->text + m->text_len;
  for (uint32_t i = 1; i < line && start < stop; i++) {
    const char *nl = memchr(start, '\n', (size_t)(stop - start));
    start = nl ? nl + 1 : stop;
  }
  char message[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  error_with_line(err, m, start, line, column, message);
  return false;
}

_Noreturn void parse_fail(Parser *ps, const Token *at, const char *fmt, ...) {
  const char *start = line_start(ps->m, at->at);
  char message[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  error_with_line(ps->err, ps->m, start, at->line, (uint32_t)(at->at - start) + 1, message);
  longjmp(ps->fail, 1);
}

const char *token_describe(Parser *ps, const Token *t) {
  if (t->kind == TOK_EOF) return "the end of the text";
  if (t->kind == TOK_STRING) return "a string";
  return arena_printf(ps->arena, "'%.*s'", (int)MIN(t->len, 60u), t->at);
}

// The C locale's strtod, whatever locale the user's program has set.
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;
static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

// number: 0[fF]hex8 | 0[dD]hex16 | 0[xX]hex | 0[bB]bin | 0oct | dec, each integer with optional U |
// decimal float
static const char *lex_number(Parser *ps, Token *t, const char *p) {
  unsigned base = 10;
  const char *start = p;
  t->kind = TOK_NUMBER;
  t->number = NUM_S64;
  if (*p == '0') {
    char c = (char)(p[1] | 0x20);
    if (c == 'f' || c == 'd') {
      unsigned digits = c == 'f' ? 8 : 16;
      t->number = c == 'f' ? NUM_F32 : NUM_F64;
      t->bits = 0;
      p += 2;
      const char *first = p;
      for (; char_class[(unsigned char)*p] >= CH_IDENT && *p != '%'; p++) {
        unsigned d = *p <= '9' ? (unsigned)(*p - '0') : (unsigned)((*p | 0x20) - 'a') + 10;
        if (d > 15 || p - first >= digits) goto bad;
        t->bits = t->bits << 4 | d;
      }
      if (p - first != digits) goto bad;
      return p;
    }
    if (c == 'x') {
      base = 16;
      p += 2;
    } else if (c == 'b') {
      base = 2;
      p += 2;
    } else base = 8;
  }
  const char *digits = p;
  if (base == 10 || base == 8) {  // a decimal point or an exponent makes it a float
    const char *q = p;
    while (char_class[(unsigned char)*q] == CH_DIGIT) q++;
    if ((*q == '.' && !(char_class[(unsigned char)q[1]] == CH_IDENT && (q[1] | 0x20) != 'e')) ||
        (*q | 0x20) == 'e') {
      pthread_once(&c_locale_once, make_c_locale);
      char *stop;
      double d = strtod_l(start, &stop, c_locale);
      t->number = NUM_F64;
      memcpy(&t->bits, &d, 8);
      if (word_char(*stop)) goto bad;
      return stop;
    }
  }
  uint64_t v = 0;
  for (;; p++) {
    unsigned d;
    if (*p >= '0' && *p <= '9') d = (unsigned)(*p - '0');
    else if (base == 16 && (*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
      d = (unsigned)((*p | 0x20) - 'a') + 10;
    else break;
    if (d >= base) goto bad;
    if (v > (UINT64_MAX - d) / base) {
      t->len = (uint32_t)(p - start) + 1;
      parse_fail(ps, t, "integer constant does not fit in 64 bits");
    }
    v = v * base + d;
  }
  if (p == digits) goto bad;
  t->bits = v;
  if (v > INT64_MAX) t->number = NUM_U64;
  if (*p == 'U' || *p == 'u') {
    t->number = NUM_U64;
    p++;
  }
  if (!word_char(*p)) return p;
bad:
  t->len = (uint32_t)(p - start) + 1;
  parse_fail(ps, t, "malformed number");
}

// Skips white space, comments and lines that begin with '#'.
static const char *skip_blanks(Parser *ps, const char *p) {
  for (;;) {
    while (char_class[(unsigned char)*p] == CH_SPACE) {
      if (*p == '\n') {
        ps->line++;
        ps->bol = p + 1;
      }
      p++;
    }
    if (*p == '/' && p[1] == '/') {
      const char *nl = memchr(p, '\n', (size_t)(ps->end - p));
      if (!nl) return ps->end;
      p = nl;
    } else if (*p == '/' && p[1] == '*') {
      Token at = {.at = p, .line = ps->line};
      for (p += 2; !(*p == '*' && p[1] == '/'); p++) {
        if (p >= ps->end) parse_fail(ps, &at, "comment without an end");
        if (*p == '\n') {
          ps->line++;
          ps->bol = p + 1;
        }
      }
      p += 2;
    } else if (*p == '#') {
      const char *nl = memchr(p, '\n', (size_t)(ps->end - p));
      if (!nl) return ps->end;
      p = nl;
    } else {
      return p;
    }
  }
}

// p is at its first character. A name that ends in digits is a prefix and a number: %r12.
static const char *lex_identifier(Token *t, const char *p) {
  uint32_t h = PTX_HASH_STEP(PTX_HASH_SEED, *p), prefix_hash = h, number = 0;
  const char *prefix_end = ++p;
  for (;; p++) {
    uint8_t k = char_class[(unsigned char)*p];
    if (k < CH_IDENT || *p == '%') break;
    h = PTX_HASH_STEP(h, *p);
    if (k == CH_DIGIT) {
      number = number * 10 + (uint32_t)(*p - '0');
    } else {
      prefix_end = p + 1;
      prefix_hash = h;
      number = 0;
    }
  }
  t->kind = TOK_IDENT;
  t->len = (uint32_t)(p - t->at);
  t->hash = h;
  t->prefix_len = (uint32_t)(prefix_end - t->at);
  t->prefix_hash = prefix_hash;
  t->suffix = number;
  uint32_t digits = t->len - t->prefix_len;
  t->has_suffix = digits && digits < 9 && (digits == 1 || *prefix_end != '0');
  return p;
}

// ".f32", ".shared::cta": p is at the dot.
static const char *lex_dotted(Token *t, const char *p) {
  uint32_t h = PTX_HASH_STEP(PTX_HASH_SEED, '.');
  for (p++;; p++) {
    if (word_char(*p)) h = PTX_HASH_STEP(h, *p);
    else if (*p == ':' && p[1] == ':' && word_char(p[2])) {
      h = PTX_HASH_STEP(PTX_HASH_STEP(h, ':'), ':');
      p++;
    } else break;
  }
  t->kind = TOK_DOT;
  t->len = (uint32_t)(p - t->at);
  t->hash = h;
  return p;
}

// p is at the quotation mark; the token is what is between the two.
static const char *lex_string(Parser *ps, Token *t, const char *p) {
  t->kind = TOK_STRING;
  t->len = 1;
  for (p++; *p != '"'; p++) {
    if (p >= ps->end || *p == '\n') parse_fail(ps, t, "string without an end");
    if (*p == '\\' && p[1] != '\n' && p + 1 < ps->end) p++;
  }
  t->at++;
  t->len = (uint32_t)(p - t->at);
  return p + 1;
}

static const char *lex_punctuation(Parser *ps, Token *t, const char *p) {
  static const struct {
    char a, b;
    int punct;
  } pairs[] = {
      {'<', '<', P_SHL}, {'>', '>', P_SHR}, {'<', '=', P_LE},  {'>', '=', P_GE},
      {'=', '=', P_EQ},  {'!', '=', P_NE},  {'&', '&', P_AND}, {'|', '|', P_OR},
  };
  char c = *p;
  t->kind = TOK_PUNCT;
  t->len = 1;
  t->punct = (unsigned char)c;
  if (c == '<' || c == '>' || c == '=' || c == '!' || c == '&' || c == '|')
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
      if (c == pairs[i].a && p[1] == pairs[i].b) {
        t->punct = pairs[i].punct;
        t->len = 2;
      }
  if (!c || !strchr("{}()[]<>,;:+-*/%&|^~!=?@_.", c)) parse_fail(ps, t, "unexpected character");
  return p + t->len;
}

void ptx_lex(Parser *ps) {
  ps->last_end = ps->p;
  const char *p = skip_blanks(ps, ps->p);
  Token *t = &ps->tok;
  t->at = p;
  t->line = ps->line;
  if (p >= ps->end) {
    t->kind = TOK_EOF;
    t->len = 0;
    ps->p = p;
    return;
  }
  char c = *p;
  uint8_t class = char_class[(unsigned char)c];
  if (class == CH_IDENT && (c != '%' || word_char(p[1]))) ps->p = lex_identifier(t, p);
  else if (class == CH_DIGIT) {
    ps->p = lex_number(ps, t, p);
    t->len = (uint32_t)(ps->p - t->at);
  } else if (c == '.' && word_char(p[1])) ps->p = lex_dotted(t, p);
  else if (c == '"') ps->p = lex_string(ps, t, p);
  else ps->p = lex_punctuation(ps, t, p);
}

void expect(Parser *ps, int c, const char *where) {
  if (!accept(ps, c))
    parse_fail(ps, &ps->tok, "expected '%c' %s, found %s", c, where, token_describe(ps, &ps->tok));
}

bool is_word(const Token *t, const char *text) {
  return (t->kind == TOK_IDENT || t->kind == TOK_DOT) && strlen(text) == t->len &&
         !memcmp(text, t->at, t->len);
}

bool accept_word(Parser *ps, const char *text) {
  if (!is_word(&ps->tok, text)) return false;
  ptx_lex(ps);
  return true;
}
const char *token_text(Parser *ps, const Token *t) {
  return arena_strndup(ps->arena, t->at, t->len);
}

const char *expect_ident(Parser *ps, const char *what) {
  if (ps->tok.kind != TOK_IDENT)
    parse_fail(ps, &ps->tok, "expected %s, found %s", what, token_describe(ps, &ps->tok));
  const char *s = token_text(ps, &ps->tok);
  ptx_lex(ps);
  return s;
}

const char *text_between(Parser *ps, const char *from, const char *to) {
  while (to > from && char_class[(unsigned char)to[-1]] == CH_SPACE) to--;
  return arena_strndup(ps->arena, from, (size_t)(to - from));
}

void parse_enter(Parser *ps) {
  if (++ps->depth > 64) parse_fail(ps, &ps->tok, "nested too deeply");
}
