// Completion of a command line: lists the candidates for its last word, from the tables that the
// parsers use. Scripts of the shells (completion.c) ask for them and show them.
#include "cli/cli.h"

typedef struct Query {
  char **words;  // after the command's name; the last is being typed
  int n;
  const char *current;
} Query;

static const char run_arguments[] = "program [arguments…]";

// --- answers ---

// Prints the help up to the end of its first sentence or clause: a candidate has one line.
static void print_first_clause(const char *help) {
  for (const char *p = help; *p; p++) {
    if (strchr(".:;(", *p) && (!p[1] || p[1] == ' ' || *p == '(')) break;
    putchar(*p);
  }
}

static void offer(const Query *q, const char *prefix, size_t n, const char *word, size_t length,
                  const char *help) {
  Str text = {0};
  str_addn(&text, prefix, n);
  str_addn(&text, word, length);
  if (strncmp(text.data, q->current, strlen(q->current)) == 0) {
    printf("%s\t", text.data);
    print_first_clause(help);
    putchar('\n');
  }
  str_free(&text);
}

static void offer_word(const Query *q, const char *word, const char *help) {
  offer(q, "", 0, word, strlen(word), help);
}

static void offer_choices(const Query *q, const char *prefix, const char *list) {
  for (const char *p = list; *p; p += *p == '|') {
    size_t n = strcspn(p, "|");
    offer(q, prefix, strlen(prefix), p, n, "");
    p += n;
  }
}

static void offer_subcommands(const Query *q) {
  for (size_t i = 0; i < CLI_SUBCOMMANDS; i++) {
    Str summary = {0};
    if (cli_subcommands[i].flags & UNLISTED) continue;
    cli_add_text(cli_subcommands[i].summary, &summary);
    offer_word(q, cli_subcommands[i].name, summary.data);
    str_free(&summary);
  }
}

// Names before the last comma stay as they are.
static void offer_tools(const Query *q, const char *prefix) {
  const char *comma = strrchr(q->current, ',');
  size_t n = comma ? (size_t)(comma + 1 - q->current) : strlen(prefix);
  const char *before = comma ? q->current : prefix;
  for (const CliRow *t = cli_tools; t->left; t++)
    offer(q, before, n, t->left, strlen(t->left), t->right);
  if (comma) return;
  offer(q, before, n, "none", 4, "run the program unchanged");
  offer(q, before, n, "all", 3, "all checks");
}

static void offer_value(const Query *q, const OptionInfo *info, const char *prefix) {
  if (info->kind == OPTION_CHOICE) offer_choices(q, prefix, info->argument);
  else if (strcmp(info->name, "tool") == 0) offer_tools(q, prefix);
  else if (strcmp(info->argument, "FILE") == 0) puts(":files");
  else if (strncmp(info->argument, "FOLDER", 6) == 0) puts(":folders");
}

static void offer_option(const Query *q, const OptionInfo *info, bool alone) {
  Str text = {0};
  str_printf(&text, "--%s", info->name);
  if (alone) offer_word(q, text.data, info->help);
  str_addc(&text, '=');
  if (info->kind != OPTION_FLAG) offer_word(q, text.data, info->help);
  str_free(&text);
}

// --- options; s is NULL for a run ---

static bool takes_run_options(const CliSubcommand *s) { return !s || s->flags & RUN_OPTIONS; }

static void offer_options(const Query *q, const CliSubcommand *s) {
  for (size_t i = 0; s && i < CLI_OPTIONS; i++)
    if (cli_has_option(s, &cli_options[i]))
      offer_option(q, &cli_options[i].info, cli_options[i].info.kind == OPTION_FLAG);
  if (takes_run_options(s)) EACH_OPTION(id)
  offer_option(q, &options_table[id], options_implied(id) != NULL);
  offer_word(q, "--help", "Say how it is called");
  if (s) return;
  offer_word(q, "--version", "Print the version");
  offer_word(q, "--man", "Print the manual page");
}

// *alone: it needs no value
static const OptionInfo *find_option(const CliSubcommand *s, const char *arg, bool *alone) {
  size_t n = strcspn(arg, "=");
  for (size_t i = 0; s && i < CLI_OPTIONS; i++) {
    const OptionInfo *info = &cli_options[i].info;
    if (!cli_has_option(s, &cli_options[i]) || !cli_is_option(info, arg, n)) continue;
    *alone = info->kind == OPTION_FLAG;
    return info;
  }
  if (!takes_run_options(s)) return NULL;
  EACH_OPTION(id) {
    if (!cli_is_option(&options_table[id], arg, n)) continue;
    *alone = options_implied(id) != NULL;
    return &options_table[id];
  }
  return NULL;
}

// --- arguments ---

static bool is_named(const CliPlaceholder *p, const char *name) {
  return strlen(name) == p->length && !strncmp(p->name, name, p->length);
}

static void offer_argument(const Query *q, const char *arguments, unsigned number) {
  CliPlaceholder p = {0};
  for (unsigned i = 0; i <= number && !p.repeats; i++)
    if (!cli_next_placeholder(&arguments, &p)) return;
  Str name = {0};
  str_addn(&name, p.name, p.length);
  if (is_named(&p, "SUBCOMMAND")) offer_subcommands(q);
  else if (strchr(name.data, '|')) offer_choices(q, "", name.data);
  else if (is_named(&p, "program")) puts(":programs");
  else if (!is_named(&p, "TABLE") && !is_named(&p, "QUERY")) puts(":files");
  str_free(&name);
}

static void complete(const Query *q, const CliSubcommand *s) {
  bool options_first = !s || s->flags & OPTIONS_FIRST, options_end = false, alone = true;
  unsigned arguments = 0;
  for (int i = s ? 1 : 0; i < q->n - 1; i++) {
    const char *word = q->words[i];
    if (options_end || word[0] != '-' || !word[1]) {
      arguments++;
      options_end |= options_first;
    } else if (!strcmp(word, "--")) {
      options_end = true;
    } else {
      const OptionInfo *info = find_option(s, word, &alone);
      if (!info || alone || strchr(word, '=')) continue;
      if (++i < q->n - 1) continue;
      offer_value(q, info, "");
      return;
    }
  }
  const char *equals = strchr(q->current, '=');
  if (options_end || q->current[0] != '-') {
    if (!s && q->n == 1) offer_subcommands(q);
    offer_argument(q, s ? s->arguments : run_arguments, arguments);
  } else if (equals) {
    Str prefix = {0};
    const OptionInfo *info = find_option(s, q->current, &alone);
    str_addn(&prefix, q->current, (size_t)(equals + 1 - q->current));
    if (info && info->kind != OPTION_FLAG) offer_value(q, info, prefix.data);
    str_free(&prefix);
  } else {
    offer_options(q, s);
  }
}

int cli_complete(int argc, char **argv) {
  if (argc < 2) return 0;
  Query q = {.words = argv + 1, .n = argc - 1, .current = argv[argc - 1]};
  complete(&q, q.n > 1 ? cli_find_subcommand(q.words[0]) : NULL);
  return 0;
}
