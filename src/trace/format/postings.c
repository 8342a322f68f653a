// Postings tell which blocks of a chunk touch which addresses: ranges with the number of the block
// and of the place, sorted by their start. Adjacent accesses of a place in a block are joined, so
// that a sweep is one range however many records it has.
#include "trace/format/predict.h"

typedef struct Entry {
  uint64_t start;
  uint32_t length, tag;
} Entry;  // tag: block, place
enum { PLACE_BITS = POSTING_PLACE_BITS, LANES = 32, RADIX = 13, SMALL = 1024 };

struct PostingList {
  Entry *list, *spare;
  size_t n, cap, spare_cap;
  Bytes columns[4];
  Posting *open;
  uint32_t nopen;         // open: for each place and lane, a range that may still grow
  struct Visits *visits;  // of each place
  PointList *points;
  struct Roaming *roaming;
  uint32_t nroaming;
  VEC(PlaceBounds) bounds;  // of each place: low above high until something is touched
};

PostingList *postings_new(void) {
  PostingList *p = mem_alloc(sizeof *p);
  p->points = points_new();
  return p;
}

void postings_free(PostingList *p) {
  if (!p) return;
  free(p->list);
  free(p->spare);
  free(p->open);
  free(p->visits);
  free(p->roaming);
  vec_free(&p->bounds);
  points_free(p->points);
  for (size_t i = 0; i < ARRAY_LEN(p->columns); i++) bytes_free(&p->columns[i]);
  free(p);
}

static void push_range(PostingList *p, uint64_t start, uint64_t length, uint32_t tag) {
  if (p->n == p->cap) {
    p->cap = MAX(p->cap * 2, (size_t)4096);
    p->list = memory_more(p->list, p->n * sizeof *p->list, p->cap * sizeof *p->list);
  }
  p->list[p->n++] = (Entry){start, (uint32_t)length, tag};
}

static inline void push(PostingList *p, const Posting *o, uint32_t width) {
  uint32_t tag = o->block << PLACE_BITS | o->place;
  if (o->end - o->start == width) points_add(p->points, o->start, tag);
  else push_range(p, o->start, o->end - o->start, tag);
}

static inline void touch(PostingList *p, Posting *open, uint64_t start, uint64_t end,
                         uint32_t width) {
  if (start <= open->end && end >= open->start && open->end) {
    open->start = MIN(open->start, start);
    open->end = MAX(open->end, end);
    return;
  }
  if (open->end) push(p, open, width);
  open->start = start;
  open->end = end;
}

// A warp's access continues its own last range, or the range of an earlier warp at the same
// iteration: loops of all warps have equally many iterations. warp: plus 1; last: the lane whose
// range grew last
typedef struct Visits {
  uint64_t warp;
  uint32_t n, last;
} Visits;
static inline Visits *visits_of_warp(Visits *v, uint64_t warp) {
  if (v->warp != warp + 1) {
    v->warp = warp + 1;
    v->n = 0;
  }
  return v;
}
static inline void touch_whole(PostingList *p, Posting *open, Visits *v, uint64_t start,
                               uint64_t end, uint32_t width) {
  const Posting *o = &open[v->last];
  if (!(start <= o->end && end >= o->start && o->end)) v->last = v->n % LANES;
  v->n++;
  touch(p, &open[v->last], start, end, width);
}

static void touch_affine(PostingList *p, Posting *open, Visits *v, const TraceRow *r,
                         uint32_t width) {
  uint64_t first = posting_key(r->base & TRACE_ADDRESS_MASK, r->warp);
  int64_t stride = r->stride;
  uint64_t step = (uint64_t)(stride < 0 ? -stride : stride);
  uint32_t left = r->lanes;
  if (!stride) {
    touch_whole(p, open, visits_of_warp(v, r->warp), first, first + width, width);
  } else if (step <= width && left == UINT32_MAX) {
    uint64_t low = stride > 0 ? first : first + (uint64_t)(31 * stride);
    touch_whole(p, open, visits_of_warp(v, r->warp), low, low + 31 * step + width, width);
  } else if (step > width) {
    for (; left; left &= left - 1) {
      unsigned lane = (unsigned)__builtin_ctz(left);
      uint64_t at = posting_key((r->base + (uint64_t)(stride * lane)) & TRACE_ADDRESS_MASK,
                                r->warp);
      touch(p, &open[lane], at, at + width, width);
    }
  } else {
    for (unsigned run = 0; left; run++) {
      unsigned from = (unsigned)__builtin_ctz(left);
      uint64_t rest = ~((uint64_t)left >> from);
      unsigned n = (unsigned)__builtin_ctzll(rest);
      uint64_t low = first + (uint64_t)(stride * (stride > 0 ? from : from + n - 1));
      touch(p, &open[run], low, low + step * (n - 1) + width, width);
      left = from + n >= 32 ? 0 : left & (uint32_t)(UINT32_MAX << (from + n));
    }
  }
}

