// By how much a launch's results may differ between a GPU and the virtual device. Arithmetic is the
// same on both, bit by bit. Exceptions are instructions that only promise an approximation, and
// results that depend on the order of threads.
#include "diff/diff.h"

#include <math.h>

// Later instructions of a kernel enlarge the error of an approximation.
enum { ROOM = 16 };
// Sums whose order is not known, and launches whose inputs differed already: relative to the larger
// of two numbers.
#define LOOSE 1e-4

static void loosen(DiffRules *r, double relative, double absolute) {
  r->has_tolerance = true;
  r->relative = fmax(r->relative, relative);
  r->absolute = fmax(r->absolute, absolute);
}

void diff_gold_rules(const DiffGold *g, const DiffRun *run, const DiffStep *s, DiffRules *out,
                     Str *why) {
  const DiffNumerics *n = s->launch ? s->numerics : &run->any;
  *out = (DiffRules){.nan = DIFF_NAN_EQUAL};
  if (n && n->approximate) {
    loosen(out, n->relative * ROOM, n->absolute * ROOM);
    str_printf(why, "%sit uses approximate instructions (%s): %.2g relative", why->len ? "; " : "",
               n->approximate, n->relative * ROOM);
    if (n->absolute > 0) str_printf(why, " or %.2g absolute", n->absolute * ROOM);
    str_add(why, " is allowed");
  }
  if (n && n->order) {
    loosen(out, LOOSE, 0);
    str_printf(why, "%sit depends on the order of threads (%s): %g relative is allowed",
               why->len ? "; " : "", n->order, LOOSE);
  }
  if (g->inherits) {
    loosen(out, LOOSE, n ? n->absolute * ROOM : 0);
    str_printf(why,
               "%searlier results differed within their limits, first at launch %u: %g "
               "relative is allowed",
               why->len ? "; " : "", g->since, LOOSE);
  }
  if (!g->has_asked) return;
  out->has_tolerance = true;
  out->ulps = MAX(out->ulps, g->asked.ulps);
  loosen(out, g->asked.relative, g->asked.absolute);
  str_printf(why, "%s--tolerance is allowed", why->len ? "; " : "");
}
