// Numbers that tools have measured: kept for reports, and saved as they come.
#include "run/internal.h"

RunMeasure *run_add_measure(Run *r, const RunMeasure *m) {
  if (r->measures.len == RUN_MEASURES_KEPT) {
    if (!r->counts_full)
      run_add_note(r, NULL, SEVERITY_WARNING,
                   "more than %d measured places and calls: the others are left out",
                   (int)RUN_MEASURES_KEPT);
    r->counts_full = true;
    return NULL;
  }
  RunMeasure *kept = ARENA_NEW(&r->arena, RunMeasure);
  *kept = *m;
  kept->what = run_text(r, m->what);
  kept->kernel = run_text(r, m->kernel);
  kept->file = run_text(r, m->file);
  kept->text = run_text(r, m->text);
  vec_push(&r->measures, kept);
  return kept;
}

void run_save_measure(Run *r, const RunMeasure *m) {
#define V(i) (int64_t) m->v[i]
  run_save(r, TABLE_measure, "iitttitiiiiiiiiiiiiiiiiiiii", (int64_t)++r->last_id,
           (int64_t)m->process, m->what, m->kernel, m->file, (int64_t)m->line, m->text, V(0), V(1),
           V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9), V(10), V(11), V(12), V(13), V(14), V(15),
           V(16), V(17), V(18), V(19));
#undef V
}
