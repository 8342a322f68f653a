// warpgrind diff A B: finds the first launch whose outputs differ between two runs (docs/diff.md),
// or compares the results of a tool (ToolDiff of tools/report.h).
#include "cli/cli.h"

#include <sys/stat.h>

#include "base/json.h"
#include "diff/diff.h"
#include "tools/report.h"

// CUT_SHORT: no difference up to where one of the recordings ends
enum { EQUAL, DIFFERENT, CANNOT, CUT_SHORT };

typedef struct Asked {
  DiffRules rules;
  bool all;
  uint32_t elements;
  const char *json;
} Asked;

static int refuse(const char *text) {
  fprintf(stderr, "warpgrind diff: %s\n", text);
  return CANNOT;
}

static bool read_arguments(const CliArguments *a, Asked *o, Error *err) {
  const char *nan = cli_value(a, CLI_DIFF_NAN), *zero = cli_value(a, CLI_DIFF_ZERO);
  const char *tolerance = cli_value(a, CLI_DIFF_TOLERANCE);
  if (nan && !strcmp(nan, "bits")) o->rules.nan = DIFF_NAN_BITS;
  if (nan && !strcmp(nan, "differ")) o->rules.nan = DIFF_NAN_DIFFERS;
  o->rules.zero_bits = zero && !strcmp(zero, "bits");
  o->rules.unordered = cli_value(a, CLI_DIFF_UNORDERED);
  o->all = cli_value(a, CLI_DIFF_ALL);
  o->json = cli_value(a, CLI_DIFF_JSON);
  return (!tolerance || diff_rules_tolerance(&o->rules, tolerance, err)) &&
         cli_number(a, CLI_DIFF_ELEMENTS, 0, CLI_MOST_ELEMENTS, &o->elements, err);
}

static void say_missing(const Diff *d, Str *text) {
  uint64_t only_a = 0, only_b = 0;
  const DiffStep *first_a = NULL, *first_b = NULL;
  for (uint32_t i = 0; i < d->pairs.len; i++) {
    const DiffPair *p = &d->pairs.data[i];
    if (diff_is_beyond(d, p)) continue;
    if (!p->b && !only_a++) first_a = p->a;
    if (!p->a && !only_b++) first_b = p->b;
  }
  const struct {
    uint64_t n;
    const DiffStep *first;
    const char *one, *other;
  } sides[] = {{only_a, first_a, "first", "second"}, {only_b, first_b, "second", "first"}};
  for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
    if (!sides[i].n) continue;
    str_printf(text, "%llu launch%s of the %s run ha%s no counterpart in the %s: the first is ",
               (unsigned long long)sides[i].n, sides[i].n == 1 ? "" : "es", sides[i].one,
               sides[i].n == 1 ? "s" : "ve", sides[i].other);
    diff_step_name(sides[i].first, text);
    str_add(text, "\n");
  }
}

static void begin_json(Str *json, const DiffRun *a, const DiffRun *b) {
  str_add(json, "{\"version\":1");
  json_text(json, "a", a->path);
  json_text(json, "b", b->path);
  json_text(json, "device_a", a->device);
  json_text(json, "device_b", b->device);
  str_add(json, ",\"differences\":[");
}

static void end_json(Str *json, const Diff *d, int code) {
  str_add(json, "],\"unmatched\":[");
  bool first = true;
  for (uint32_t i = 0; i < d->pairs.len; i++) {
    const DiffPair *p = &d->pairs.data[i];
    if ((p->a && p->b) || diff_is_beyond(d, p)) continue;
    if (!first) str_addc(json, ',');
    first = false;
    str_printf(json, "{\"run\":\"%s\",\"step\":", p->a ? "a" : "b");
    diff_step_json(p->a ? p->a : p->b, json);
    str_addc(json, '}');
  }
  str_add(json, "]");
  json_number(json, "buffers", d->buffers);
  json_number(json, "equal_buffers", d->equal);
  json_number(json, "buffers_within_tolerance", d->within);
  json_number(json, "different_buffers", d->different);
  json_number(json, "buffers_not_compared", d->not_compared);
  json_number(json, "buffers_not_hashed", d->left_out);
  json_number(json, "launches_beyond_cut", d->beyond);
  json_number(json, "exit_code", (uint64_t)code);
  str_add(json, "}\n");
}

