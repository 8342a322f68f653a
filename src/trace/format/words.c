// Writes and reads columns of words, as planes of bytes. A look at some of a plane's bytes decides
// how it is kept. Random bytes stay as they are. Few different bytes in no order are packed here:
// the compressor needs ten times as long for them and gains little.
#include "trace/internal.h"

enum { FEW_WORDS = 32, SAMPLE = 2048, TRY_EVERY = 16 };  // SAMPLE: words
// Two bits for each plane. The last two pack numbers of frequent bytes; the largest number stands
// for any other byte.
enum { PLANE_RAW, PLANE_COMPRESSED, PLANE_TWO_BITS, PLANE_FOUR_BITS };
// PLAIN: the words as one column; else the number of planes, with STEPS of the differences from
// word to word
enum { KIND_PLAIN = 8, KIND_STEPS = 16 };

MANY_AT_A_TIME static void split(const uint32_t *restrict words, size_t n, unsigned plane,
                                 uint8_t *restrict to) {
  for (size_t i = 0; i < n; i++) to[i] = (uint8_t)(words[i] >> 8 * plane);
}
MANY_AT_A_TIME static void split_all(const uint32_t *restrict words, size_t n, uint8_t *restrict a,
                                     uint8_t *restrict b, uint8_t *restrict c,
                                     uint8_t *restrict d) {
  for (size_t i = 0; i < n; i++) {
    uint32_t w = words[i];
    a[i] = (uint8_t)w;
    b[i] = (uint8_t)(w >> 8);
    c[i] = (uint8_t)(w >> 16);
    d[i] = (uint8_t)(w >> 24);
  }
}
MANY_AT_A_TIME static void join(uint32_t *restrict words, size_t n, unsigned planes,
                                const uint8_t *const from[4]) {
  const uint8_t *restrict a = from[0], *restrict b = from[1], *restrict c = from[2],
                          *restrict d = from[3];
  switch (planes) {
    case 0: memset(words, 0, n * sizeof *words); break;
    case 1:
      for (size_t i = 0; i < n; i++) words[i] = a[i];
      break;
    case 2:
      for (size_t i = 0; i < n; i++) words[i] = a[i] | (uint32_t)b[i] << 8;
      break;
    case 3:
      for (size_t i = 0; i < n; i++) words[i] = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16;
      break;
    default:
      for (size_t i = 0; i < n; i++)
        words[i] = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
      break;
  }
}

static inline uint32_t fold(uint32_t step) { return step << 1 ^ (uint32_t)((int32_t)step >> 31); }
// Threads side by side often have similar numbers: then the upper planes of steps are almost empty.
MANY_AT_A_TIME static void to_steps(const uint32_t *restrict words, size_t n,
                                    uint32_t *restrict to) {
  to[0] = fold(words[0]);
  for (size_t i = 1; i < n; i++) {
    uint32_t step = words[i] - words[i - 1];
    to[i] = step << 1 ^ (uint32_t)((int32_t)step >> 31);
  }
}
NEWER_TOO static void from_steps(uint32_t *words, size_t n) {
  uint32_t sum = 0;
  for (size_t i = 0; i < n; i++) words[i] = sum += words[i] >> 1 ^ -(words[i] & 1);
}

// A sample of the words, or of their steps: counts the bytes of each plane, and the differences
// from one to the next.
typedef struct Look {
  uint32_t bytes[4][256], steps[4][256];
  uint32_t seen[1024], n, again;
} Look;
NEWER_TOO static void look_at(const uint32_t *words, size_t n, bool as_steps, Look *l) {
  enum { RUN = 32, RUNS = 32 };
  memset(l, 0, sizeof *l);
  size_t apart = n / RUNS > RUN ? n / RUNS : RUN;
  for (size_t at = 0; at + RUN <= n; at += apart) {
    uint32_t last = words[at ? at - 1 : 0], before = as_steps ? fold(words[at] - last) : words[at];
    for (size_t i = at; i < at + RUN; i++) {
      uint32_t w = as_steps ? fold(words[i] - last) : words[i], slot = w * 0x9E3779B1u >> 22;
      for (unsigned p = 0; p < 4; p++) {
        l->bytes[p][w >> 8 * p & 255]++;
        l->steps[p][(uint8_t)((w >> 8 * p) - (before >> 8 * p))]++;
      }
      l->again += l->seen[slot] == w;
      l->seen[slot] = w;
      before = w;
      last = words[i];
    }
    l->n += RUN;
  }
}

static uint64_t equal_pairs(const uint32_t *count) {
  uint64_t pairs = 0;
  for (unsigned i = 0; i < 256; i++) pairs += (uint64_t)count[i] * count[i];
  return pairs;
}
// Whether two bytes are equal twice as often as by chance: then a byte holds less than 7 bits.
static bool uneven(uint64_t pairs, uint32_t n) { return (pairs - n) * 256 > (uint64_t)n * n * 2; }

