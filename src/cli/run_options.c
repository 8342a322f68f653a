// Options of a run: options_table (base/options.h) says which there are.
#include "base/suggest.h"
#include "cli/cli.h"

static int find_option(const char *arg) {
  EACH_OPTION(id)
  if (cli_is_option(&options_table[id], arg, strcspn(arg, "="))) return (int)id;
  return -1;
}

static int unknown_option(const char *arg) {
  const char *name = arg + strspn(arg, "-");
  Suggestion guess = suggest_begin(name, strcspn(name, "="));
  EACH_OPTION(id) suggest_consider(&guess, options_table[id].name);
  if (guess.best)
    return cli_fail("unknown option %s (did you mean --%s?). warpgrind --help lists all.", arg,
                    guess.best);
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
    if (strcmp(arg, "--version") == 0) return cli_version(NULL);
    const char *equals = strchr(arg, '=');
    int id = find_option(arg);
    if (id < 0) return unknown_option(arg);
    const char *value = equals ? equals + 1 : NULL;
    if (!value) value = options_implied(id);
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