// Names buffers that were not compared, one for each reason.
static void say_skipped(const DiffResult *r, StrMap *reasons, Str *text) {
  for (uint32_t i = 0; i < r->n; i++) {
    const DiffBufferResult *b = &r->buffers[i];
    if (b->outcome != DIFF_NOT_COMPARED || strmap_get(reasons, b->why)) continue;
    strmap_put(reasons, b->why, (void *)r);
    diff_buffer_name(b->a, i, text);
    str_add(text, " after ");
    diff_step_name(r->pair.a, text);
    str_printf(text, " was not compared: %s\n", b->why);
  }
}

// Launches without hashes precede `s`: any of them may be the first that differs.
static void say_range(const DiffStep *since, const DiffStep *s, Str *text) {
  if (s->launch)
    str_printf(text,
               "    not all launches before it were hashed: the first that differs is one of the "
               "launches %u to %u. --hash=every, in both runs, tells which\n",
               since->launch, s->launch);
  else
    str_printf(text,
               "    not all launches before it were hashed: launch %u, or one behind it, may be "
               "the first that differs. --hash=every, in both runs, tells which\n",
               since->launch);
}

static int compare(const Asked *o, const DiffRun *a, const DiffRun *b) {
  Diff d = {.rules = o->rules, .most_shown = o->elements};
  Str text = {0}, json = {0}, skipped = {0};
  StrMap reasons = {0};
  uint64_t launches = 0, different = 0;
  diff_match(&d, a, b);
  if (!a->complete || a->first_cut || d.beyond) diff_cut_text(a, &text);
  if (!b->complete || b->first_cut || d.beyond) diff_cut_text(b, &text);
  begin_json(&json, a, b);
  for (uint32_t i = 0; i < d.pairs.len; i++) {
    const DiffPair *p = &d.pairs.data[i];
    if (!p->a || !p->b || diff_is_beyond(&d, p)) continue;
    DiffResult r;
    diff_compare(&d, *p, &r);
    launches++;
    say_skipped(&r, &reasons, &skipped);
    bool is_first = r.different && !different++;
    const DiffStep *since = is_first ? diff_first_unseen(&d) : NULL;
    if (is_first)
      str_add(&text, since ? "the first launch whose outputs were found to differ is "
                           : "the first launch whose outputs differ is ");
    if (r.different && (is_first || o->all)) {
      diff_result_text(&d, &r, &text);
      if (since) say_range(since, p->a, &text);
      if (json.data[json.len - 1] != '[') str_addc(&json, ',');
      diff_result_json(&r, &json);
      if (since) {
        json.len--;
        json_number(&json, "not_hashed_since", since->launch);
        str_addc(&json, '}');
      }
    }
    diff_result_free(&r);
  }
  bool nothing = !d.equal && !d.within && !d.different;
  int code = different || d.first_unmatched != UINT32_MAX ? DIFFERENT
             : nothing                                    ? CANNOT
             : d.beyond                                   ? CUT_SHORT
                                                          : EQUAL;
  if (different > 1 && !o->all)
    str_printf(&text, "%llu more launch%s (--all lists %s)\n", (unsigned long long)(different - 1),
               different == 2 ? " differs" : "es differ", different == 2 ? "it" : "them");
  say_missing(&d, &text);
  if (skipped.len) str_add(&text, skipped.data);
  if (d.beyond) {
    str_printf(&text, "%llu launch%s not compared: recording was cut short in one of the runs",
               (unsigned long long)d.beyond, d.beyond == 1 ? " was" : "es were");
    str_add(&text, code == CUT_SHORT ? "; before that nothing differs\n" : "\n");
  }
  str_printf(&text, "%llu launches and %llu buffers compared: %llu are the same",
             (unsigned long long)launches,
             (unsigned long long)(d.buffers - d.not_compared - d.left_out),
             (unsigned long long)d.equal);
  if (d.within) str_printf(&text, ", %llu by the rules", (unsigned long long)d.within);
  str_printf(&text, ", %llu differ", (unsigned long long)d.different);
  if (d.not_compared)
    str_printf(&text, ", %llu were not compared", (unsigned long long)d.not_compared);
  if (d.left_out) str_printf(&text, ", %llu were not hashed", (unsigned long long)d.left_out);
  str_add(&text, "\n");
  end_json(&json, &d, code);
  bool json_out = o->json && !strcmp(o->json, "-");
  fputs(text.data, json_out ? stderr : stdout);
  Error err = {{0}};
  if (json_out) fputs(json.data, stdout);
  else if (o->json && (!cli_may_overwrite(o->json, NULL, &err) ||
                       !file_write(o->json, json.data, json.len, &err)))
    code = cli_fail_as("warpgrind diff", EXIT_WARPGRIND, "%s.", err.text);
  if (code == CANNOT && !err.text[0]) refuse("no buffer could be compared.");
  str_free(&text);
  str_free(&json);
  str_free(&skipped);
  strmap_free(&reasons);
  diff_free(&d);
  return code;
}