// Finds the most frequent bytes. Returns how many bytes are others.
static uint32_t frequent(const uint32_t *count, uint32_t n, unsigned most, uint8_t *list) {
  bool taken[256] = {0};
  for (unsigned k = 0; k < most; k++) {
    unsigned best = 0;
    while (taken[best]) best++;
    for (unsigned i = best + 1; i < 256; i++)
      if (!taken[i] && count[i] > count[best]) best = i;
    taken[best] = true;
    list[k] = (uint8_t)best;
    n -= count[best];
  }
  return n;
}

static unsigned way_for_plane(const Look *l, unsigned plane, uint8_t *list) {
  uint64_t pairs = equal_pairs(l->bytes[plane]), steps = equal_pairs(l->steps[plane]);
  if (!uneven(pairs, l->n)) return uneven(steps, l->n) ? PLANE_COMPRESSED : PLANE_RAW;
  // Packs bytes only if they are in no order: a byte follows itself as often as by chance.
  if ((uint64_t)l->steps[plane][0] * l->n * 2 > pairs * 3 || pairs * 10 > (uint64_t)l->n * l->n * 9)
    return PLANE_COMPRESSED;
  uint8_t four[15];
  uint32_t left = frequent(l->bytes[plane], l->n, 15, four), few = l->n - left;
  for (unsigned i = 3; i < 15; i++) few -= l->bytes[plane][four[i]];
  uint32_t two_bits = 2 * l->n + 8 * (l->n - few), four_bits = 4 * l->n + 8 * left, all = 8 * l->n;
  if (MIN(two_bits, four_bits) > all - all / 8) return PLANE_COMPRESSED;
  memcpy(list, four, sizeof four);
  return two_bits <= four_bits ? PLANE_TWO_BITS : PLANE_FOUR_BITS;
}

MANY_AT_A_TIME static void pack(const uint8_t *restrict codes, size_t quarter, bool four,
                                uint8_t *restrict to) {
  if (four)
    for (size_t i = 0; i < quarter; i++) to[i] = (uint8_t)(codes[i] | codes[quarter + i] << 4);
  else
    for (size_t i = 0; i < quarter; i++)
      to[i] = (uint8_t)(codes[i] | codes[quarter + i] << 2 | codes[2 * quarter + i] << 4 |
                        codes[3 * quarter + i] << 6);
}

// The number of each byte in the list; for bytes that are not in it, the length of the list.
MANY_AT_A_TIME static void number_few(const uint8_t *restrict bytes, size_t n,
                                      const uint8_t *restrict list, uint8_t *restrict to) {
  uint8_t a = list[0], b = list[1], c = list[2];
  for (size_t i = 0; i < n; i++) {
    uint8_t v = bytes[i];
    to[i] = v == a ? 0 : v == b ? 1 : v == c ? 2 : 3;
  }
}
MANY_AT_A_TIME static void number_more(const uint8_t *restrict bytes, size_t n,
                                       const uint8_t *restrict list, uint8_t *restrict to) {
  uint8_t l[15];
  memcpy(l, list, sizeof l);
  for (size_t i = 0; i < n; i++) {
    uint8_t v = bytes[i], k = 15;
#define IS(s) k = v == l[s] ? s : k;
    IS(0)
    IS(1)
    IS(2)
    IS(3)
    IS(4)
    IS(5)
    IS(6)
    IS(7)
    IS(8)
    IS(9)
    IS(10)
    IS(11)
    IS(12)
    IS(13)
    IS(14)
#undef IS
    to[i] = k;
  }
}

// Collects the bytes that are not in the list; `to` has room for 8 more. Eight bytes of the list
// cost as much as one.
static inline size_t collect_others(const uint8_t *bytes, const uint8_t *codes, size_t n,
                                    uint8_t symbols, uint8_t *to) {
  size_t others = 0;
  for (size_t i = 0; i < n; i += 8) {  // after the codes there is room, too
    uint64_t eight, differ, low = 0x0101010101010101u;
    memcpy(&eight, codes + i, 8);
    differ = eight ^ low * symbols;
    if (!((differ - low) & ~differ & low << 7)) continue;
    for (size_t k = i; k < MIN(i + 8, n); k++) {
      to[others] = bytes[k];
      others += codes[k] == symbols;
    }
  }
  return others;
}

