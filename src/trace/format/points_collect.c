// Collects all points of a part at once, for queries about whole pieces of memory: most of a part
// touches them, and one point after the other (points_next) would cost several times as much.
#include "trace/internal.h"

static inline bool any_is_open(const OpenBytes *o, uint64_t start, uint64_t end) {
  end += o->longer;
  uint64_t at = start - o->low;
  if (end - start == 4 && start >= o->low && end <= o->high) {
    uint32_t four;
    memcpy(&four, o->state + at, 4);
    return four & 0x80808080u;
  }
  uint8_t any = 0;
  for (uint64_t a = MAX(start, o->low); a < MIN(end, o->high); a++) any |= o->state[a - o->low];
  return any & 0x80;
}
bool open_bytes_touch(const OpenBytes *o, uint64_t start, uint64_t end) {
  return any_is_open(o, start, end);
}

// The bits of point i: at most 49, so that 8 bytes contain them wherever they begin.
static inline uint64_t bits_at(const PointScan *s, uint64_t i, unsigned each) {
  uint64_t v;
  memcpy(&v, s->bits + i * each / 8, 8);
  return v >> i * each % 8;
}
static inline unsigned __int128 wide_bits_at(const PointScan *s, uint64_t i, unsigned each) {
  unsigned __int128 v;
  memcpy(&v, s->bits + i * each / 8, 16);
  return v >> i * each % 8;
}

NEWER_TOO bool points_collect(PointScan *s, const PointQuery *q, PostingVec *out) {
  unsigned each = s->width + s->place_bits;
  uint64_t mask = (1ull << s->width) - 1, place_mask = (1ull << s->place_bits) - 1;
  bool narrow = each <= 56 - 7;
  if (s->at >= s->entries) return true;  // none is in the range
  for (uint64_t i = 0; i < s->entries;) {
    uint32_t block = (uint32_t)reading_varint(&s->runs);
    for (uint64_t end = i + reading_varint(&s->runs); i < end; i++) {
      uint64_t place, unit;
      if (narrow) {
        uint64_t v = bits_at(s, i, each);
        place = v & place_mask;
        unit = v >> s->place_bits & mask;
      } else {
        unsigned __int128 v = wide_bits_at(s, i, each);
        place = (uint64_t)v & place_mask;
        unit = (uint64_t)(v >> s->place_bits) & mask;
      }
      if (unit - s->first > s->span) continue;
      if (place >= q->nplaces) return false;
      if (!q->wanted[place]) continue;
      uint64_t start = s->least + (unit << s->shift), stop = start + place_width(&q->places[place]);
      if (start >= s->high || stop <= s->low || (q->open && !any_is_open(q->open, start, stop)))
        continue;
      vec_push(out, ((Posting){start, stop, block, (uint32_t)place}));
    }
  }
  return true;
}
