// Options of a build, word by word.
#include "opencl/opencl.h"

#include <ctype.h>

typedef enum { PASS, NEXT, IGNORE, PREFIX, LIBRARY } What;
static const struct {
  const char *text;
  What what;
} known[] = {
#define OPTION(text, what) {text, what},
#include "opencl/build_options.def"
};

// The next word, with quotes taken off; NULL: there is none. *p goes behind it.
static char *next_word(const char **p) {
  Str word = {0};
  while (isspace((unsigned char)**p)) ++*p;
  if (!**p) return NULL;
  for (char quote = 0; **p && (quote || !isspace((unsigned char)**p)); ++*p) {
    if (**p == '\\' && (*p)[1] && quote != '\'') str_addc(&word, *++*p);
    else if (quote ? **p == quote : **p == '"' || **p == '\'') quote = quote ? 0 : **p;
    else str_addc(&word, **p);
  }
  if (!word.data) str_add(&word, "");
  return word.data;
}

static int find(const char *word) {
  for (size_t i = 0; i < ARRAY_LEN(known); i++) {
    size_t n = strlen(known[i].text);
    bool starts = !strncmp(word, known[i].text, n);
    bool open = known[i].what == NEXT || known[i].what == PREFIX || known[i].text[n - 1] == '=';
    if (starts && (open || !word[n])) return (int)i;
  }
  return -1;
}

// Words are separated by zeros in `out`.
static void add(Str *out, const char *word) { str_addn(out, word, strlen(word) + 1); }

bool ocl_options(const char *text, Str *out, const char **bad, bool *library) {
  const char *p = text ? text : "";
  bool standard = false;
  *library = false;
  for (char *word; (word = next_word(&p));) {
    int i = find(word);
    if (i < 0) {
      *bad = word;
      return false;
    }
    if (known[i].what == LIBRARY) *library = true;
    if (known[i].what == PASS || known[i].what == NEXT) add(out, word);
    standard |= !strncmp(word, "-cl-std=", 8);
    if (known[i].what == NEXT && !word[2]) {
      char *value = next_word(&p);
      if (!value) {
        *bad = word;
        return false;
      }
      add(out, value);
      free(value);
    }
    free(word);
  }
  if (!standard) add(out, "-cl-std=CL1.2");
  return true;
}