// Lanes with unrelated addresses: if they are all over memory and none continues where it was,
// joining ranges or looking for repeats is not worth it.
typedef struct Roaming {
  uint64_t least, most;
  const uint64_t *before;
  uint32_t nbefore, lanes, adjacent;
  bool wild;
} Roaming;
MANY_AT_A_TIME static void roam(Roaming *x, const uint64_t *a, uint32_t n, uint32_t width) {
  uint64_t least = x->least, most = x->most;
  uint32_t adjacent = 0;
  for (uint32_t k = 0; k < n; k++) {
    least = MIN(least, a[k]);
    most = MAX(most, a[k]);
  }
  for (uint32_t k = 0; k < MIN(n, x->nbefore); k++)
    adjacent += a[k] - x->before[k] + width <= 2 * (uint64_t)width;
  *x = (Roaming){least, most, a, n, x->lanes + n, x->adjacent + adjacent, false};
}

static const Roaming *roamings(PostingList *p, const BlockInput *in) {
  if (p->nroaming < in->nplaces) {
    p->roaming = mem_realloc(p->roaming, sizeof(Roaming) * in->nplaces);
    p->nroaming = in->nplaces;
  }
  Roaming *list = p->roaming;
  for (uint32_t i = 0; i < in->nplaces; i++) list[i] = (Roaming){.least = UINT64_MAX};
  for (uint32_t i = 0; i < in->nrows && in->naddresses; i++) {
    const TraceRow *r = &in->rows[i];
    const TracePlace *place = &in->places[r->place];
    if (place->has & ROW_EACH)
      roam(&list[r->place], in->addresses + r->addresses, (uint32_t)__builtin_popcount(r->lanes),
           place_width(place));
  }
  for (uint32_t i = 0; i < in->nplaces; i++) {
    Roaming *x = &list[i];
    x->wild = x->lanes && !((x->least | x->most) >> WG_TRACE_SPACE_AT) &&
              x->adjacent * 16 < x->lanes &&
              (x->most - x->least) / place_width(&in->places[i]) > 2 * (uint64_t)x->lanes;
  }
  return list;
}

// Bounds are known only for places that touch nothing but global memory.
static inline void bound(PlaceBounds *b, uint64_t low, uint64_t last, uint32_t width) {
  uint64_t end = (low | last) >> WG_TRACE_SPACE_AT ? UINT64_MAX : last + width;
  b->low = MIN(b->low, low);
  b->high = MAX(b->high, end);
}
static inline void bound_affine(PlaceBounds *b, const TraceRow *r, uint32_t width) {
  uint64_t first = r->base & TRACE_ADDRESS_MASK,
           last = (r->base + (uint64_t)(int64_t)(31 * (int64_t)r->stride)) & TRACE_ADDRESS_MASK;
  bound(b, MIN(first, last), MAX(first, last), width);
}