static void write_packed(ColumnCoder *c, Bytes *out, const uint8_t *bytes, size_t n, bool four,
                         const uint8_t *list) {
  unsigned symbols = four ? 15 : 3, parts = four ? 2 : 4;
  size_t part = (n + parts - 1) / parts;
  uint8_t *codes = column_coder_scratch(c, CODER_PACKED, 2 * n + 64), *other = codes + n + 16;
  (four ? number_more : number_few)(bytes, n, list, codes);
  memset(codes + n, 0, 8);
  size_t others = collect_others(bytes, codes, n, (uint8_t)symbols, other);
  bytes_add(out, list, symbols);
  bytes_varint(out, others);
  bytes_reserve(out, part + others);
  pack(codes, part, four, out->data + out->len);
  out->len += part;
  bytes_add(out, other, others);
}

// Unpacks numbers that lie in one byte each, `shift` bits from its lowest. Returns how many of them
// are the largest one, which stands for a number that is kept in a byte of its own.
MANY_AT_A_TIME static size_t unpack(const uint8_t *restrict packed, size_t n, unsigned shift,
                                    uint8_t largest, uint8_t *restrict to) {
  size_t others = 0;
  for (size_t from = 0; from < n; from += 128) {
    size_t upto = MIN(n, from + 128);
    uint8_t some = 0;
    for (size_t i = from; i < upto; i++) {
      uint8_t k = packed[i] >> shift & largest;
      to[i] = k;
      some += k == largest;
    }
    others += some;
  }
  return others;
}

NEWER_TOO static bool read_packed(Reading *from, uint8_t *to, size_t n, bool four) {
  unsigned symbols = four ? 15 : 3, parts = four ? 2 : 4, bits = four ? 4 : 2;
  size_t part = (n + parts - 1) / parts;
  uint8_t list[16] = {0};
  for (unsigned i = 0; i < symbols; i++) list[i] = reading_u8(from);
  uint64_t others = reading_varint(from);
  if (from->bad || (uint64_t)(from->end - from->at) < part ||
      others > (uint64_t)(from->end - from->at) - part)
    return false;
  const uint8_t *packed = from->at, *other = packed + part, *end = other + others;
  uint64_t found = 0;
  for (size_t q = 0; q < parts && q * part < n; q++)
    found += unpack(packed, MIN(part, n - q * part), (unsigned)q * bits, (uint8_t)symbols,
                    to + q * part);
  if (found > others) return false;
  for (size_t i = 0; i < n; i++) {
    uint8_t k = to[i];
    if (k == symbols) to[i] = *other++;
    else to[i] = list[k];
  }
  from->at = end;
  return true;
}

// way: how each plane is kept; code: all ways as they are written
typedef struct Ways {
  unsigned compressed, code;
  uint8_t way[4], list[4][15];
} Ways;
static void ways_for(const uint32_t *words, size_t n, unsigned planes, bool as_steps, Ways *w) {
  *w = (Ways){.way = {PLANE_COMPRESSED, PLANE_COMPRESSED, PLANE_COMPRESSED, PLANE_COMPRESSED}};
  if (n >= FEW_WORDS) {
    Look l;
    look_at(words, n, as_steps, &l);
    if (as_steps || l.again * 64 <= l.n)  // steps are small numbers, which come again anyway
      for (unsigned p = 0; p < planes; p++) w->way[p] = (uint8_t)way_for_plane(&l, p, w->list[p]);
  }
  for (unsigned p = 0; p < planes; p++) {
    w->compressed += w->way[p] == PLANE_COMPRESSED;
    w->code |= (unsigned)w->way[p] << 2 * p;
  }
}

// How words are written: so many planes of them, as KIND_…, each plane in its way.
typedef struct WordLayout {
  unsigned planes, kind;
  const Ways *ways;
} WordLayout;
static void write_planes(ColumnCoder *c, Bytes *out, const uint32_t *words, size_t n,
                         const WordLayout *l) {
  unsigned planes = l->planes, kind = l->kind;
  const Ways *w = l->ways;
  if (kind == KIND_PLAIN) {
    bytes_u8(out, KIND_PLAIN);
    column_write(c, out, (const uint8_t *)words, n * 4);
    return;
  }
  bytes_u8(out, (uint8_t)(planes | kind));
  bytes_u8(out, (uint8_t)w->code);
  if (kind == KIND_STEPS) {
    uint32_t *steps = (uint32_t *)column_coder_scratch(c, CODER_STEPS, n * 4);
    to_steps(words, n, steps);
    words = steps;
  }
  // Those that are compressed lie side by side, then the others.
  uint8_t *to = column_coder_scratch(c, CODER_PLANES, n * 5), *plane[4];
  size_t before = 0, behind = w->compressed;
  for (unsigned p = 0; p < 4; p++)
    plane[p] = to + n * (p >= planes ? 4 : w->way[p] == PLANE_COMPRESSED ? before++ : behind++);
  if (planes > 2) split_all(words, n, plane[0], plane[1], plane[2], plane[3]);
  else
    for (unsigned p = 0; p < planes; p++) split(words, n, p, plane[p]);
  if (w->compressed) column_write(c, out, to, n * w->compressed);
  for (unsigned p = 0; p < planes; p++) {
    if (w->way[p] == PLANE_RAW) bytes_add(out, plane[p], n);
    if (w->way[p] >= PLANE_TWO_BITS)
      write_packed(c, out, plane[p], n, w->way[p] == PLANE_FOUR_BITS, w->list[p]);
  }
}

