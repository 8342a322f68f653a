// Points are postings of single places in memory; kernels that gather have one for each lane. They
// are put into buckets by address, not sorted: a question looks through one bucket. Within a bucket
// they stay in the order of blocks. Each has the bits of its address and of its place, which tells
// its width.
#include "trace/write/copy.h"
#include "trace/format/predict.h"

enum {
  PART_POINTS_MOST = 4096,
  BUCKET_BITS_MOST = 11,
  REGION_AT = 24,
  REGIONS = 512,
  REGION_SLOTS = 2048,
  SEEN = 2048,
  RADIX = 11
};
typedef struct Seen {
  uint64_t start;
  uint32_t tag;
  bool used;
} Seen;
struct PointList {
  uint64_t *starts, *packed, *spare;
  uint32_t *tags;  // tag: block << POSTING_PLACE_BITS | place
  size_t n, cap, packed_cap;
  // of the starts; differ: bits that are not the same in all. last_global: where the last touch of
  // global memory begins
  uint64_t least, most, differ, last_global;
  Seen seen[SEEN];  // recent points, to leave out repeated ones
  uint64_t region[REGION_SLOTS];
  uint16_t rank[REGION_SLOTS];  // region: plus 1
};

PointList *points_new(void) {
  PointList *p = mem_alloc(sizeof *p);
  points_clear(p);
  return p;
}

void points_free(PointList *p) {
  if (!p) return;
  free(p->starts);
  free(p->tags);
  free(p->packed);
  free(p->spare);
  free(p);
}

static void reserve(PointList *p, size_t more) {
  if (p->cap - p->n >= more) return;
  p->cap = MAX(p->cap * 2, (size_t)1 << 14);
  p->starts = memory_more(p->starts, p->n * sizeof *p->starts, p->cap * sizeof *p->starts);
  p->tags = memory_more(p->tags, p->n * sizeof *p->tags, p->cap * sizeof *p->tags);
}

size_t points_count(const PointList *p) { return p->n; }
void points_get(const PointList *p, size_t i, uint64_t *start, uint32_t *tag) {
  *start = p->starts[i];
  *tag = p->tags[i];
}
void points_clear(PointList *p) {
  p->n = 0;
  p->least = UINT64_MAX;
  p->most = p->differ = p->last_global = 0;
  memset(p->seen, 0, sizeof p->seen);
}

void points_add(PointList *p, uint64_t start, uint32_t tag) {
  Seen *s = &p->seen[(uint32_t)((start >> 2) * 0x9E3779B1u + tag * 0x85EBCA6Bu) >> 21];
  if (s->start == start && s->tag == tag && s->used) return;
  *s = (Seen){start, tag, true};
  reserve(p, 1);
  p->starts[p->n] = start;
  p->tags[p->n++] = tag;
  p->least = MIN(p->least, start);
  p->most = MAX(p->most, start);
  p->differ |= start ^ p->starts[0];
  if (!(start >> 62)) p->last_global = MAX(p->last_global, start);
}

MANY_AT_A_TIME void points_add_row(PointList *p, const uint64_t *starts, uint32_t n, uint32_t tag) {
  reserve(p, n);
  uint64_t *to = p->starts + p->n;
  uint32_t *tags = p->tags + p->n;
  uint64_t least = p->least, most = p->last_global, differ = 0,
           first = p->starts[0] = p->n ? p->starts[0] : starts[0];
  for (uint32_t k = 0; k < n; k++) {
    uint64_t s = starts[k];
    to[k] = s;
    tags[k] = tag;
    least = MIN(least, s);
    most = MAX(most, s);
    differ |= s ^ first;
  }
  p->least = least;
  p->last_global = most;
  p->most = MAX(p->most, most);
  p->differ |= differ;
  p->n += n;
}

static unsigned bits_of(uint64_t v) { return v ? 64 - (unsigned)__builtin_clzll(v) : 0; }

