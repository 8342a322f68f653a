#include "base/dump_option.h"

#include <regex.h>

static bool read_number(const char *text, size_t n, uint64_t *out) {
  char digits[24], *end;
  if (!n || n >= sizeof digits) return false;
  memcpy(digits, text, n);
  digits[n] = 0;
  *out = strtoull(digits, &end, 10);
  return !*end && *out;
}

static bool read_word(const char *word, size_t n, DumpOption *o) {
  const struct {
    const char *name;
    bool *flag;
    bool value;
  } flags[] = {{"text", &o->binary, false},  {"binary", &o->binary, true},
               {"live", &o->written, false}, {"written", &o->written, true},
               {"last", &o->last, true},     {"all", &o->last, false}};
  for (size_t i = 0; i < ARRAY_LEN(flags); i++)
    if (strlen(flags[i].name) == n && !strncmp(flags[i].name, word, n)) {
      *flags[i].flag = flags[i].value;
      return true;
    }
  if (n > 6 && !strncmp(word, "every=", 6)) return read_number(word + 6, n - 6, &o->every);
  if (n > 7 && !strncmp(word, "launch=", 7)) return read_number(word + 7, n - 7, &o->launch);
  return false;
}

static bool check_kernel(const DumpOption *o, Error *err) {
  regex_t r;
  if (regcomp(&r, o->kernel, REG_EXTENDED | REG_NOSUB) != 0)
    return error_set(err, "--dump-buffers: kernel=%s is not a regular expression.", o->kernel);
  regfree(&r);
  return true;
}

bool dump_option_parse(const char *text, DumpOption *out, Error *err) {
  *out = (DumpOption){.every = 1};
  size_t n = strcspn(text, ",");
  if (!n || n >= sizeof out->folder)
    return error_set(err, "--dump-buffers=%s: expected the name of a folder.", text);
  memcpy(out->folder, text, n);
  for (const char *p = text + n; *p;) {
    p++;
    if (!strncmp(p, "kernel=", 7)) {  // all that follows: it may have commas
      if (!p[7] || strlen(p + 7) >= sizeof out->kernel)
        return error_set(
            err, "--dump-buffers: kernel= needs a regular expression of at most %zu characters.",
            sizeof out->kernel - 1);
      strcpy(out->kernel, p + 7);
      return check_kernel(out, err);
    }
    n = strcspn(p, ",");
    if (!read_word(p, n, out))
      return error_set(
          err,
          "--dump-buffers: %.*s is not understood. After the folder there may be text or binary, "
          "live or written, last, every=N, launch=N, and at the end kernel=REGEX.",
          (int)n, p);
    p += n;
  }
  return true;
}

bool dump_option_kernel_fits(const DumpOption *o, const char *name) {
  regex_t r;
  if (!o->kernel[0]) return true;
  if (regcomp(&r, o->kernel, REG_EXTENDED | REG_NOSUB) != 0) return false;
  bool fits = regexec(&r, name, 0, NULL, 0) == 0;
  regfree(&r);
  return fits;
}
