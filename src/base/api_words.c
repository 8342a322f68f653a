#include "base/api_words.h"

#include <ctype.h>

static const ApiWords words[API_COUNT_] = {
#define API(id, ...) [API_##id] = {__VA_ARGS__},
#include "base/api_words.def"
};

const ApiWords *api_words(ApiId api) { return &words[api]; }

ApiId api_named(const char *name) {
  for (ApiId i = 0; name && i < API_COUNT_; i++)
    if (!strcmp(words[i].api, name)) return i;
  return API_CUDA;
}

// The word that replaces {name}; NULL: no such name.
static const char *word_named(const ApiWords *w, const char *name, size_t n) {
  const struct {
    const char *name, *word;
  } all[] = {{"api", w->api},
             {"thread", w->thread},
             {"block", w->block},
             {"grid", w->grid},
             {"warp", w->warp},
             {"shared", w->shared},
             {"local", w->local},
             {"kernel", w->kernel},
             {"stream", w->stream},
             {"part", w->part},
             {"thread_index", w->thread_index},
             {"block_size", w->block_size},
             {"warp_barrier", w->warp_barrier},
             {"cooperative_launch", w->cooperative_launch},
             {"with_shared_fence", w->with_shared_fence},
             {"with_global_fence", w->with_global_fence}};
  for (size_t i = 0; i < ARRAY_LEN(all); i++)
    if (strlen(all[i].name) == n && strncasecmp(all[i].name, name, n) == 0) return all[i].word;
  return NULL;
}

static void add_word(Str *out, const ApiWords *w, const char *name, size_t n) {
  const char *word = word_named(w, name, n);
  bool plural = !word && n && name[n - 1] == 's';
  if (plural) word = word_named(w, name, n - 1);
  CHECK(word);
  if (!*word) return;
  str_addc(out, isupper((unsigned char)name[0]) ? (char)toupper((unsigned char)word[0]) : word[0]);
  str_add(out, word + 1);
  if (plural) str_addc(out, 's');
}

void words_add(Str *out, const ApiWords *w, const char *text) {
  for (const char *open; (open = strchr(text, '{'));) {
    size_t n = strcspn(open + 1, "}");
    str_addn(out, text, (size_t)(open - text));
    add_word(out, w, open + 1, n);
    text = open + n + 2;
  }
  str_add(out, text);
}

void words_printf(Str *out, const ApiWords *w, const char *fmt, ...) {
  Str expanded = {0};
  words_add(&expanded, w, fmt);
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, expanded.data, ap);
  CHECK(n >= 0);
  char *text = mem_alloc((size_t)n + 1);
  vsnprintf(text, (size_t)n + 1, expanded.data, again);
  str_addn(out, text, (size_t)n);
  free(text);
  va_end(again);
  va_end(ap);
  str_free(&expanded);
}

const char *words_space(const ApiWords *w, const char *space) {
  return strcmp(space, "shared") == 0 ? w->shared : strcmp(space, "local") == 0 ? w->local : space;
}
