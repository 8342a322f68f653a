// initcheck inside the command: where a value came from, what depends on it, and which copies to
// the host contain one.
#include "base/json.h"
#include "report/report.h"
#include "tools/initcheck/abi.h"
#include "tools/initcheck/kinds.h"
#include "tools/report.h"

// --- findings as they arrive ---
// extra[0]: see WG_INIT_BRANCH
static bool receive(const RunProcess *p, const WgFinding *record, RunFinding *f) {
  uint64_t where = record->extra[0];
  f->origin = run_site_numbered(p, (uint32_t)where);
  f->source = where >> 32 ? run_site_numbered(p, (where >> 32) - 1) : NULL;
  return true;
}

// Finds the last store before the copy: to the same address, or else to the same allocation.
static RunFinding *store_into(const Run *r, const RunFinding *f) {
  RunFinding *best = NULL;
  for (uint32_t i = 0; i < r->explanations.len; i++) {
    RunFinding *s = r->explanations.data[i];
    if (s->kind->number != KIND_UNINIT_STORE || s->process != f->process ||
        s->value[0] - f->allocation->base >= f->allocation->size)
      continue;
    if (s->launch_number <= f->allocation->born || s->launch_number > f->last_launch) continue;
    bool same = s->value[0] == f->address, was = best && best->value[0] == f->address;
    if (!best || same > was || (same == was && s->launch_number >= best->launch_number)) best = s;
  }
  return best;
}

// If one call copies several times what one store wrote to memory of one allocation site, that is
// one finding.
static bool is_repeat(Run *r, StrMap *firsts, RunFinding *f) {
  char key[96];
  snprintf(key, sizeof key, "%u %u %u", f->stack ? f->stack->id : 0, f->site ? f->site->id : 0,
           f->allocation->stack ? f->allocation->stack->id : 0);
  RunFinding *first = strmap_get(firsts, key);
  if (first) first->count += f->count;
  else strmap_put(firsts, arena_strdup(&r->arena, key), f);
  return first;
}

// Finds the store that explains each copy to the host.
static void settle(Run *r, RunFinding *const *list, bool *reported, uint32_t n) {
  StrMap firsts = {0};
  for (uint32_t i = 0; i < n; i++) {
    RunFinding *f = list[i], *s = store_into(r, f);
    if (s) {
      f->site = s->site;
      f->kernel = s->kernel;
      f->origin = s->origin;
      f->source = s->source;
    }
    reported[i] = !is_repeat(r, &firsts, f);
  }
  strmap_free(&firsts);
}

// --- reports ---
static bool is_use(const RunFinding *f) { return f->kind->number == KIND_UNINIT_USE; }
static bool is_copy(const RunFinding *f) {
  return !f->has_thread && (is_use(f) || f->kind->number == KIND_UNINIT_COPY);
}

static bool detail(const RunFinding *f, Str *out) {
  static const char *const words[] = {
      [WG_INIT_BRANCH] = ": a branch depends on it",
      [WG_INIT_ADDRESS] = ": an address is computed from it",
      [WG_INIT_WARP] = ": an operation of the whole {warp} or {block} depends on it",
      [WG_INIT_OTHER] = ""};
  if (is_copy(f)) {
    if (f->size)
      str_printf(out, ": %llu byte%s", (unsigned long long)f->size, f->size == 1 ? "" : "s");
    return true;
  }
  if (!is_use(f)) return false;
  if (f->value[0] < ARRAY_LEN(words)) words_add(out, report_words(f), words[f->value[0]]);
  return true;
}

// Reports where the value was read, and which malloc made its memory.
static void describe(Run *r, const RunFinding *f, Str *out) {
  const RunSite *s = f->origin;
  if (!s || !is_use(f)) return;
  str_add(out, "  read");
  if (!f->address && s->space)
    str_printf(out, " from %s memory", words_space(report_words(f), s->space));
  report_add_site(r, s, out);
  str_addc(out, '\n');
  if (!f->source) return;
  str_add(out, "  from memory that malloc returned");
  report_add_site(r, f->source, out);
  str_addc(out, '\n');
}

// ,"depends":…,"origin":{…}
static void json(Run *r, const RunFinding *f, Str *out) {
  static const char *const depends[] = {[WG_INIT_BRANCH] = "branch",
                                        [WG_INIT_ADDRESS] = "address",
                                        [WG_INIT_WARP] = "warp operation",
                                        [WG_INIT_OTHER] = "other"};
  if (!is_use(f) || !f->has_thread) return;
  if (f->value[0] < ARRAY_LEN(depends)) json_text(out, "depends", depends[f->value[0]]);
  const RunSite *s = f->origin;
  if (!s) return;
  json_open(out, "origin", '{');
  report_json_site(r, s, out);
  json_text(out, "space", s->space);
  if (f->source) {
    json_open(out, "malloc", '{');
    report_json_site(r, f->source, out);
    str_addc(out, '}');
  }
  str_addc(out, '}');
}

const ToolReport tool_report_initcheck = {.library_calls = true,
                                          .receive = receive,
                                          .settle = settle,
                                          .detail = detail,
                                          .describe = describe,
                                          .json = json};
