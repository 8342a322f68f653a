// Options of the command line: options_table (base/options.def) says which there are.
#include "cli/cli.h"

static int find_option(const char *name, size_t n) {
  for (int id = 0; id < OPT_COUNT; id++)
    if (strlen(options_table[id].name) == n && strncmp(options_table[id].name, name, n) == 0)
      return id;
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
    if (n > best_length) {
      best = id;
      best_length = n;
    }
  }
  return best;
}

static int unknown_option(const char *arg) {
  int guess = closest_option(arg + strspn(arg, "-"));
  if (guess >= 0)
    return cli_fail("unknown option %s (did you mean --%s?). warpgrind --help lists all.", arg,
                    options_table[guess].name);
  return cli_fail("unknown option %s. warpgrind --help lists all.", arg);
}

int cli_parse_options(int argc, char **argv, Options *o, int *next) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    const char *arg = argv[i];
    if (strcmp(arg, "--") == 0) {
      i++;
      break;
    }
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
      cli_print_help(stdout);
      return 0;
    }
    if (strcmp(arg, "--man") == 0) {
      cli_print_man(stdout);
      return 0;
    }
    if (strcmp(arg, "--version") == 0) return cli_version(0, NULL);
    const char *equals = strchr(arg, '=');
    bool is_long = arg[1] == '-';
    int id = is_long  ? find_option(arg + 2, equals ? (size_t)(equals - arg - 2) : strlen(arg + 2))
              : arg[2] ? -1
                      : find_letter(arg[1]);
    if (id < 0) return unknown_option(arg);
    const char *value = is_long && equals ? equals + 1 : NULL;
    if (!value && options_table[id].kind == OPTION_FLAG) value = "yes";
    if (!value && id == OPT_RECORD) value = "all";
    if (!value && id == OPT_HASH) value = "some";
    if (!value) {
      if (i + 1 == argc)
        return cli_fail("--%s needs a value: --%s=%s", options_table[id].name,
                        options_table[id].name, options_table[id].argument);
      value = argv[++i];
    }
    Error err = {0};
    if (!options_set(o, id, value, &err)) return cli_fail("%s", err.text);
  }
  *next = i;
  return -1;
}
