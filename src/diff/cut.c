// Finds the point up to which a run file is complete: recording may have been cut short (the
// command or the program was killed, the disk was full, a limit was reached). Launches beyond that
// point are not compared, and are no difference.
#include "diff/diff.h"

#include "base/hash_option.h"

static bool has_state(const DiffStep *s, const char *state) {
  for (uint32_t i = 0; i < s->nbuffers; i++)
    if (s->buffers[i].state && !strcmp(s->buffers[i].state, state)) return true;
  return false;
}

// Steps of a process are numbered without gaps. hashed: each has rows of its own, which come in any
// order.
static bool is_gap(const DiffRun *r, uint32_t i) {
  bool first = !i || r->steps[i - 1].process != r->steps[i].process;
  return r->steps[i].number != (first ? 1 : r->steps[i - 1].number + 1);
}

void diff_find_cuts(DiffRun *r, bool hashed) {
  bool cut = false;
  for (uint32_t i = 0; i < r->nsteps; i++) {
    DiffStep *s = &r->steps[i];
    if (!i || r->steps[i - 1].process != s->process) cut = false;
    // Behind a gap the n-th launch of a kernel may be another one.
    cut |= s->cut || (hashed && !r->ended && is_gap(r, i));
    s->cut = cut || has_state(s, HASH_PROCESS_ENDED) || (!r->complete && has_state(s, HASH_CUT));
    if (s->cut && !r->first_cut) r->first_cut = s;
  }
}

bool diff_is_beyond(const Diff *d, const DiffPair *p) {
  if (p->a && p->b) return p->a->cut || p->b->cut;
  const DiffRun *missing_in = p->a ? d->b : d->a;
  return !missing_in->ended || (p->a ? p->a : p->b)->cut;
}

void diff_cut_text(const DiffRun *r, Str *out) {
  if (!r->complete)
    str_printf(
        out, "%s was not finished: it holds what was known when the warpgrind command was ended\n",
        r->path);
  else if (!r->ended)
    str_printf(
        out,
        "%s: a process of the program ended without notice, or still ran when recording ended\n",
        r->path);
  if (!r->first_cut) return;
  str_printf(out, "%s: recording was cut short: what ", r->path);
  diff_step_name(r->first_cut, out);
  str_add(out, " wrote is not in it\n");
}