static uint32_t region_slot(const PointList *p, uint64_t region) {
  uint32_t slot = (uint32_t)(region * 0x9E3779B97F4A7C15ull >> 53);
  while (p->region[slot] && p->region[slot] != region + 1) slot = (slot + 1) % REGION_SLOTS;
  return slot;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

// Finds the regions of 16 MB that are touched, in order, so that buckets cover only these. 0: too
// many
static unsigned find_regions(PointList *p, uint64_t *list) {
  memset(p->region, 0, sizeof p->region);
  unsigned n = 0;
  uint64_t last = UINT64_MAX;
  for (size_t i = 0; i < p->n; i++) {
    uint64_t region = p->starts[i] >> REGION_AT;
    if (region == last) continue;
    last = region;
    uint32_t slot = region_slot(p, region);
    if (p->region[slot]) continue;
    if (n == REGIONS) return 0;
    p->region[slot] = region + 1;
    list[n++] = region;
  }
  qsort(list, n, sizeof *list, ascending);
  for (unsigned i = 0; i < n; i++) p->rank[region_slot(p, list[i])] = (uint16_t)i;
  return n;
}

static void sort_packed(uint64_t *list, uint64_t *spare, size_t n, unsigned from, unsigned upto) {
  uint64_t *a = list, *b = spare;
  for (unsigned at = from; at < upto; at += RADIX) {
    size_t count[1 << RADIX] = {0}, sum = 0;
    uint64_t mask = (1ull << MIN((unsigned)RADIX, upto - at)) - 1;
    for (size_t i = 0; i < n; i++) count[a[i] >> at & mask]++;
    for (unsigned d = 0; d < 1 << RADIX; d++) {
      size_t k = count[d];
      count[d] = sum;
      sum += k;
    }
    for (size_t i = 0; i < n; i++) b[count[a[i] >> at & mask]++] = a[i];
    uint64_t *t = a;
    a = b;
    b = t;
  }
  if (a != list) memcpy(list, a, n * sizeof *list);
}

typedef struct Packing {
  unsigned shift, tag_bits, place_bits, nregions;
  uint64_t low;
  const uint64_t *regions;
  uint32_t widest;
} Packing;

static uint64_t unpack(const Packing *k, uint64_t packed) {
  uint64_t rest = (packed >> k->tag_bits) << k->shift;
  return (k->nregions
              ? (k->regions[rest >> REGION_AT] << REGION_AT | (rest & ((1u << REGION_AT) - 1)))
              : rest) +
         k->low;
}

// Starts within one region share a unit; starts in several regions share only addresses.
typedef struct PointUnits {
  uint64_t least;
  bool one_region;
  unsigned width;  // bits of the largest
} PointUnits;
static inline uint64_t rest_of(const Packing *k, uint64_t packed, const PointUnits *u) {
  return u->one_region ? (packed >> k->tag_bits) - u->least
                       : (unpack(k, packed) - u->least) >> k->shift;
}

NEWER_TOO static uint8_t *put_bits(const Packing *k, const uint64_t *list, uint32_t n, PointUnits u,
                                   uint8_t *at) {
  uint32_t place_mask = (1u << k->place_bits) - 1;
  unsigned each = u.width + k->place_bits, have = 0;
  if (each <= 32) {
    uint64_t pending = 0;
    for (uint32_t i = 0; i < n; i++) {
      pending |= (rest_of(k, list[i], &u) << k->place_bits | (list[i] & place_mask)) << have;
      have += each;
      if (have < 32) continue;
      uint32_t word = (uint32_t)pending;
      memcpy(at, &word, 4);
      at += 4;
      pending >>= 32;
      have -= 32;
    }
    for (; have; have -= MIN(have, 8u)) {
      *at++ = (uint8_t)pending;
      pending >>= 8;
    }
    return at;
  }
  unsigned __int128 pending = 0;
  for (uint32_t i = 0; i < n; i++) {
    pending |=
        ((unsigned __int128)rest_of(k, list[i], &u) << k->place_bits | (list[i] & place_mask))
        << have;
    for (have += each; have >= 8; have -= 8) {
      *at++ = (uint8_t)pending;
      pending >>= 8;
    }
  }
  if (have) *at++ = (uint8_t)pending;
  return at;
}

MANY_AT_A_TIME static void extent(const uint64_t *list, uint32_t n, uint64_t *least,
                                  uint64_t *most) {
  uint64_t a = UINT64_MAX, b = 0;
  for (uint32_t i = 0; i < n; i++) {
    a = MIN(a, list[i]);
    b = MAX(b, list[i]);
  }
  *least = a;
  *most = b;
}

static void write_part(const Packing *k, const uint64_t *list, uint32_t n, ChunkOut *out) {
  uint64_t least, most;
  extent(list, n, &least, &most);  // order by rank is order by address
  uint64_t first = unpack(k, least), last = unpack(k, most);
  bool one_region = !k->nregions || first >> REGION_AT == last >> REGION_AT;
  unsigned width = bits_of((last - first) >> k->shift);
  CHECK(out->points.len < PART_RANGES - PART_POINTS);
  Bytes *data = &out->bytes;
  bytes_reserve(data, 64 + (size_t)n * 8 + ((size_t)n * (width + k->place_bits) + 7) / 8);
  bytes_varint(data, n);
  bytes_varint(data, first);
  bytes_u8(data, (uint8_t)k->shift);
  bytes_u8(data, (uint8_t)width);
  bytes_u8(data, (uint8_t)k->place_bits);
  uint64_t block_mask = ((1ull << (k->tag_bits - k->place_bits)) - 1) << k->place_bits;
  for (uint32_t i = 0; i < n;) {  // blocks, and how many points of each
    uint64_t block = list[i] & block_mask;
    uint32_t from = i;
    while (i < n && (list[i] & block_mask) == block) i++;
    bytes_varint(data, block >> k->place_bits);
    bytes_varint(data, i - from);
  }
  PointUnits units = {one_region ? least >> k->tag_bits : first, one_region, width};
  data->len = (size_t)(put_bits(k, list, n, units, data->data + data->len) - data->data);
  chunk_end_part(out);
  vec_push(&out->points, (PostingPart){first, last + k->widest});
}

// Packs points that lie within 4 GB.
MANY_AT_A_TIME static void pack(const PointList *p, const Packing *k, uint64_t *to) {
  uint64_t low = k->low;
  const uint64_t *starts = p->starts;
  const uint32_t *tags = p->tags;
  unsigned shift = k->shift, tag_bits = k->tag_bits, place_bits = k->place_bits;
  for (size_t i = 0, n = p->n; i < n; i++) {
    uint32_t tag = tags[i] >> POSTING_PLACE_BITS << place_bits |
                   (tags[i] & ((1u << POSTING_PLACE_BITS) - 1));
    to[i] = (starts[i] - low) >> shift << tag_bits | tag;
  }
}

static void pack_regions(const PointList *p, const Packing *k, uint64_t *to) {
  uint64_t last = UINT64_MAX, rank = 0;
  for (size_t i = 0; i < p->n; i++) {
    uint64_t start = p->starts[i], tag = (uint64_t)(p->tags[i] >> POSTING_PLACE_BITS)
                                             << k->place_bits |
                                         (p->tags[i] & ((1u << POSTING_PLACE_BITS) - 1));
    if (start >> REGION_AT != last) {
      last = start >> REGION_AT;
      rank = p->rank[region_slot(p, last)];
    }
    to[i] = ((rank << REGION_AT | (start & ((1u << REGION_AT) - 1))) - k->low) >>
                k->shift << k->tag_bits |
            tag;
  }
}

// Moves points into their buckets, in order; end[d]: where bucket d begins, afterwards where it
// ends. Points of a bucket are collected until they fill a cache line: with scattered writes, each
// would wait for its line to be read first.
NEWER_TOO static void to_buckets(const uint64_t *from, size_t n, unsigned at, size_t *end,
                                 unsigned buckets, uint64_t *to) {
  enum { LINE = 8 };
  static _Thread_local uint64_t lines[1 << BUCKET_BITS_MOST][LINE];
  size_t begin[1 << BUCKET_BITS_MOST];
  memcpy(begin, end, buckets * sizeof *begin);
  for (size_t i = 0; i < n; i++) {
    uint64_t v = from[i], d = v >> at;
    size_t k = end[d]++;
    lines[d][k % LINE] = v;
    if (k % LINE != LINE - 1) continue;
    size_t first = k - (LINE - 1);
    if (first >= begin[d]) copy_line(to + first, lines[d]);
    else memcpy(to + begin[d], lines[d] + begin[d] % LINE, (k + 1 - begin[d]) * sizeof *to);
  }
  for (unsigned d = 0; d < buckets; d++) {
    size_t first = MAX(end[d] / LINE * LINE, begin[d]);
    if (end[d] > first) memcpy(to + first, lines[d] + first % LINE, (end[d] - first) * sizeof *to);
  }
  copy_lines_end();
}

NEWER_TOO bool points_write(PointList *p, const TracePlace *places, uint32_t nplaces,
                            uint32_t nblocks, ChunkOut *out) {
  if (!p->n) return true;
  uint64_t regions[REGIONS], least = p->least, most = p->most, differ = p->differ,
                             last_global = p->last_global;
  Packing k = {.shift = differ ? MIN((unsigned)__builtin_ctzll(differ), 15u) : 0,
               .place_bits = bits_of(nplaces - 1),
               .regions = regions};
  for (uint32_t i = 0; i < nplaces; i++) k.widest = MAX(k.widest, place_width(&places[i]));
  if (!(least >> 62)) chunk_note_addresses(out, least, last_global + k.widest);
  k.tag_bits = k.place_bits + bits_of(nblocks - 1);
  k.nregions = most - least < 1ull << 32 ? 0 : find_regions(p, regions);
  k.low = k.nregions ? least & ((1ull << k.shift) - 1) : least;  // what the shift leaves out
  unsigned span = bits_of((k.nregions ? ((uint64_t)k.nregions << REGION_AT) - 1 : most - least) >>
                          k.shift);
  if (span + k.tag_bits > 64) return false;
  if (p->packed_cap < p->n) {
    p->packed_cap = p->cap;
    p->packed = memory_more(p->packed, 0, p->packed_cap * sizeof *p->packed);
    p->spare = memory_more(p->spare, 0, p->packed_cap * sizeof *p->spare);
  }
  unsigned wanted = bits_of(p->n / (PART_POINTS_MOST / 2)),
           bucket_bits = MIN(MIN(wanted, (unsigned)BUCKET_BITS_MOST), span),
           bucket_at = span - bucket_bits + k.tag_bits;
  size_t count[(1 << BUCKET_BITS_MOST) + 1] = {0}, sum = 0;
  if (k.nregions) pack_regions(p, &k, p->spare);
  else pack(p, &k, p->spare);
  if (bucket_bits)
    for (size_t i = 0; i < p->n; i++) count[p->spare[i] >> bucket_at]++;
  for (unsigned d = 0; d <= 1 << BUCKET_BITS_MOST; d++) {
    size_t n = count[d];
    count[d] = sum;
    sum += n;
  }
  if (!bucket_bits) {
    memcpy(p->packed, p->spare, p->n * sizeof *p->packed);
    count[0] = p->n;
  } else to_buckets(p->spare, p->n, bucket_at, count, 1u << bucket_bits, p->packed);
  // count[d] is now where bucket d ends. Small ones are joined, large ones sorted and cut.
  size_t from = 0, upto = 0;
  for (unsigned d = 0; d < 1u << bucket_bits; d++) {
    size_t end = count[d];
    if (end - from > PART_POINTS_MOST && upto > from) {
      write_part(&k, p->packed + from, (uint32_t)(upto - from), out);
      from = upto;
    }
    if (end - from > PART_POINTS_MOST) {
      sort_packed(p->packed + from, p->spare, end - from, k.tag_bits, bucket_at);
      for (; end - from > PART_POINTS_MOST; from += PART_POINTS_MOST)
        write_part(&k, p->packed + from, PART_POINTS_MOST, out);
    }
    upto = end;
  }
  if (upto > from) write_part(&k, p->packed + from, (uint32_t)(upto - from), out);
  return true;
}

// --- reading: a part is looked through as it lies in the file ---

static bool read_head(PointScan *s, const uint8_t *data, size_t n) {
  *s = (PointScan){.runs = {data, data + n, false}};
  s->entries = reading_varint(&s->runs);
  s->least = reading_varint(&s->runs);
  s->shift = reading_u8(&s->runs) & 15;
  s->width = reading_u8(&s->runs);
  s->place_bits = reading_u8(&s->runs);
  return !s->runs.bad && s->entries <= PART_POINTS_MOST && s->width <= 62 &&
         s->place_bits <= POSTING_PLACE_BITS;
}

bool points_check(const uint8_t *data, size_t n, uint32_t nblocks) {
  PointScan s;
  if (!read_head(&s, data, n)) return false;
  for (uint64_t i = 0; i < s.entries;) {
    uint64_t block = reading_varint(&s.runs), run = reading_varint(&s.runs);
    if (s.runs.bad || !run || run > s.entries - i || block >= nblocks) return false;
    i += run;
  }
  return (uint64_t)(s.runs.end - s.runs.at) >= (s.entries * (s.width + s.place_bits) + 7) / 8;
}

void points_begin(PointScan *s, const uint8_t *data, size_t n, uint64_t low, uint64_t high) {
  read_head(s, data, n);
  s->low = low;
  s->high = high;
  Reading bits = s->runs;
  for (uint64_t i = 0; i < s->entries;) {
    reading_varint(&bits);
    i += reading_varint(&bits);
  }
  s->bits = bits.at;
  // Starts that may reach into the range, in their unit.
  uint64_t from = low < POINT_BYTES ? 0 : low - POINT_BYTES,
           last = high > s->least ? (high - 1 - s->least) >> s->shift : 0;
  s->first = from > s->least ? (from - s->least) >> s->shift : 0;
  if (high <= s->least || high <= low || last < s->first) s->at = s->entries;
  s->span = last - s->first;
}

// The next point whose start, in its unit, is in the range.
NEWER_TOO static uint64_t next_start(const PointScan *s) {
  unsigned each = s->width + s->place_bits, place_bits = s->place_bits, offset[8], shift[8];
  uint64_t i = s->at, n = s->entries, first = s->first, span = s->span,
           mask = (1ull << s->width) - 1;
  for (; each <= 56 - 7 && i % 8 && i < n; i++) {
    uint64_t v;
    memcpy(&v, s->bits + i * each / 8, 8);
    if ((v >> (i * each % 8 + place_bits) & mask) - first <= span) return i;
  }
  for (unsigned k = 0; k < 8; k++) {
    offset[k] = k * each / 8;
    shift[k] = k * each % 8 + place_bits;
  }
  // eight of them begin at a byte again
  for (const uint8_t *at = s->bits + i / 8 * each; each <= 56 - 7 && i + 8 <= n;
       i += 8, at += each) {
    unsigned some = 0;
    for (unsigned k = 0; k < 8; k++) {
      uint64_t v;
      memcpy(&v, at + offset[k], 8);
      some |= (unsigned)((v >> shift[k] & mask) - first <= span) << k;
    }
    if (some) return i + (unsigned)__builtin_ctz(some);
  }
  for (; i < n; i++) {
    unsigned __int128 v;
    memcpy(&v, s->bits + i * each / 8, 16);
    if (((uint64_t)(v >> (i * each % 8 + place_bits)) & mask) - first <= span) break;
  }
  return i;
}

bool points_next(PointScan *s, const TracePlace *places, uint32_t nplaces, Posting *out) {
  while (s->at < s->entries && (s->at = next_start(s)) < s->entries) {
    while (s->at >= s->run_end) {
      s->block = (uint32_t)reading_varint(&s->runs);
      s->run_end += reading_varint(&s->runs);
    }
    uint64_t at = s->at++ * (s->width + s->place_bits);
    unsigned __int128 bits;
    memcpy(&bits, s->bits + at / 8, 16);
    bits >>= at % 8;
    uint32_t place = (uint32_t)bits & ((1u << s->place_bits) - 1);
    if (place >= nplaces) {
      s->bad = true;
      return false;
    }
    uint64_t start = s->least +
                     (((uint64_t)(bits >> s->place_bits) & ((1ull << s->width) - 1)) << s->shift),
             end = start + place_width(&places[place]);
    if (start >= s->high || end <= s->low) continue;
    *out = (Posting){start, end, s->block, place};
    return true;
  }
  return false;
}
