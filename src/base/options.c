#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <unistd.h>

#include "tools/options.h"

_Static_assert(OPT_COUNT <= (int)OPTIONS_MOST, "make OPTIONS_MOST larger");

#define IMPLIED(id, value)
#define OPTION(id, name, letter, kind, argument, initial, section, help) \
  [OPT_##id] = {name, letter, OPTION_##kind, argument, initial, SECTION_##section, help},
const OptionInfo options_table[] = {
#include "tool_options.def"
#include "tools/options.def"
#include "base/options.def"
};
#undef OPTION

// The ids in the order of the tables.
#define OPTION(id, ...) OPT_##id,
static const OptionId listed[] = {
#include "tool_options.def"
#include "tools/options.def"
#include "base/options.def"
};
#undef OPTION
#undef IMPLIED

#define OPTION(...)
#define IMPLIED(id, value) {OPT_##id, value},
static const struct {
  OptionId id;
  const char *value;
} implied[] = {
#include "tool_options.def"
#include "tools/options.def"
#include "base/options.def"
};
#undef OPTION
#undef IMPLIED

const char *options_heading(OptionSection s) {
  static const char *const others[] = {[SECTION_RECORDING] = "Recording",
                                       [SECTION_DEVICE] = "Device",
                                       [SECTION_REPORT] = "Report",
                                       [SECTION_PROGRAM] = "Program"};
  return others[s] ? others[s] : "Checks";
}

OptionId options_at(unsigned n) {
  for (OptionSection s = 0; s < SECTION_COUNT; s++)
    for (unsigned i = 0; i < ARRAY_LEN(listed); i++)
      if (options_table[listed[i]].section == s && n-- == 0) return listed[i];
  return OPTIONS_MOST;
}

void options_variable(OptionId id, char *out, size_t size) {
  size_t n = (size_t)snprintf(out, size, "WARPGRIND_%s", options_table[id].name);
  for (size_t i = 0; i < MIN(n, size - 1); i++)
    out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

static bool word_in_list(const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *p = list; p; p = strchr(p, '|')) {
    p += *p == '|';
    if (n && strncmp(p, word, n) == 0 && (p[n] == '|' || !p[n])) return true;
  }
  return false;
}

static bool parse_number(const char *text, uint64_t *out) {
  char *end;
  if (!isdigit((unsigned char)*text)) return false;
  errno = 0;
  *out = strtoull(text, &end, 0);
  return !*end && !errno;
}

static bool is_true(const char *s) {
  return strcmp(s, "yes") == 0 || strcmp(s, "1") == 0 || strcmp(s, "true") == 0;
}
static bool is_false(const char *s) {
  return strcmp(s, "no") == 0 || strcmp(s, "0") == 0 || strcmp(s, "false") == 0;
}

// The largest value of a number option; UINT64_MAX: no limit.
static uint64_t largest(OptionId id) {
  switch (id) {
    case OPT_WORKERS: return 1024;
    case OPT_DEVICES: return 64;
    case OPT_ERROR_EXITCODE: return 255;
    case OPT_MIN_COVERAGE: return 100;
    default: return UINT64_MAX;
  }
}

bool options_check(const OptionInfo *info, const char *text, Error *err) {
  uint64_t number;
  switch (info->kind) {
    case OPTION_FLAG:
      return is_true(text) || is_false(text) ||
             error_set(err, "--%s=%s: expected yes or no.", info->name, text);
    case OPTION_NUMBER:
      return parse_number(text, &number) ||
             error_set(err, "--%s=%s: expected a number.", info->name, text);
    case OPTION_TEXT:
    case OPTION_LIST:
      return *text || error_set(err, "--%s needs a %s.", info->name, info->argument);
    case OPTION_CHOICE:
      return word_in_list(info->argument, text) ||
             error_set(err, "--%s=%s: expected one of %s.", info->name, text, info->argument);
  }
  return false;
}

static const char *joined(const char *list, const char *more) {
  Str s = {0};
  str_printf(&s, "%s,%s", list, more);
  return s.data;  // lives as long as the options
}

const char *options_implied(OptionId id) {
  if (options_table[id].kind == OPTION_FLAG) return "yes";
  for (unsigned i = 0; i < ARRAY_LEN(implied); i++)
    if (implied[i].id == id) return implied[i].value;
  return NULL;
}

static bool check_limits(OptionId id, const char *text, Error *err) {
  uint64_t number = 0;
  const char *name = options_table[id].name;
  parse_number(text, &number);
  if (number > largest(id))
    return error_set(err, "--%s=%s: the largest value is %llu.", name, text,
                     (unsigned long long)largest(id));
  if (id == OPT_DEVICES && number == 0)
    return error_set(err, "--devices=0: at least one device is needed.");
  return true;
}

bool options_set(Options *o, OptionId id, const char *text, Error *err) {
  OptionKind kind = options_table[id].kind;
  if (!options_check(&options_table[id], text, err)) return false;
  if (kind == OPTION_NUMBER && !check_limits(id, text, err)) return false;
  if (kind == OPTION_LIST && o->text[id]) text = joined(o->text[id], text);
  o->text[id] = text;
  return true;
}

bool options_from_environment(Options *o, Error *err) {
  EACH_OPTION(id) {
    char variable[64];
    options_variable(id, variable, sizeof variable);
    const char *text = getenv(variable);
    if (!text || !*text || o->text[id]) continue;
    Error why = {0};
    if (!options_set(o, id, text, &why))
      return error_set(err, "environment variable %s: %s", variable, why.text);
  }
  return true;
}

void options_to_environment(const Options *o) {
  EACH_OPTION(id) {
    if (!o->text[id]) continue;
    char variable[64];
    options_variable(id, variable, sizeof variable);
    setenv(variable, o->text[id], 1);
  }
}

bool options_given(const Options *o, OptionId id) { return o->text[id] != NULL; }
bool options_want_opencl_layer(const Options *o) {
  bool checks = options_is(o, OPT_OPENCL, "system") && strcmp(options_text(o, OPT_TOOL), "none");
  return checks || options_given(o, OPT_OPENCL_CALLS) || options_given(o, OPT_OPENCL_TIMES);
}
const char *options_text(const Options *o, OptionId id) {
  return o->text[id] ? o->text[id] : options_table[id].initial;
}

uint64_t options_number(const Options *o, OptionId id) {
  uint64_t n = 0;
  const char *text = options_text(o, id);
  if (text) parse_number(text, &n);
  return n;
}

bool options_flag(const Options *o, OptionId id) {
  const char *text = options_text(o, id);
  return text && is_true(text);
}

bool options_is(const Options *o, OptionId id, const char *word) {
  const char *text = options_text(o, id);
  return text && strcmp(text, word) == 0;
}

bool options_expand_name(const char *pattern, int pid, Str *out, Error *err) {
  for (const char *p = pattern; *p; p++) {
    if (*p != '%') {
      str_addc(out, *p);
    } else if (p[1] == '%') {
      str_addc(out, *++p);
    } else if (p[1] == 'p') {
      str_printf(out, "%d", pid ? pid : (int)getpid());
      p++;
    } else if (p[1] == 'q' && p[2] == '{' && strchr(p, '}')) {
      const char *end = strchr(p, '}');
      char name[256];
      snprintf(name, sizeof name, "%.*s", (int)(end - p - 3), p + 3);
      const char *value = getenv(name);
      if (!value)
        return error_set(err, "file name %s: the environment variable %s is not set.", pattern,
                         name);
      str_add(out, value);
      p = end;
    } else {
      return error_set(err, "file name %s: after %% only p, q{VAR} or %% may follow.", pattern);
    }
  }
  return true;
}

bool options_open_log(const Options *o, int pid, Error *err) {
  LogLevel level = options_flag(o, OPT_QUIET)     ? LOG_QUIET
                   : options_flag(o, OPT_VERBOSE) ? LOG_VERBOSE
                                                  : LOG_NORMAL;
  Str path = {0};
  bool ok = !options_given(o, OPT_LOG_FILE) ||
            options_expand_name(options_text(o, OPT_LOG_FILE), pid, &path, err);
  log_open(ok ? path.data : NULL, level);
  str_free(&path);
  return ok;
}

static void restore_variable(const char *name, const char *saved_as) {
  const char *saved = getenv(saved_as);
  if (!saved) return;  // not started by the command: leave it alone
  if (*saved) setenv(name, saved, 1);
  else unsetenv(name);
}

void options_release_children(const Options *o) {
  if (options_flag(o, OPT_TRACE_CHILDREN)) return;
  restore_variable("LD_PRELOAD", "WARPGRIND_SAVED_LD_PRELOAD");
  restore_variable("LD_LIBRARY_PATH", "WARPGRIND_SAVED_LD_LIBRARY_PATH");
}
