// count: how often every instruction is executed, by how many threads and how many warps. The
// weaving is weave/execution_counts.c, which other tools share.
#include "weave/execution_counts.h"

static void weave(Body *b) { execution_counts_weave(b); }

static bool end(Program *p, Error *err) { return execution_counts_end(p); }

const Pass pass_count = {
    .begin = execution_counts_begin, .weave = weave, .end = end, .keeps_calls = true};
