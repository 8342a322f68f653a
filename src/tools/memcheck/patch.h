// memcheck in machine code: the exact test of every access that is in none of the launch's windows.
#ifndef WG_MEMCHECK_PATCH_H
#define WG_MEMCHECK_PATCH_H

#include "probe/closed_access.h"
#include "probe/report.c"
#include "tools/memcheck/probe_heap.c"
#include "tools/memcheck/probe_memory.c"

DEVICE void memcheck_patch(const WgClosed *c, const ClosedAccess *a) {
  uint32_t power = a->bytes && !(a->bytes & (a->bytes - 1)),
           align = power ? (uint32_t)__builtin_ctz(a->bytes) : 4,
           what = a->what | WG_WHERE_GENERIC << WG_WHAT_SPACE |
                  (align < 4 ? align : 4) << WG_WHAT_ALIGN,
           kind = wg_memcheck(c->memory, a->address, a->bytes, what, 0, 0, 0);
  if (kind)
    wg_report_wide(c->channel, c->launch, closed_site(c, a->pc), kind, a->bytes, a->address, 0, 0,
                   0, a->pc - c->code, 0, 0);
}

#endif
