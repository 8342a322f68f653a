// subcommand: the table of subcommands (subcommands.def), and the parser of their command lines.
#ifndef WG_CLI_SUBCOMMAND_H
#define WG_CLI_SUBCOMMAND_H

#include "base/base.h"
#include "base/options.h"

typedef enum CliSubcommandId {
#define SUBCOMMAND(id, ...) CLI_SUBCOMMAND_##id,
#define OPTION(...)
#define REQUIRED(...)
#include "cli/subcommands.def"
#undef SUBCOMMAND
#undef OPTION
#undef REQUIRED
  CLI_SUBCOMMANDS
} CliSubcommandId;

typedef enum CliOptionId {
#define SUBCOMMAND(...)
#define OPTION(subcommand, id, ...) CLI_##id,
#define REQUIRED(subcommand, id, ...) CLI_##id,
#include "cli/subcommands.def"
#undef SUBCOMMAND
#undef OPTION
#undef REQUIRED
  CLI_OPTIONS
} CliOptionId;

typedef struct CliOption {
  OptionInfo info;
  CliSubcommandId subcommand;
  bool required;
} CliOption;
extern const CliOption cli_options[CLI_OPTIONS];

typedef struct CliGiven {
  CliOptionId id;
  const char *value;  // of a flag: "yes"
} CliGiven;
// A command line of a subcommand, understood.
typedef struct CliArguments {
  const struct CliSubcommand *subcommand;
  VEC(CliGiven) given;      // in their order
  VEC(char *) words;        // the other arguments; NULL after the last
  VEC(char *) run_options;  // as --name=value, for a subcommand that starts a run
} CliArguments;

enum { OPTIONS_FIRST = 1, RUN_OPTIONS = 2, UNLISTED = 4 };
typedef struct CliSubcommand {
  const char *name, *arguments;
  int error;       // exit code of a command line that is not understood
  unsigned flags;  // OPTIONS_FIRST …
  const char *summary, *details;
  int (*run)(const CliArguments *a);
} CliSubcommand;
extern const CliSubcommand cli_subcommands[CLI_SUBCOMMANDS];
#define SUBCOMMAND(id, ...) int cli_##id(const CliArguments *a);
#define OPTION(...)
#define REQUIRED(...)
#include "cli/subcommands.def"
#undef SUBCOMMAND
#undef OPTION
#undef REQUIRED

// --- subcommand.c ---
const CliSubcommand *cli_find_subcommand(const char *name);  // NULL: there is none
const char *cli_guess_subcommand(const char *word);  // the name that was probably meant, or NULL
bool cli_has_option(const CliSubcommand *s, const CliOption *o);
bool cli_is_option(const OptionInfo *info, const char *arg, size_t n);  // arg: "--port" or "-o"
void cli_add_text(const char *text, Str *out);     // a summary or details, with the tools' words
void cli_usage(const CliSubcommand *s, Str *out);  // "view [options] FILE"
// The next argument in the description of a subcommand; *at begins at its `arguments`.
typedef struct CliPlaceholder {
  const char *name;  // "FILE", without brackets
  size_t length;
  bool optional, repeats;
} CliPlaceholder;
bool cli_next_placeholder(const char **at, CliPlaceholder *out);

// --- subcommand_arguments.c ---
// argv[0] is the subcommand's name. Returns its exit code.
int cli_run_subcommand(const CliSubcommand *s, int argc, char **argv);
// The value of an option, the last where it was given again; NULL: not given.
const char *cli_value(const CliArguments *a, CliOptionId id);
// *out stays as it is where the option was not given.
bool cli_number(const CliArguments *a, CliOptionId id, uint32_t low, uint32_t high, uint32_t *out,
                Error *err);
// "warpgrind view: …"; returns the exit code for it
int cli_misuse(const CliSubcommand *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
