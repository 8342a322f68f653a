// Where an instruction is in the source: its .loc and the chain of places it was inlined at.
#include "weave/pass.h"

uint32_t weave_places(Arena *a, const PtxModule *m, const PtxLoc *loc, const SitePlace **out) {
  uint32_t n = 0;
  for (const PtxLoc *l = loc; l && l->file; l = l->inlined_at) n++;
  *out = NULL;
  if (!n) return 0;
  SitePlace *places = ARENA_ARRAY(a, SitePlace, n);
  *out = places;
  for (const PtxLoc *l = loc; l && l->file; l = l->inlined_at) {
    const char *path = ptx_file_path(m, l->file);
    *places++ = (SitePlace){
        .file = path ? arena_strdup(a, path) : NULL,
        .function = l->function_name ? arena_strdup(a, l->function_name) : NULL,
        .line = l->line,
        .column = l->column,
    };
  }
  return n;
}
