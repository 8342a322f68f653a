// The command line of a subcommand, read as subcommands.def describes it.
#include "base/suggest.h"
#include "cli/cli.h"

int cli_misuse(const CliSubcommand *s, const char *fmt, ...) {
  Str text = {0};
  char words[2048];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(words, sizeof words, fmt, ap);
  va_end(ap);
  str_printf(&text, "warpgrind %s", s->name);
  cli_fail_as(text.data, s->error, "%s", words);
  str_free(&text);
  return s->error;
}

static int misuse_with_usage(const CliSubcommand *s, const char *what) {
  Str usage = {0};
  cli_usage(s, &usage);
  int code = cli_misuse(s, "%s usage: warpgrind %s", what, usage.data);
  str_free(&usage);
  return code;
}

// --- which option a word is ---

// An option of the subcommand, or one of a run that it passes on.
typedef struct Found {
  const OptionInfo *info;  // NULL: neither
  CliOptionId own;         // CLI_OPTIONS: it is one of a run
  OptionId run;
} Found;

static Found find_option(const CliSubcommand *s, const char *arg, size_t n) {
  for (CliOptionId id = 0; id < CLI_OPTIONS; id++)
    if (cli_has_option(s, &cli_options[id]) && cli_is_option(&cli_options[id].info, arg, n))
      return (Found){.info = &cli_options[id].info, .own = id};
  if (!(s->flags & RUN_OPTIONS)) return (Found){.info = NULL};
  EACH_OPTION(id)
  if (cli_is_option(&options_table[id], arg, n))
    return (Found){.info = &options_table[id], .own = CLI_OPTIONS, .run = id};
  return (Found){.info = NULL};
}

static int unknown_option(const CliSubcommand *s, const char *arg, size_t n) {
  Suggestion guess = suggest_begin(arg + strspn(arg, "-"), n - strspn(arg, "-"));
  bool any = false;
  for (size_t i = 0; i < CLI_OPTIONS; i++) {
    if (!cli_has_option(s, &cli_options[i])) continue;
    suggest_consider(&guess, cli_options[i].info.name);
    any = true;
  }
  if (s->flags & RUN_OPTIONS) EACH_OPTION(id)
  suggest_consider(&guess, options_table[id].name);
  if (guess.best)
    return cli_misuse(s, "unknown option %s (did you mean --%s?). warpgrind help %s lists all.",
                      arg, guess.best, s->name);
  return any ? cli_misuse(s, "unknown option %s. warpgrind help %s lists all.", arg, s->name)
             : cli_misuse(s, "unknown option %s: it has none.", arg);
}

// --- reading ---

typedef struct Reader {
  int argc, at;
  char **argv;
  CliArguments *out;
} Reader;

static void pass_on(CliArguments *out, const OptionInfo *info, const char *value) {
  Str text = {0};
  str_printf(&text, "--%s=%s", info->name, value);
  vec_push(&out->run_options, text.data);  // lives as long as the command
}

// Reads the option at r->at, and the word after it where that is its value. -1, or an exit code.
static int read_option(Reader *r) {
  const CliSubcommand *s = r->out->subcommand;
  const char *arg = r->argv[r->at], *equals = strchr(arg, '=');
  size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
  Found f = find_option(s, arg, n);
  if (!f.info) return unknown_option(s, arg, n);
  bool is_own = f.own != CLI_OPTIONS, is_flag = f.info->kind == OPTION_FLAG;
  if (is_own && is_flag && equals) return cli_misuse(s, "--%s takes no value.", f.info->name);
  const char *value = equals    ? equals + 1
                      : is_flag ? "yes"
                      : is_own  ? NULL
                                : options_implied(f.run);
  if (!value && ++r->at == r->argc)
    return cli_misuse(s, "--%s needs a value: --%s=%s", f.info->name, f.info->name,
                      f.info->argument);
  if (!value) value = r->argv[r->at];
  Error err = {{0}};
  if (!options_check(f.info, value, &err)) return cli_misuse(s, "%s", err.text);
  if (is_own) vec_push(&r->out->given, (CliGiven){f.own, value});
  else pass_on(r->out, f.info, value);
  return -1;
}

static bool asks_for_help(const char *arg) { return !strcmp(arg, "--help") || !strcmp(arg, "-h"); }

static int read_all(Reader *r) {
  bool options_end = false;
  for (r->at = 1; r->at < r->argc; r->at++) {
    char *arg = r->argv[r->at];
    if (options_end || arg[0] != '-' || !arg[1]) {
      vec_push(&r->out->words, arg);
      if (r->out->subcommand->flags & OPTIONS_FIRST) options_end = true;
    } else if (!strcmp(arg, "--")) {
      options_end = true;
    } else if (asks_for_help(arg)) {
      cli_print_subcommand(r->out->subcommand, stdout);
      return 0;
    } else {
      int code = read_option(r);
      if (code >= 0) return code;
    }
  }
  return -1;
}

// --- what is missing, what is too much ---

static int check_words(const CliArguments *a) {
  const CliSubcommand *s = a->subcommand;
  const char *at = s->arguments;
  CliPlaceholder p;
  uint32_t expected = 0;
  char text[512];
  for (; cli_next_placeholder(&at, &p); expected++) {
    if (p.repeats && a->words.len > expected) return -1;
    if (p.optional || a->words.len > expected) continue;
    snprintf(text, sizeof text, "%.*s is missing.", (int)p.length, p.name);
    return misuse_with_usage(s, text);
  }
  if (a->words.len <= expected) return -1;
  snprintf(text, sizeof text, "%s is one argument too many.", a->words.data[expected]);
  return misuse_with_usage(s, text);
}

static int check_required(const CliArguments *a) {
  char text[256];
  for (CliOptionId id = 0; id < CLI_OPTIONS; id++) {
    const CliOption *o = &cli_options[id];
    if (!o->required || !cli_has_option(a->subcommand, o) || cli_value(a, id)) continue;
    snprintf(text, sizeof text, "--%s=%s is missing.", o->info.name, o->info.argument);
    return misuse_with_usage(a->subcommand, text);
  }
  return -1;
}

int cli_run_subcommand(const CliSubcommand *s, int argc, char **argv) {
  CliArguments a = {.subcommand = s};
  Reader r = {.argc = argc, .argv = argv, .out = &a};
  int code = read_all(&r);
  if (code < 0) code = check_words(&a);
  if (code < 0) code = check_required(&a);
  if (code < 0) {
    vec_push(&a.words, NULL);
    a.words.len--;
    code = s->run(&a);
  }
  vec_free(&a.given);
  vec_free(&a.words);
  vec_free(&a.run_options);
  return code;
}

// --- for the subcommands ---

const char *cli_value(const CliArguments *a, CliOptionId id) {
  for (uint32_t i = a->given.len; i-- > 0;)
    if (a->given.data[i].id == id) return a->given.data[i].value;
  return NULL;
}

bool cli_number(const CliArguments *a, CliOptionId id, uint32_t low, uint32_t high, uint32_t *out,
                Error *err) {
  const char *text = cli_value(a, id);
  char *end;
  if (!text) return true;
  unsigned long long n = strtoull(text, &end, 10);
  if (*end || n < low || n > high)
    return error_set(err, "--%s=%s: expected a number from %u to %u.", cli_options[id].info.name,
                     text, low, high);
  *out = (uint32_t)n;
  return true;
}