NEWER_TOO void postings_add(PostingList *p, const BlockInput *in, uint32_t block) {
  if (p->nopen < in->nplaces) {
    p->open = mem_realloc(p->open, sizeof *p->open * LANES * in->nplaces);
    p->visits = mem_realloc(p->visits, sizeof *p->visits * in->nplaces);
    p->nopen = in->nplaces;
  }
  memset(p->visits, 0, sizeof *p->visits * in->nplaces);
  for (uint32_t i = 0; i < in->nplaces * LANES; i++)
    p->open[i] = (Posting){.block = block, .place = i / LANES};
  const Roaming *roaming = roamings(p, in);
  while (p->bounds.len < in->nplaces) vec_push(&p->bounds, (PlaceBounds){UINT64_MAX, 0});
  for (uint32_t i = 0; i < in->nplaces; i++)
    if (roaming[i].lanes)
      bound(&p->bounds.data[i], roaming[i].least, roaming[i].most, place_width(&in->places[i]));
  for (uint32_t i = 0; i < in->nrows; i++) {
    const TraceRow *r = &in->rows[i];
    const TracePlace *place = &in->places[r->place];
    Posting *open = &p->open[r->place * LANES];
    uint32_t width = place_width(place);
    if (place->has & ROW_AFFINE) {
      touch_affine(p, open, &p->visits[r->place], r, width);
      bound_affine(&p->bounds.data[r->place], r, width);
    } else if (place->has & ROW_EACH) {
      uint32_t n = (uint32_t)__builtin_popcount(r->lanes);
      if (roaming[r->place].wild) {
        points_add_row(p->points, in->addresses + r->addresses, n, block << PLACE_BITS | r->place);
        continue;
      }
      for (uint32_t k = 0; k < n; k++) {
        uint64_t at = posting_key(in->addresses[r->addresses + k], r->warp);
        touch(p, &open[k], at, at + width, width);
      }
    }
  }
  for (uint32_t i = 0; i < in->nplaces * LANES; i++)
    if (p->open[i].end) push(p, &p->open[i], place_width(&in->places[i / LANES]));
}

static int by_start(const void *a, const void *b) {
  const Entry *x = a, *y = b;
  return x->start != y->start ? (x->start < y->start ? -1 : 1)
         : x->tag < y->tag    ? -1
                              : x->tag > y->tag;
}

static void reserve_spare(PostingList *p) {
  if (p->spare_cap >= p->cap) return;
  p->spare = memory_more(p->spare, 0, (p->spare_cap = p->cap) * sizeof *p->spare);
}

NEWER_TOO static void sort(PostingList *p) {
  if (p->n < SMALL) {
    if (p->n) qsort(p->list, p->n, sizeof *p->list, by_start);
    return;
  }
  reserve_spare(p);
  uint64_t least = UINT64_MAX, most = 0, differ = 0;
  for (size_t i = 0; i < p->n; i++) {
    least = MIN(least, p->list[i].start);
    most = MAX(most, p->list[i].start);
    differ |= p->list[i].start ^ p->list[0].start;
  }
  // As few rounds as possible, with as few bits each as that takes.
  unsigned low = differ ? (unsigned)__builtin_ctzll(differ) : 0,
           bits = 64 - (unsigned)__builtin_clzll((most - least) >> low | 1),
           rounds = (bits + RADIX - 1) / RADIX, radix = (bits + rounds - 1) / rounds;
  for (unsigned shift = low; shift < 64 && (most - least) >> shift; shift += radix) {
    size_t count[1 << RADIX] = {0}, at = 0;
    uint64_t mask = (1u << radix) - 1;
    for (size_t i = 0; i < p->n; i++) count[(p->list[i].start - least) >> shift & mask]++;
    if (count[(p->list[0].start - least) >> shift & mask] == p->n) continue;
    for (unsigned d = 0; d <= mask; d++) {
      size_t n = count[d];
      count[d] = at;
      at += n;
    }
    for (size_t i = 0; i < p->n; i++)
      p->spare[count[(p->list[i].start - least) >> shift & mask]++] = p->list[i];
    Entry *t = p->list;
    size_t cap = p->cap;
    p->list = p->spare;
    p->spare = t;
    p->cap = p->spare_cap;
    p->spare_cap = cap;
  }
}

// Drops repeated entries: once sorted, accesses of several rows to one address are adjacent.
static size_t drop_repeated(Entry *e, size_t n) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    bool again = false;
    for (size_t k = kept; k && k + 4 > kept && e[k - 1].start == e[i].start; k--)
      if (e[k - 1].tag == e[i].tag) {
        e[k - 1].length = MAX(e[k - 1].length, e[i].length);
        again = true;
        break;
      }
    if (!again) e[kept++] = e[i];
  }
  return kept;
}

// A number of the usual length costs one comparison.
static inline uint8_t *put(uint8_t *at, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *at++ = (uint8_t)(v | 0x80);
  *at++ = (uint8_t)v;
  return at;
}

