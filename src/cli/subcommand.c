// The table of subcommands: what there is, and how each is called.
#include "cli/subcommand.h"

#include "base/suggest.h"
#include "tools/report.h"

const CliSubcommand cli_subcommands[CLI_SUBCOMMANDS] = {
#define SUBCOMMAND(id, name, arguments, error, flags, summary, details) \
  {name, arguments, error, flags, summary, details, cli_##id},
#define OPTION(...)
#define REQUIRED(...)
#include "cli/subcommands.def"
#undef SUBCOMMAND
#undef OPTION
#undef REQUIRED
};

#define INFO(name, letter, kind, value, initial, help) \
  { name, letter, OPTION_##kind, value, initial, 0, help }
const CliOption cli_options[CLI_OPTIONS] = {
#define SUBCOMMAND(...)
#define OPTION(subcommand, id, ...) {INFO(__VA_ARGS__), CLI_SUBCOMMAND_##subcommand, false},
#define REQUIRED(subcommand, id, ...) {INFO(__VA_ARGS__), CLI_SUBCOMMAND_##subcommand, true},
#include "cli/subcommands.def"
#undef SUBCOMMAND
#undef OPTION
#undef REQUIRED
};

const CliSubcommand *cli_find_subcommand(const char *name) {
  for (size_t i = 0; i < CLI_SUBCOMMANDS; i++)
    if (strcmp(cli_subcommands[i].name, name) == 0) return &cli_subcommands[i];
  return NULL;
}

const char *cli_guess_subcommand(const char *word) {
  Suggestion guess = suggest_begin(word, strlen(word));
  for (size_t i = 0; i < CLI_SUBCOMMANDS; i++) suggest_consider(&guess, cli_subcommands[i].name);
  return guess.best;
}

bool cli_has_option(const CliSubcommand *s, const CliOption *o) {
  return s == &cli_subcommands[o->subcommand];
}

bool cli_is_option(const OptionInfo *info, const char *arg, size_t n) {
  if (arg[1] != '-') return info->letter && arg[1] == info->letter && n == 2;
  return strlen(info->name) == n - 2 && !strncmp(info->name, arg + 2, n - 2);
}

// mark: ", or summary" or ", or files"
static void add_diffs(const char *mark, Str *out) {
  const ToolReport *tool;
  for (unsigned t = 0; (tool = tool_report_at(t)); t++)
    if (tool->diff)
      str_printf(out, ", or %s", strstr(mark, "files") ? tool->diff->files : tool->diff->summary);
}

void cli_add_text(const char *text, Str *out) {
  const char *mark, *end;
  for (; (mark = strchr(text, '{')) && (end = strchr(mark, '}')); text = end + 1) {
    char name[32];
    str_addn(out, text, (size_t)(mark - text));
    snprintf(name, sizeof name, "%.*s", (int)(end - mark - 1), mark + 1);
    add_diffs(name, out);
  }
  str_add(out, text);
}

void cli_usage(const CliSubcommand *s, Str *out) {
  bool optional = s->flags & RUN_OPTIONS;
  str_add(out, s->name);
  for (size_t i = 0; i < CLI_OPTIONS; i++) {
    const CliOption *o = &cli_options[i];
    if (!cli_has_option(s, o)) continue;
    if (o->required) str_printf(out, " --%s=%s", o->info.name, o->info.argument);
    else optional = true;
  }
  if (optional) str_add(out, " [options]");
  if (*s->arguments) str_printf(out, " %s", s->arguments);
}

bool cli_next_placeholder(const char **at, CliPlaceholder *out) {
  static const char dots[] = "…";
  const char *p = *at + strspn(*at, " ");
  size_t n = strcspn(p, " ");
  *at = p + n;
  *out = (CliPlaceholder){.name = p, .length = n};
  if (!n) return false;
  if (*p == '[') {
    out->optional = true;
    out->name++;
    out->length -= 2;
  }
  size_t end = out->length;
  if (end >= sizeof dots - 1 && !memcmp(out->name + end + 1 - sizeof dots, dots, sizeof dots - 1)) {
    out->repeats = true;
    out->length -= sizeof dots - 1;
  }
  return true;
}
