// A glance at PTX text: enough to list it. Parsing is src/ptx.
#include <ctype.h>

#include "image/private.h"

typedef struct Scan {
  const char *at, *end;
} Scan;

static void skip_blanks(Scan *s) {
  while (s->at < s->end) {
    if (isspace((unsigned char)*s->at)) {
      s->at++;
    } else if (s->end - s->at >= 2 && s->at[0] == '/' && s->at[1] == '/') {
      const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
      s->at = newline ? newline + 1 : s->end;
    } else if (s->end - s->at >= 2 && s->at[0] == '/' && s->at[1] == '*') {
      s->at += 2;
      while (s->at < s->end && !(s->at[0] == '*' && s->end - s->at >= 2 && s->at[1] == '/'))
        s->at++;
      s->at = s->end - s->at >= 2 ? s->at + 2 : s->end;
    } else {
      return;
    }
  }
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

// The next word, string or single character; false at the end.
static bool next_token(Scan *s, Scan *token) {
  skip_blanks(s);
  if (s->at >= s->end) return false;
  token->at = s->at;
  if (is_word(*s->at)) {
    while (s->at < s->end && is_word(*s->at)) s->at++;
  } else if (*s->at == '"') {
    s->at++;
    while (s->at < s->end && *s->at != '"' && *s->at != '\n')
      s->at += *s->at == '\\' && s->end - s->at >= 2 ? 2 : 1;
    if (s->at < s->end) s->at++;
  } else {
    s->at++;
  }
  token->end = s->at;
  return true;
}

static bool token_is(Scan token, const char *word) {
  size_t n = strlen(word);
  return (size_t)(token.end - token.at) == n && memcmp(token.at, word, n) == 0;
}

static bool read_number(Scan *s, unsigned *out) {
  unsigned value = 0;
  const char *first = s->at;
  while (s->at < s->end && isdigit((unsigned char)*s->at) && value < 100000)
    value = value * 10 + (unsigned)(*s->at++ - '0');
  *out = value;
  return s->at > first;
}

bool ptx_text_starts(const char *text, size_t len) {
  Scan s = {text, text + len}, token;
  return next_token(&s, &token) && token_is(token, ".version");
}

bool ptx_text_describe(const char *text, size_t len, ImageEntry *entry) {
  Scan s = {text, text + len}, token;
  if (!next_token(&s, &token) || !token_is(token, ".version") || !next_token(&s, &token))
    return false;
  if (!read_number(&token, &entry->major)) return false;
  if (token.at < token.end && *token.at == '.') token.at++;
  read_number(&token, &entry->minor);
  // .target sm_90a, debug: a list that ends with the next directive.
  if (!next_token(&s, &token) || !token_is(token, ".target")) return true;
  while (next_token(&s, &token) && *token.at != '.') {
    if (token_is(token, "debug")) entry->debug = true;
    for (unsigned i = 0; i < 2; i++) {
      const char *prefix = i ? "compute_" : "sm_";
      size_t n = strlen(prefix);
      if ((size_t)(token.end - token.at) <= n || memcmp(token.at, prefix, n) != 0) continue;
      token.at += n;
      read_number(&token, &entry->arch);
      entry->suffix = token.at < token.end && (*token.at == 'a' || *token.at == 'f') ? *token.at
                                                                                     : 0;
      break;
    }
  }
  return true;
}

void ptx_text_kernels(const char *text, size_t len,
                      void (*found)(void *arg, const char *name, size_t len), void *arg) {
  Scan s = {text, text + len}, token;
  while (next_token(&s, &token))
    if (token_is(token, ".entry") && next_token(&s, &token))
      found(arg, token.at, (size_t)(token.end - token.at));
}
