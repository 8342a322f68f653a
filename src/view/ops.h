// Operations as JSON, for the endpoints that answer with them; ops.c.
#ifndef WG_VIEW_OPS_H
#define WG_VIEW_OPS_H

#include "view/internal.h"

// "ops":[…],"more":…; races: for each, or NULL
void view_list_json(ViewDesk *d, ViewFacts *facts, const TraceOps *ops, const bool *races,
                    Str *out);
// For each whether it is unordered with another of the list, as far as a short search tells. To be
// freed
bool *view_find_races(ViewDesk *d, const TraceOps *ops);

// view_others_of: operations on the same bytes, in the launch or in the block's shared memory.
// view_sites_of_code: the recorder's own sites of the same instruction as this site.
enum { VIEW_SITES = 64 };
uint32_t view_sites_of_code(ViewDesk *d, uint64_t site, uint32_t *out);
bool view_others_of(ViewDesk *d, const TraceOp *op, uint64_t threads_of_block, TraceOps *out,
                    Error *err);

#endif