// Chooses the shortest kind: tries all with a piece of the words now and then, and when they look
// different from those before.
static unsigned kind_for(ColumnCoder *c, const uint32_t *words, size_t n, Ways *ways) {
  if (n < FEW_WORDS) return KIND_PLAIN;
  ColumnHabit *h = column_coder_habit(c);
  if (h->tried++ % TRY_EVERY && n > SAMPLE) {
    ways_for(words, n, 4, h->kind == KIND_STEPS, ways);
    if (ways->code == h->code) return h->kind;
  }
  Ways plain, steps;
  ways_for(words, n, 4, false, &plain);
  ways_for(words, n, 4, true, &steps);
  size_t some = MIN(n, (size_t)SAMPLE), least = SIZE_MAX;
  h->kind = 0;
  // otherwise they are random in every way
  for (unsigned kind = 0; kind <= KIND_STEPS && (plain.code || steps.code); kind += 8) {
    if (kind == KIND_PLAIN && plain.compressed != 4) continue;
    h->trial.len = 0;
    write_planes(c, &h->trial, words + (n - some) / 2, some,
                 &(WordLayout){4, kind, kind == KIND_STEPS ? &steps : &plain});
    if (h->trial.len < least) {
      least = h->trial.len;
      h->kind = kind;
    }
  }
  *ways = h->kind == KIND_STEPS ? steps : plain;
  h->code = ways->code;
  h->tried = 1;
  return h->kind;
}

void column_write_words(ColumnCoder *c, Bytes *out, const uint32_t *words, size_t n) {
  Ways ways = {0};
  bytes_varint(out, n);
  if (!n) return;
  unsigned kind = kind_for(c, words, n, &ways);
  write_planes(c, out, words, n, &(WordLayout){4, kind, &ways});
}

void column_write_planes(ColumnCoder *c, Bytes *out, const uint32_t *words, size_t n,
                         unsigned planes) {
  Ways ways;
  bytes_varint(out, n);
  if (!n) return;
  ways_for(words, n, planes, false, &ways);
  write_planes(c, out, words, n, &(WordLayout){planes, 0, &ways});
}

bool column_open_words(ColumnCoder *c, Reading *from, Arena *arena, size_t most, WordColumn *out) {
  uint64_t n = reading_varint(from);
  *out = (WordColumn){0};
  if (from->bad || n > most) return false;
  if (!n) return true;
  uint8_t kind = reading_u8(from), planes = kind & ~KIND_STEPS;
  Reading col = {0};
  out->n = n;
  if (kind == KIND_PLAIN) {
    if (!column_read(c, from, arena, n * 4, &col) || (uint64_t)(col.end - col.at) != n * 4)
      return false;
    out->words = (const uint32_t *)col.at;  // arenas align to 16
    return true;
  }
  uint8_t ways = reading_u8(from);
  uint64_t compressed = 0;
  if (from->bad || planes > 4) return false;
  out->planes = planes;
  out->steps = kind & KIND_STEPS;
  for (unsigned p = 0; p < planes; p++) compressed += (ways >> 2 * p & 3) == PLANE_COMPRESSED;
  if (compressed &&
      (!column_read(c, from, arena, n * 4, &col) || (uint64_t)(col.end - col.at) != n * compressed))
    return false;
  for (unsigned p = 0; p < planes; p++) {
    unsigned way = ways >> 2 * p & 3;
    if (way == PLANE_COMPRESSED) {
      out->bytes[p] = col.at;
      col.at += n;
    } else if (way == PLANE_RAW) {
      if ((uint64_t)(from->end - from->at) < n) return false;
      out->bytes[p] = from->at;
      from->at += n;
    } else {
      uint8_t *to = arena_alloc_uncleared(arena, n);
      if (!read_packed(from, to, n, way == PLANE_FOUR_BITS)) return false;
      out->bytes[p] = to;
    }
  }
  return true;
}

void column_join_words(const WordColumn *from, uint32_t *to) {
  if (!from->n) return;
  if (from->words) {
    memcpy(to, from->words, from->n * sizeof *to);
    return;
  }
  join(to, from->n, from->planes, from->bytes);
  if (from->steps) from_steps(to, from->n);
}
