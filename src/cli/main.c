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

// fp-diff is fp_diff in C.
static bool is_called(const char *word, const char *name) {
  while (*word && (*word == *name || (*word == '-' && *name == '_'))) {
    word++;
    name++;
  }
  return !*word && !*name;
}

static int run_command(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  if (strncmp(slash ? slash + 1 : argv[0], "ptxas", 5) == 0) return cli_ptxas(argc, argv);
  // started by warpgrind view
  if (argc == 2 && strcmp(argv[1], VIEW_CALCULATE) == 0) return cli_calculate();
  // started by warpgrind expand
  if (argc > 1 && strcmp(argv[1], "replay-inputs") == 0) return cli_expand(argc - 1, argv + 1);
  if (argc > 1)
    for (unsigned i = 0; i < cli_nsubcommands; i++)
      if (is_called(argv[1], cli_subcommands[i].name)) {
        if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
          cli_print_subcommand(&cli_subcommands[i], stdout);
          return 0;
        }
        return cli_subcommands[i].run(argc - 1, argv + 1);
      }

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
  return cli_run(&o, argv + first);
}

int main(int argc, char **argv) {
  cli_output_begin();
  return cli_output_end(run_command(argc, argv));
}