static int diff_runs(const CliArguments *args) {
  Asked o = {.elements = 10};
  Error err = {{0}};
  DiffRun a, b;
  if (!read_arguments(args, &o, &err) || !diff_run_load(args->words.data[0], &a, &err))
    return refuse(err.text);
  if (!diff_run_load(args->words.data[1], &b, &err)) {
    diff_run_free(&a);
    return refuse(err.text);
  }
  if (cli_value(args, CLI_DIFF_VIEW)) return cli_view_two(args->words.data[0], args->words.data[1]);
  int code = compare(&o, &a, &b);
  if (!diff_recording_is_whole(&a, &err) || !diff_recording_is_whole(&b, &err))
    code = refuse(err.text);
  diff_run_free(&a);
  diff_run_free(&b);
  return code;
}

// --- what a tool found ---

// The comparison of this option; option NULL: the first of the table. NULL: there is none.
static const ToolDiff *find_tool(const char *option) {
  const ToolReport *tool;
  for (unsigned t = 0; (tool = tool_report_at(t)); t++)
    if (tool->diff && (!option || !strcmp(tool->diff->option, option))) return tool->diff;
  return NULL;
}

static const char *name_given(const CliArguments *a, uint32_t i) {
  return cli_options[a->given.data[i].id].info.name;
}

static const ToolDiff *find_given(const CliArguments *a) {
  const ToolDiff *tool = NULL;
  for (uint32_t i = 0; !tool && i < a->given.len; i++) tool = find_tool(name_given(a, i));
  return tool;
}

static int diff_findings(const CliArguments *a, const ToolDiff *tool) {
  Error err = {{0}};
  for (uint32_t i = 0; i < a->given.len; i++)
    if (strcmp(name_given(a, i), tool->option))
      return cli_misuse(a->subcommand, "--%s is for outputs of launches; here %s are compared.",
                        name_given(a, i), tool->things);
  int code = tool->compare(a->words.data[0], a->words.data[1], &err);
  return code < 0 ? cli_misuse(a->subcommand, "%s", err.text) : code;
}

// A pipe can only be a report; reading from it here would consume it.
static bool is_report(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) return false;
  if (!S_ISREG(st.st_mode)) return !S_ISDIR(st.st_mode);
  FILE *f = fopen(path, "rb");
  int c = ' ';
  while (f && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) c = fgetc(f);
  if (f) fclose(f);
  return c == '{';
}

int cli_diff(const CliArguments *a) {
  bool is_first = is_report(a->words.data[0]), is_second = is_report(a->words.data[1]);
  const ToolDiff *given = find_given(a), *any = find_tool(NULL);
  if (given) return diff_findings(a, given);
  if (any && is_first && is_second) return diff_findings(a, any);
  if (any && is_first != is_second)
    return cli_misuse(a->subcommand,
                      "%s is a report and %s is not: two run files are compared, or two reports "
                      "(--%s: one of each).",
                      a->words.data[is_first ? 0 : 1], a->words.data[is_first ? 1 : 0],
                      any->option);
  return diff_runs(a);
}

#define DIFF(id, option, help) \
  int cli_##id##_diff(const CliArguments *a) { return diff_findings(a, find_tool(option)); }
#include "tool_diffs.def"
#undef DIFF
