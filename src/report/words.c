// Terms for threads and memory, by the launch's API.
#include "report/report.h"

const ApiWords *report_words(const RunFinding *f) { return api_words(f->api); }

void report_kind_title(const ApiWords *w, const Kind *k, Str *out) { words_add(out, w, k->title); }
