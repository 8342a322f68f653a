// fpcheck inside the command.
#include "base/json.h"
#include "report/report.h"
#include "tools/fpcheck/options.h"
#include "tools/fpcheck/report.h"
#include "tools/report.h"

// Reads extra[0] of an fp-input: the writer of the value, as in WgFpMemory; 0: not known
static bool receive(const RunProcess *p, const WgFinding *record, RunFinding *f) {
  if (f->kind->parts & HAS_DETAIL) f->size = wg_fp_bytes(record->size);
  if (f->kind->parts & HAS_ORIGIN && record->extra[0])
    f->origin = run_site_numbered(p, WG_FP_WRITER_SITE(record->extra[0]));
  return true;
}

// A sink of fast mode sends no records.
static const Kind *counted(const RunSite *s) {
  return s->classes & WG_FP_SITE_SINK ? kind_numbered(KIND_FP_REACHED) : NULL;
}

// Copies to the host: an infinity that no kernel computed was put there on purpose.
static void settle(Run *r, RunFinding *const *f, bool *reported, uint32_t n) {
  StrMap makers = {0};
  fp_report_makers(r, &makers);
  for (uint32_t i = 0; i < n; i++)
    reported[i] = f[i]->kernel && strmap_get(&makers, f[i]->kernel->name);
  strmap_free(&makers);
}

static void verdicts(Run *r, Str *out) {
  fp_report_verdicts(r, out);
  fp_report_table(r, out);
}

static const RunKernel *writer_of(const Run *r, const RunFinding *f) {
  for (uint32_t i = 0; i < r->kernels.len; i++)
    if (r->kernels.data[i]->process == f->process && f->origin->function &&
        !strcmp(r->kernels.data[i]->name, f->origin->function))
      return r->kernels.data[i];
  return NULL;
}

// Who stored what the finding read.
static void describe(Run *r, const RunFinding *f, Str *out) {
  if (!f->origin) return;
  const RunKernel *k = writer_of(r, f);
  bool near = (f->extra[0] & 3) == WG_FP_WRITER_PAGE;
  uint32_t launch = WG_FP_WRITER_LAUNCH(f->extra[0]);
  str_printf(out, "  %s by launch %u%s", near ? "an exception was stored around there" : "stored",
             launch, launch == f->launch_number ? " itself" : "");
  if (k) words_printf(out, report_words(f), ", {kernel} %s", k->readable);
  if (f->origin->nplaces) {
    uint32_t i = report_main_place(f->origin);
    str_printf(out, ", at " REPORT_BOLD "%s:%u" REPORT_PLAIN,
               report_path(f->origin->places[i].file), f->origin->places[i].line);
  } else if (f->origin->ptx_line) str_printf(out, ", at line %u of the PTX", f->origin->ptx_line);
  str_addc(out, '\n');
}

static void json(Run *r, const RunFinding *f, Str *out) {
  fp_report_numbers_json(f, out);
  if (!f->origin) return;
  const RunKernel *k = writer_of(r, f);
  json_open(out, "origin", '{');
  json_number(out, "launch", WG_FP_WRITER_LAUNCH(f->extra[0]));
  json_text(out, "kernel", k ? k->readable : NULL);
  if (f->origin->nplaces) {
    uint32_t i = report_main_place(f->origin);
    json_text(out, "file", f->origin->places[i].file);
    json_number(out, "line", f->origin->places[i].line);
  } else json_number(out, "ptx_line", f->origin->ptx_line);
  json_text(out, "certainty", (f->extra[0] & 3) == WG_FP_WRITER_PAGE ? "page" : "word");
  str_addc(out, '}');
}

static bool check_options(Options *o, Error *err) {
  unsigned kinds;
  if (!fpcheck_parse_kinds(options_text(o, OPT_FP), &kinds, err)) return false;
  return !options_flag(o, OPT_FP_RERUN) || strstr(options_text(o, OPT_TOOL), "fpcheck") ||
         error_set(err, "--fp-rerun is for --tool=fpcheck.");
}

static bool asks_rerun(const Options *o) { return options_flag(o, OPT_FP_RERUN); }

static void prepare_rerun(void) {
  char variable[64];
  options_variable(OPT_FP_MODE, variable, sizeof variable);
  setenv(variable, "full", 1);
}

static const ToolRerun rerun = {.option = "fp-rerun",
                                .manner = "tested at every instruction",
                                .asked = asks_rerun,
                                .wants = fp_report_unexplained,
                                .prepare = prepare_rerun};

static const ToolDiff diff = {.option = "fp",
                              .things = "floating-point exceptions",
                              .summary = "what fpcheck found in each",
                              .files = "two reports of fpcheck that --json wrote (docs/fpcheck.md)",
                              .compare = fp_report_diff};

const ToolReport tool_report_fpcheck = {.library_calls = true,
                                        .check_options = check_options,
                                        .receive = receive,
                                        .counted = counted,
                                        .settle = settle,
                                        .detail = fp_report_detail,
                                        .describe = describe,
                                        .json = json,
                                        .verdicts = verdicts,
                                        .rerun = &rerun,
                                        .diff = &diff};
