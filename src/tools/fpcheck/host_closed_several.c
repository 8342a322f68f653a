// Buffers whose format is one of several, and it is not known which: they are scanned in each of
// these formats. Bits that look like NaN in one format may be half of an ordinary number in
// another. So a launch is reported only if its exceptions have increased in all formats.
#include "tools/fpcheck/host_closed.h"

enum { WAITING = 256 };
typedef struct Waiting {
  uint64_t base;  // of the allocation
  uint32_t launch, seen;
} Waiting;
static Waiting waiting[WAITING];

bool fp_closed_confirmed(const WgFpEvent *e, SassFormat format, uint32_t formats) {
  HeapRange r;
  if (!formats) return true;
  if (!session_ranges_look(e->first, &r)) return false;
  uint64_t base = r.memory.base, key[] = {base, e->launch};
  Waiting *w = &waiting[base_hash(key, sizeof key) % WAITING];
  if (w->base != base || w->launch != e->launch) *w = (Waiting){base, e->launch, 0};
  bool before = (w->seen & formats) == formats;
  w->seen |= SASS_BIT(format);
  return !before && (w->seen & formats) == formats;
}

void fp_closed_name_formats(Str *out, SassFormat format, uint32_t formats) {
  static const char *const names[] = {"", "f16", "bf16", "f32", "f64"};
  bool any = false;
  if (!formats) formats = SASS_BIT(format);
  for (unsigned f = SASS_F16; f <= SASS_F64; f++) {
    if (!(formats >> f & 1)) continue;
    str_printf(out, "%s%s", any ? " or " : "", names[f]);
    any = true;
  }
}
