// cli: the `warpgrind` command. main.c chooses what the command line asks for; each subcommand is
// one file. Only this folder exits.
#ifndef WG_CLI_H
#define WG_CLI_H

#include "base/base.h"
#include "base/options.h"
#include "base/runstats.h"
#include "cli/subcommand.h"

// Exit codes of the command itself; otherwise it returns the program's own.
enum { EXIT_WARPGRIND = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

// --elements of diff and gold
enum { CLI_MOST_ELEMENTS = 1000000 };

// "warpgrind: …" on standard error; returns 125
int cli_fail(const char *fmt, ...) PRINTF_LIKE(1, 2);
// "who: …", for commands with exit codes of their own
int cli_fail_as(const char *who, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

// --- output.c: checks that everything printed was written ---
void cli_output_begin(void);   // before anything is printed
bool cli_output_lost(void);    // standard output could not be written; a closed pipe does not count
int cli_output_end(int code);  // the exit code: 125 when something could not be written

// --- run_options.c ---
// Reads options up to the first other argument. Returns -1 to go on, or an exit code; *next is the
// first argument left.
int cli_parse_options(int argc, char **argv, Options *o, int *next);

// --- run.c ---
int cli_run(const Options *o, char **argv);

// --- sql.c ---
int cli_query(const char *path, const char *sql);  // prints the answer of a run file

// --- ptxas.c: runs in place of the ptxas of Triton and JAX ---
int cli_ptxas(int argc, char **argv);  // argv[0]: what it was called as
void cli_ptxas_environment(void);      // makes the program's frameworks call it

// --- allocators.c ---
// folder: of our library; turns off the caching allocators of frameworks
void cli_allocators_environment(const Options *o, const char *folder);

// --- hlo.c: has the program's JAX write out the code that it compiles ---
void cli_hlo_environment(const Options *o);
void cli_hlo_remove(void);

// --- help.c ---
typedef struct CliRow {
  const char *left, *right;
} CliRow;
extern const char cli_intro[];
extern const CliRow cli_tools[], cli_exit_codes[];  // {NULL} after the last
void cli_print_help(FILE *f);
void cli_print_subcommand(const CliSubcommand *s, FILE *f);  // how it is called, and what it does
// "-o, --output=FILE" and "Keep the run file."
void cli_describe_option(const OptionInfo *info, Str *left, Str *right);
// Sets *heading to the option's heading; true: it has changed.
bool cli_begins_heading(OptionId id, const char **heading);

// --- man.c: the manual page ---
void cli_print_man(FILE *f);

// --- complete.c: the candidates for the last word of a command line ---
// argv[0] is the command's name. Prints for a completion script (completion.c): a line for each
// candidate, then a tab and its description; ":files", ":folders" or ":programs" for such names.
#define CLI_COMPLETE "complete-words"
int cli_complete(int argc, char **argv);

// --- missing_library.c: says what to install for libraries of NVIDIA's that a program needs ---
void cli_name_missing_libraries(const char *program);

// --- program.c: finds the program to start, and our library ---
// 0, or the exit code with the reason in err. *path is found through PATH like a shell does.
int cli_find_program(const char *name, Str *path, Error *err);
int cli_check_program(const char *path, bool on_gpu, Error *err);
bool cli_find_library(Str *folder, Error *err);  // the folder that holds libcuda.so.1

// --- overwrite.c ---
// false: it is the program (NULL: none) or a run file
bool cli_may_overwrite(const char *path, const char *program, Error *err);

// --- device.c ---
// Turns --device=auto into gpu or cpu. false: --device=gpu, and err says why not.
bool cli_choose_device(Options *o, Error *err);
void cli_say_device(void);  // with -v, once the log is open: the choice and its reason

// --- browser.c ---
int cli_view_two(const char *a, const char *b);  // view.c: two runs side by side
void cli_browser_open(const char *url);  // shows a page without its address on a command line
void cli_browser_forget(void);           // removes its temporary files

// --- calculate.c: the device side of the viewer's calculator ---
int cli_calculate(void);

// --- summary.c: the end of a run ---
struct Run;
void cli_print_summary(struct Run *r, bool verbose);
// Names the command that shows a recorded run.
void cli_name_viewer(const char *path);
// --- recording_progress.c ---
void cli_progress_start(const struct Run *r, bool quiet);
void cli_progress_end(void);
typedef struct CliFormat {
  OptionId option;
  void (*write)(struct Run *r, Str *out);
} CliFormat;
extern const CliFormat cli_formats[];  // files a report can be written to
extern const unsigned cli_nformats;
bool cli_write_report(struct Run *r, const CliFormat *f, const char *path, Error *err);
void cli_set_color(const char *when, bool to_file);  // auto, always, never
// each line with the prefix of a process; pid 0: the same as before; always: also with -q
void cli_print_lines(const Str *text, int pid, bool always);

#endif
