// --help and the manual page, both from options.def and subcommands.def.
#include "cli/cli.h"

#define HELP_WIDTH 100
#define HELP_INDENT 28

static const char *const groups[] = {"Checks", "Recording", "Device", "Report", "Program"};

static const char intro[] = "Warpgrind runs CUDA programs and checks what their kernels do, on a "
                            "GPU or with none: on a virtual device made of the CPU's cores.";

static const struct {
  const char *code, *meaning;
} exit_codes[] = {
    {"program's", "the program's own exit code, when there are no findings"},
    {"99", "there are findings (--error-exitcode)"},
    {"125", "Warpgrind could not do its work; the reason is printed"},
    {"126", "the program could not be executed"},
    {"127", "the program was not found"},
    {"128+N", "the program was ended by signal N"},
};

static const struct {
  const char *name, *help;
} tools[] = {
#define TOOL(id, name, help) {#name, help},
#include "tools/tools.def"
};

static void print_wrapped(FILE *f, const char *text, int column) {
  bool at_start = true;
  while (*text) {
    size_t n = strcspn(text, " ");
    if (column + (int)n + 1 > HELP_WIDTH) {
      fprintf(f, "\n%*s", HELP_INDENT, "");
      column = HELP_INDENT;
      at_start = true;
    }
    fprintf(f, "%s%.*s", at_start ? "" : " ", (int)n, text);
    at_start = false;
    column += (int)n + 1;
    text += n + (text[n] == ' ');
  }
  fputc('\n', f);
}

static void print_row(FILE *f, const char *left, const char *right) {
  int n = fprintf(f, "  %s", left);
  if (n > HELP_INDENT - 2) fprintf(f, "\n%*s", HELP_INDENT, "");
  else fprintf(f, "%*s", HELP_INDENT - n, "");
  print_wrapped(f, right, HELP_INDENT);
}

static void option_left(const OptionInfo *info, Str *out) {
  if (info->letter) str_printf(out, "-%c, ", info->letter);
  str_printf(out, "--%s", info->name);
  if (info->argument) str_printf(out, "=%s", info->argument);
}

static void option_right(const OptionInfo *info, Str *out) {
  str_add(out, info->help);
  if (info->initial && info->kind != OPTION_FLAG) str_printf(out, " (default %s)", info->initial);
  str_addc(out, '.');
}

void cli_print_help(FILE *f) {
  fprintf(f, "usage: warpgrind [options] [--] program [arguments…]\n");
  for (unsigned i = 0; i < cli_nsubcommands; i++)
    fprintf(f, "       warpgrind %s\n", cli_subcommands[i].usage);
  fprintf(f, "\n%s\n", intro);
  for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
    fprintf(f, "\n%s:\n", groups[g]);
    for (int id = 0; id < OPT_COUNT; id++) {
      if (strcmp(options_table[id].group, groups[g]) != 0) continue;
      Str left = {0}, right = {0};
      option_left(&options_table[id], &left);
      option_right(&options_table[id], &right);
      print_row(f, left.data, right.data);
      str_free(&left);
      str_free(&right);
    }
  }
  fprintf(f, "\nTools:\n");
  for (size_t i = 0; i < ARRAY_LEN(tools); i++) print_row(f, tools[i].name, tools[i].help);
  fprintf(f, "\nSubcommands:\n");
  for (unsigned i = 0; i < cli_nsubcommands; i++) {
    Str name = {0};
    str_addn(&name, cli_subcommands[i].usage, strcspn(cli_subcommands[i].usage, " "));
    print_row(f, name.data, cli_subcommands[i].help);
    str_free(&name);
  }
  print_row(f, "--help, --man, --version", "This text, the manual page (troff), the version");
  fprintf(f, "\nExit code:\n");
  for (size_t i = 0; i < ARRAY_LEN(exit_codes); i++)
    print_row(f, exit_codes[i].code, exit_codes[i].meaning);
  fprintf(f, "\nEvery option can also be given as an environment variable: --log-file=x is "
             "WARPGRIND_LOG_FILE=x.\n");
}

void cli_print_subcommand(const CliSubcommand *s, FILE *f) {
  Str name = {0};
  str_addn(&name, s->usage, strcspn(s->usage, " "));
  fprintf(f, "usage: warpgrind %s\n\n", s->usage);
  print_row(f, name.data, s->help);
  str_free(&name);
}

// troff takes - as a hyphen and a leading . or ' as a request.
static void print_troff(FILE *f, const char *text) {
  for (const char *p = text; *p; p++) {
    if (*p == '-') fputs("\\-", f);
    else if (*p == '\\') fputs("\\e", f);
    else if (strncmp(p, "…", 3) == 0) fputs("...", f), p += 2;
    else fputc(*p, f);
  }
}

static void print_man_entry(FILE *f, const char *left, const char *right) {
  fprintf(f, ".TP\n\\fB");
  print_troff(f, left);
  fprintf(f, "\\fR\n");
  print_troff(f, right);
  fputc('\n', f);
}

void cli_print_man(FILE *f) {
  fprintf(f, ".TH WARPGRIND 1 \"\" \"warpgrind %s\" \"User Commands\"\n", WARPGRIND_VERSION);
  fprintf(
      f,
      ".SH NAME\nwarpgrind \\- run and check CUDA programs, with or without a GPU\n.SH SYNOPSIS\n");
  fprintf(f,
          "\\fBwarpgrind\\fR [\\fIoptions\\fR] [\\-\\-] \\fIprogram\\fR [\\fIarguments\\fR...]\n");
  for (unsigned i = 0; i < cli_nsubcommands; i++) {
    fprintf(f, ".br\n\\fBwarpgrind\\fR ");
    print_troff(f, cli_subcommands[i].usage);
    fputc('\n', f);
  }
  fprintf(f, ".SH DESCRIPTION\n");
  print_troff(f, intro);
  fprintf(f, "\nThe program is an ordinary one, built by nvcc or using the driver API; it is not "
             "changed.\n");
  fprintf(f, ".SH OPTIONS\nEvery option has an environment variable, named in brackets.\n");
  for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
    fprintf(f, ".SS %s\n", groups[g]);
    for (int id = 0; id < OPT_COUNT; id++) {
      if (strcmp(options_table[id].group, groups[g]) != 0) continue;
      Str left = {0}, right = {0};
      char variable[64];
      options_variable(id, variable, sizeof variable);
      option_left(&options_table[id], &left);
      option_right(&options_table[id], &right);
      str_printf(&right, " [%s]", variable);
      print_man_entry(f, left.data, right.data);
      str_free(&left);
      str_free(&right);
    }
  }
  fprintf(f, ".SH TOOLS\n");
  for (size_t i = 0; i < ARRAY_LEN(tools); i++) print_man_entry(f, tools[i].name, tools[i].help);
  fprintf(f, ".SH SUBCOMMANDS\n");
  for (unsigned i = 0; i < cli_nsubcommands; i++)
    print_man_entry(f, cli_subcommands[i].usage, cli_subcommands[i].help);
  fprintf(f, ".SH EXIT STATUS\n");
  for (size_t i = 0; i < ARRAY_LEN(exit_codes); i++)
    print_man_entry(f, exit_codes[i].code, exit_codes[i].meaning);
}
