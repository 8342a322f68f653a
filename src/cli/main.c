// warpgrind [options] [--] program [arguments…]      runs a CUDA program
// warpgrind subcommand …                              see subcommands.def
#include "cli/cli.h"
#include "cli/expand.h"

#include <unistd.h>

#include "view/view.h"

// The first word is a program. If there is no such program, the word may be a misspelt subcommand,
// or a subcommand after options; -1: neither.
static int missing_program(const char *name) {
  Str path = {0};
  Error err = {0};
  if (strchr(name, '/') || access(name, F_OK) == 0) return -1;
  int code = cli_find_program(name, &path, &err);
  const char *guess = cli_guess_subcommand(name);
  str_free(&path);
  if (code != EXIT_NOT_FOUND || !guess) return -1;
  if (strcmp(guess, name) == 0)
    cli_fail("there is no program `%s`; a subcommand comes before options: warpgrind %s …", name,
             name);
  else cli_fail("there is no program `%s`; did you mean the subcommand `%s`?", name, guess);
  return EXIT_NOT_FOUND;
}

static int run_command(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  if (strncmp(slash ? slash + 1 : argv[0], "ptxas", 5) == 0) return cli_ptxas(argc, argv);
  // These three are started by `warpgrind view`, by `warpgrind expand` and by completion scripts.
  if (argc == 2 && strcmp(argv[1], VIEW_CALCULATE) == 0) return cli_calculate();
  if (argc > 1 && strcmp(argv[1], CLI_REPLAY) == 0) return cli_replay(argc - 1, argv + 1);
  if (argc > 1 && strcmp(argv[1], CLI_COMPLETE) == 0) return cli_complete(argc - 1, argv + 1);
  const CliSubcommand *s = argc > 1 ? cli_find_subcommand(argv[1]) : NULL;
  if (s) return cli_run_subcommand(s, argc - 1, argv + 1);

  Options o = {0};
  Error err = {0};
  int first = 1;
  int code = cli_parse_options(argc, argv, &o, &first);
  if (code >= 0) return code;
  if (!options_from_environment(&o, &err)) return cli_fail("%s", err.text);
  if (first >= argc) {
    cli_print_help(stderr);
    return cli_fail("no program was given.");
  }
  if (strcmp(argv[first - 1], "--") != 0) code = missing_program(argv[first]);
  return code >= 0 ? code : cli_run(&o, argv + first);
}

int main(int argc, char **argv) {
  cli_output_begin();
  return cli_output_end(run_command(argc, argv));
}
