// fpcheck's options, for its pass.
#include "tools/fpcheck/internal.h"
#include "tools/fpcheck/options.h"

bool fpcheck_parse_kinds(const char *list, unsigned *kinds, Error *err) {
  static const struct {
    const char *name;
    unsigned bit;
  } names[] = {
      {"nan", WG_FP_NAN}, {"inf", WG_FP_INF}, {"div0", WG_FP_DIV0}, {"sub", WG_FP_SUBNORMAL}};
  *kinds = 0;
  for (const char *p = list;; p++) {
    size_t n = strcspn(p, ","), i = 0;
    while (i < ARRAY_LEN(names) && (strlen(names[i].name) != n || memcmp(names[i].name, p, n))) i++;
    if (i == ARRAY_LEN(names))
      return error_set(err, "--fp: there is no exception '%.*s'. They are nan, inf, div0 and sub",
                       (int)n, p);
    *kinds |= names[i].bit;
    p += n;
    if (!*p) return true;
  }
}

unsigned fp_options(const Options *o, const WeavePlan *plan) {
  unsigned kinds = 0;
  Error err;
  bool follow = options_flag(o, OPT_FP_FLOW);
  fpcheck_parse_kinds(options_text(o, OPT_FP), &kinds, &err);  // host.c reports the error
  return kinds | (follow ? FP_FOLLOWS : 0) |
         (follow || options_is(o, OPT_FP_MODE, "full") ? FP_TESTS_ALL : 0);
}
