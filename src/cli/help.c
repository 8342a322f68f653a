// --help and `warpgrind help`, from options.def, tools.def and subcommands.def. man.c prints the
// same as a manual page.
#include "cli/cli.h"

#define HELP_WIDTH 100
#define HELP_INDENT 28

const char cli_intro[] = "Warpgrind runs CUDA programs and checks what their kernels do, on a GPU "
                         "or with none: on a virtual device made of the CPU's cores.";

const CliRow cli_exit_codes[] = {
    {"program's", "the program's own exit code, when there are no findings"},
    {"99", "there are findings (--error-exitcode)"},
    {"125", "Warpgrind could not do its work; the reason is printed"},
    {"126", "the program could not be executed"},
    {"127", "the program was not found"},
    {"128+N", "the program was ended by signal N"},
    {NULL, NULL},
};

const CliRow cli_tools[] = {
#define TOOL(id, name, help) {#name, help},
#include "tools/tools.def"
    {NULL, NULL},
};

// --- lines ---

// Bytes that continue a character take no column.
static int columns(const char *text, size_t n) {
  int count = 0;
  for (size_t i = 0; i < n; i++) count += (text[i] & 0xc0) != 0x80;
  return count;
}

static void print_wrapped(FILE *f, const char *text, int indent) {
  bool at_start = true;
  int column = indent;
  while (*text) {
    size_t n = strcspn(text, " ");
    if (column + columns(text, n) + 1 > HELP_WIDTH) {
      fprintf(f, "\n%*s", indent, "");
      column = indent;
      at_start = true;
    }
    fprintf(f, "%s%.*s", at_start ? "" : " ", (int)n, text);
    at_start = false;
    column += columns(text, n) + 1;
    text += n + (text[n] == ' ');
  }
  fputc('\n', f);
}

static void print_row(FILE *f, const char *left, const char *right) {
  int n = columns(left, strlen(left)) + 2;
  fprintf(f, "  %s", left);
  if (n > HELP_INDENT - 2) fprintf(f, "\n%*s", HELP_INDENT, "");
  else fprintf(f, "%*s", HELP_INDENT - n, "");
  print_wrapped(f, right, HELP_INDENT);
}

static void print_rows(FILE *f, const char *heading, const CliRow *rows) {
  fprintf(f, "\n%s:\n", heading);
  for (; rows->left; rows++) print_row(f, rows->left, rows->right);
}

void cli_describe_option(const OptionInfo *info, Str *left, Str *right) {
  if (info->letter) str_printf(left, "-%c, ", info->letter);
  str_printf(left, "--%s", info->name);
  if (info->argument) str_printf(left, "=%s", info->argument);
  str_add(right, info->help);
  if (info->initial && info->kind != OPTION_FLAG) str_printf(right, " (default %s)", info->initial);
  str_addc(right, '.');
}

bool cli_begins_heading(OptionId id, const char **heading) {
  const char *before = *heading;
  *heading = options_heading(options_table[id].section);
  return strcmp(before, *heading) != 0;
}

static void print_option(FILE *f, const OptionInfo *info) {
  Str left = {0}, right = {0};
  cli_describe_option(info, &left, &right);
  print_row(f, left.data, right.data);
  str_free(&left);
  str_free(&right);
}

// --- the whole command ---

static void print_subcommands(FILE *f) {
  fprintf(f, "\nSubcommands (warpgrind help NAME says more):\n");
  for (size_t i = 0; i < CLI_SUBCOMMANDS; i++) {
    const CliSubcommand *s = &cli_subcommands[i];
    Str left = {0}, right = {0};
    if (s->flags & UNLISTED) continue;
    str_printf(&left, "%s%s%s", s->name, *s->arguments ? " " : "", s->arguments);
    cli_add_text(s->summary, &right);
    print_row(f, left.data, right.data);
    str_free(&left);
    str_free(&right);
  }
  print_row(f, "--help, --man, --version", "This text, the manual page (troff), the version");
}

void cli_print_help(FILE *f) {
  fprintf(f, "usage: warpgrind [options] [--] program [arguments…]\n");
  fprintf(f, "       warpgrind SUBCOMMAND [options] [arguments…]\n");
  fputc('\n', f);
  print_wrapped(f, cli_intro, 0);
  const char *heading = "";
  EACH_OPTION(id) {
    if (cli_begins_heading(id, &heading)) fprintf(f, "\n%s:\n", heading);
    print_option(f, &options_table[id]);
  }
  print_rows(f, "Tools", cli_tools);
  print_subcommands(f);
  print_rows(f, "Exit code", cli_exit_codes);
  fprintf(f, "\nEvery option can also be given as an environment variable: --log-file=x is "
             "WARPGRIND_LOG_FILE=x.\n");
}

// --- one subcommand ---

void cli_print_subcommand(const CliSubcommand *s, FILE *f) {
  Str usage = {0}, text = {0};
  bool any = false;
  cli_usage(s, &usage);
  fprintf(f, "usage: warpgrind %s\n\n", usage.data);
  cli_add_text(s->summary, &text);
  str_add(&text, s->details ? ". " : ".");
  if (s->details) cli_add_text(s->details, &text);
  print_wrapped(f, text.data, 0);
  for (size_t i = 0; i < CLI_OPTIONS; i++) {
    if (!cli_has_option(s, &cli_options[i])) continue;
    if (!any) fprintf(f, "\nOptions:\n");
    any = true;
    print_option(f, &cli_options[i].info);
  }
  str_free(&usage);
  str_free(&text);
}

int cli_help(const CliArguments *a) {
  if (!a->words.len) {
    cli_print_help(stdout);
    return 0;
  }
  const char *name = a->words.data[0];
  const CliSubcommand *s = cli_find_subcommand(name);
  if (s) {
    cli_print_subcommand(s, stdout);
    return 0;
  }
  const char *guess = cli_guess_subcommand(name);
  if (guess)
    return cli_misuse(a->subcommand, "there is no subcommand %s; did you mean %s?", name, guess);
  return cli_misuse(a->subcommand, "there is no subcommand %s. warpgrind --help lists all.", name);
}
