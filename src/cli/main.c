// warpgrind [options] [--] program [arguments…]      runs a CUDA program
// warpgrind subcommand …                              see subcommands.def
#include "cli/cli.h"

#include "view/view.h"

const CliSubcommand cli_subcommands[] = {
#define SUBCOMMAND(name, usage, help) {#name, usage, help, cli_##name},
#include "cli/subcommands.def"
#undef SUBCOMMAND
};
const unsigned cli_nsubcommands = ARRAY_LEN(cli_subcommands);

int cli_fail(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fputs("warpgrind: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  return EXIT_WARPGRIND;
}

static int find_option(const char *name, size_t n) {
  for (int id = 0; id < OPT_COUNT; id++)
    if (strlen(options_table[id].name) == n && strncmp(options_table[id].name, name, n) == 0) return id;
  return -1;
}

static int find_letter(char letter) {
  for (int id = 0; id < OPT_COUNT; id++)
    if (letter && options_table[id].letter == letter) return id;
  return -1;
}

// The number of letters two names share at their start; good enough to guess what was meant.
static int closest_option(const char *name) {
  int best = -1;
  size_t best_length = 1;
  for (int id = 0; id < OPT_COUNT; id++) {
    size_t n = 0;
    while (name[n] && name[n] == options_table[id].name[n]) n++;
    if (n > best_length) best = id, best_length = n;
  }
  return best;
}

static int unknown_option(const char *arg) {
  int guess = closest_option(arg + strspn(arg, "-"));
  if (guess >= 0) return cli_fail("unknown option %s (did you mean --%s?). warpgrind --help lists all.", arg, options_table[guess].name);
  return cli_fail("unknown option %s. warpgrind --help lists all.", arg);
}

// Reads options up to the first other argument. Returns -1 to go on, or an exit code; *next is the first argument left.
static int parse_options(int argc, char **argv, Options *o, int *next) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    const char *arg = argv[i];
    if (strcmp(arg, "--") == 0) { i++; break; }
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) { cli_print_help(stdout); return 0; }
    if (strcmp(arg, "--man") == 0) { cli_print_man(stdout); return 0; }
    if (strcmp(arg, "--version") == 0) return cli_version(0, NULL);
    const char *equals = strchr(arg, '=');
    bool is_long = arg[1] == '-';
    int id = is_long ? find_option(arg + 2, equals ? (size_t)(equals - arg - 2) : strlen(arg + 2))
                     : arg[2] ? -1 : find_letter(arg[1]);
    if (id < 0) return unknown_option(arg);
    const char *value = is_long && equals ? equals + 1 : NULL;
    if (!value && options_table[id].kind == OPTION_FLAG) value = "yes";
    if (!value && id == OPT_RECORD) value = "all";
    if (!value && id == OPT_HASH) value = "some";
    if (!value) {
      if (i + 1 == argc) return cli_fail("--%s needs a value: --%s=%s", options_table[id].name, options_table[id].name, options_table[id].argument);
      value = argv[++i];
    }
    Error err = {0};
    if (!options_set(o, id, value, &err)) return cli_fail("%s", err.text);
  }
  *next = i;
  return -1;
}

// fp-diff is fp_diff in C.
static bool is_called(const char *word, const char *name) {
  while (*word && (*word == *name || (*word == '-' && *name == '_'))) word++, name++;
  return !*word && !*name;
}

int main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  if (strncmp(slash ? slash + 1 : argv[0], "ptxas", 5) == 0) return cli_ptxas(argc, argv);
  if (argc == 2 && strcmp(argv[1], VIEW_CALCULATE) == 0) return cli_calculate();                     // started by warpgrind view
  if (argc > 1 && strcmp(argv[1], "replay-inputs") == 0) return cli_expand(argc - 1, argv + 1);     // started by warpgrind expand
  if (argc > 1)
    for (unsigned i = 0; i < cli_nsubcommands; i++)
      if (is_called(argv[1], cli_subcommands[i].name)) return cli_subcommands[i].run(argc - 1, argv + 1);

  Options o = {0};
  Error err = {0};
  int first = 1;
  int code = parse_options(argc, argv, &o, &first);
  if (code >= 0) return code;
  if (!options_from_environment(&o, &err)) return cli_fail("%s", err.text);
  if (first >= argc) {
    cli_print_help(stderr);
    return cli_fail("no program was given.");
  }
  return cli_run(&o, argv + first);
}