static PostingPart write_part(PostingList *p, ColumnCoder *c, const Entry *e, size_t n,
                              Bytes *out) {
  enum { STARTS, LENGTHS, BLOCKS, PLACES };
  uint64_t bits = 0, before = e[0].start;
  PostingPart part = {e[0].start, 0};
  for (size_t i = 0; i < n; i++) {
    bits |= e[i].start - e[0].start;
    part.end = MAX(part.end, e[i].start + e[i].length);
  }
  unsigned shift = bits ? MIN((unsigned)__builtin_ctzll(bits), 15u) : 0;
  uint8_t *at[4];
  for (int k = 0; k < 4; k++) {
    p->columns[k].len = 0;
    bytes_reserve(&p->columns[k], n * 10);
    at[k] = p->columns[k].data;
  }
  for (size_t i = 0; i < n; i++) {
    at[STARTS] = put(at[STARTS], (e[i].start - before) >> shift);
    before = e[i].start;
    at[LENGTHS] = put(at[LENGTHS], e[i].length);
    at[BLOCKS] = put(at[BLOCKS], e[i].tag >> PLACE_BITS);
    at[PLACES] = put(at[PLACES], e[i].tag & ((1u << PLACE_BITS) - 1));
  }
  bytes_varint(out, n);
  bytes_varint(out, e[0].start);
  bytes_u8(out, (uint8_t)shift);
  for (int k = 0; k < 4; k++)
    column_write(c, out, p->columns[k].data, (size_t)(at[k] - p->columns[k].data));
  return part;
}

void postings_write(PostingList *p, ColumnCoder *c, const TracePlace *places, uint32_t nplaces,
                    uint32_t nblocks, ChunkOut *out) {
  if (!points_write(p->points, places, nplaces, nblocks, out))
    for (size_t i = 0, n = points_count(p->points); i < n; i++) {
      uint64_t start;
      uint32_t tag;
      points_get(p->points, i, &start, &tag);
      push_range(p, start, place_width(&places[tag & ((1u << PLACE_BITS) - 1)]), tag);
    }
  points_clear(p->points);
  sort(p);
  p->n = drop_repeated(p->list, p->n);
  for (size_t i = 0; i < p->n; i++)
    if (!(p->list[i].start >> 62))
      chunk_note_addresses(out, p->list[i].start, p->list[i].start + p->list[i].length);
  for (size_t i = 0; i < p->n; i += POSTINGS_PER_BLOCK) {
    CHECK(out->ranges.len < PART_DIRECTORY - PART_RANGES);
    PostingPart part = write_part(p, c, p->list + i, MIN(p->n - i, (size_t)POSTINGS_PER_BLOCK),
                                  &out->bytes);
    chunk_end_part(out);
    vec_push(&out->ranges, part);
  }
  p->n = 0;
  for (uint32_t i = 0; i < nplaces; i++) {
    PlaceBounds b = i < p->bounds.len ? p->bounds.data[i] : (PlaceBounds){0, 0};
    vec_push(&out->bounds, b.high == UINT64_MAX || b.low >= b.high ? (PlaceBounds){0, 0} : b);
  }
  p->bounds.len = 0;
}

bool postings_read(ColumnCoder *c, const uint8_t *data, size_t n, const ChunkDirectory *d,
                   const PostingsRead *to) {
  Arena *arena = to->arena;
  Reading from = {data, data + n, false}, starts, lengths, blocks, places;
  uint64_t entries = reading_varint(&from), start = reading_varint(&from);
  uint8_t shift = reading_u8(&from) & 15;
  if (from.bad || entries > POSTINGS_PER_BLOCK) return false;
  size_t most = entries * 10;
  if (!column_read(c, &from, arena, most, &starts) ||
      !column_read(c, &from, arena, most, &lengths) ||
      !column_read(c, &from, arena, most, &blocks) || !column_read(c, &from, arena, most, &places))
    return false;
  Posting *out = ARENA_ARRAY(arena, Posting, entries + 1);
  for (uint64_t i = 0; i < entries; i++) {
    start += reading_varint(&starts) << shift;
    out[i] = (Posting){start, start + (uint32_t)reading_varint(&lengths),
                       (uint32_t)reading_varint(&blocks), (uint32_t)reading_varint(&places)};
    if (out[i].block >= d->nblocks || out[i].place >= d->nplaces) return false;
  }
  *to->list = out;
  *to->n = (uint32_t)entries;
  return !starts.bad && !lengths.bad && !blocks.bad && !places.bad;
}
