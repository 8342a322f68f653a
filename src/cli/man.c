// The manual page: what help.c prints, as troff.
#include "cli/cli.h"

// troff takes - as a hyphen.
static void print_troff(FILE *f, const char *text) {
  for (const char *p = text; *p; p++) {
    if (*p == '-') fputs("\\-", f);
    else if (*p == '\\') fputs("\\e", f);
    else if (strncmp(p, "…", 3) == 0) {
      fputs("...", f);
      p += 2;
    } else fputc(*p, f);
  }
}

static void print_entry(FILE *f, const char *left, const char *right) {
  fprintf(f, ".TP\n\\fB");
  print_troff(f, left);
  fprintf(f, "\\fR\n");
  print_troff(f, right);
  fputc('\n', f);
}

// variable: the environment variable of the same meaning, or NULL
static void print_option(FILE *f, const OptionInfo *info, const char *variable) {
  Str left = {0}, right = {0};
  cli_describe_option(info, &left, &right);
  if (variable) str_printf(&right, " [%s]", variable);
  print_entry(f, left.data, right.data);
  str_free(&left);
  str_free(&right);
}

static void print_options(FILE *f) {
  fprintf(f, ".SH OPTIONS\nEvery option has an environment variable, named in brackets.\n");
  const char *heading = "";
  EACH_OPTION(id) {
    char variable[64];
    if (cli_begins_heading(id, &heading)) fprintf(f, ".SS %s\n", heading);
    options_variable(id, variable, sizeof variable);
    print_option(f, &options_table[id], variable);
  }
}

static void print_rows(FILE *f, const char *heading, const CliRow *rows) {
  fprintf(f, ".SH %s\n", heading);
  for (; rows->left; rows++) print_entry(f, rows->left, rows->right);
}

static void print_usage(FILE *f, const CliSubcommand *s) {
  Str usage = {0};
  cli_usage(s, &usage);
  fprintf(f, "\\fBwarpgrind\\fR ");
  print_troff(f, usage.data);
  fputc('\n', f);
  str_free(&usage);
}

static void print_subcommand(FILE *f, const CliSubcommand *s) {
  Str text = {0};
  fprintf(f, ".SS ");
  print_troff(f, s->name);
  fputc('\n', f);
  print_usage(f, s);
  fprintf(f, ".PP\n");
  cli_add_text(s->summary, &text);
  print_troff(f, text.data);
  fprintf(f, ".\n");
  text.len = 0;
  if (s->details) {
    cli_add_text(s->details, &text);
    print_troff(f, text.data);
    fputc('\n', f);
  }
  str_free(&text);
  for (size_t i = 0; i < CLI_OPTIONS; i++)
    if (cli_has_option(s, &cli_options[i])) print_option(f, &cli_options[i].info, NULL);
}

void cli_print_man(FILE *f) {
  fprintf(f, ".TH WARPGRIND 1 \"\" \"warpgrind %s\" \"User Commands\"\n", WARPGRIND_VERSION);
  fprintf(f, ".SH NAME\nwarpgrind \\- run and check CUDA programs, with or without a GPU\n");
  fprintf(f, ".SH SYNOPSIS\n\\fBwarpgrind\\fR [\\fIoptions\\fR] [\\-\\-] \\fIprogram\\fR "
             "[\\fIarguments\\fR...]\n");
  for (size_t i = 0; i < CLI_SUBCOMMANDS; i++) {
    if (cli_subcommands[i].flags & UNLISTED) continue;
    fprintf(f, ".br\n");
    print_usage(f, &cli_subcommands[i]);
  }
  fprintf(f, ".SH DESCRIPTION\n");
  print_troff(f, cli_intro);
  fprintf(f, "\nThe program is an ordinary one, built by nvcc or using the driver API; it is not "
             "changed.\n");
  print_options(f);
  print_rows(f, "TOOLS", cli_tools);
  fprintf(f, ".SH SUBCOMMANDS\n");
  for (size_t i = 0; i < CLI_SUBCOMMANDS; i++)
    if (!(cli_subcommands[i].flags & UNLISTED)) print_subcommand(f, &cli_subcommands[i]);
  print_rows(f, "EXIT STATUS", cli_exit_codes);
}
