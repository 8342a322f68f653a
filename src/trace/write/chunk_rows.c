// Raw records of one launch become rows: sorted by warp, each warp's in order, a block's worth at a
// time. Records are sorted, not rows: a loop that was folded is one record and a thousand rows.
#include "trace/internal.h"

enum { AHEAD = 10, RADIX = 11, FORMS = 1024, CACHE = 64 };  // AHEAD: records
static const uint32_t GROUP = 1u << 31, UNKNOWN = UINT32_MAX;
// warp: its low 32 bits; form: its place, or GROUP and the number of its form
typedef struct Sorted {
  const uint32_t *raw;
  uint32_t warp, form;
} Sorted;
typedef struct Places {
  U64Map numbers;
  VEC(TracePlace) list;
  uint64_t last_key[8];
  uint32_t last[8];
} Places;

struct RowMaker {
  TraceRow *rows;
  uint64_t *addresses;
  const uint32_t **words;
  uint32_t *unsplit;
  Places places;
  Sorted *list, *spare;
  size_t cap;
  size_t n, next;
  uint32_t part;         // part: rows of the next record that were made already
  uint64_t least, most;  // warps
  // forms: one group of each form; other: a group for which there was no room
  RawGroup *forms, other;
  uint32_t nforms;
  uint32_t cache[CACHE];  // forms that came lately, plus 1
  bool damaged;           // a record changed after trace_take had looked at it
};

RowMaker *row_maker_new(void) {
  RowMaker *m = mem_alloc(sizeof *m);
  m->rows = mem_alloc(sizeof *m->rows * BLOCK_ROWS);
  m->addresses = mem_alloc(sizeof *m->addresses * (BLOCK_LANES + 32));
  m->words = mem_alloc(sizeof *m->words * BLOCK_ROWS);
  m->unsplit = mem_alloc(sizeof *m->unsplit * (BLOCK_LANES + 32) * 8);
  m->forms = mem_alloc(sizeof *m->forms * FORMS);
  return m;
}

void row_maker_free(RowMaker *m) {
  free(m->rows);
  free(m->addresses);
  free(m->words);
  free(m->unsplit);
  free(m->forms);
  free(m->list);
  free(m->spare);
  vec_free(&m->places.list);
  u64map_free(&m->places.numbers);
  free(m);
}

// A loop repeats its sites: the last ones are likely to come next.
static uint32_t place_number(Places *p, uint64_t key) {
  unsigned slot = (unsigned)(key ^ key >> 24) & 7;
  if (p->last[slot] && key == p->last_key[slot]) return p->last[slot] - 1;
  uintptr_t number = (uintptr_t)u64map_get(&p->numbers, key);
  if (!number) {
    vec_push(&p->list, raw_place(key));
    number = p->list.len;
    u64map_put(&p->numbers, key, (void *)number);
  }
  p->last_key[slot] = key;
  p->last[slot] = (uint32_t)number;
  return (uint32_t)number - 1;
}

static bool read_group(RowMaker *m, const uint32_t *w, RawGroup *g) {
  if (!raw_group_read(w, g)) return false;
  for (uint32_t i = 0; i < g->nops; i++)
    g->ops[i].place = place_number(&m->places, raw_key_of(&g->ops[i].kind));
  return true;
}

// false: it is not a group.
static inline bool form_of(RowMaker *m, const uint32_t *w, uint32_t *form, uint64_t *rows) {
  uint32_t *known = &m->cache[(w[0] ^ w[4] ^ w[1] * 0x9E3779B1u >> 20) % CACHE];
  if (*known && raw_group_is_like(w, m->forms[*known - 1].raw)) {
    *rows += m->forms[*known - 1].rows;
    *form = GROUP | (*known - 1);
    return true;
  }
  bool room = m->nforms < FORMS;
  RawGroup *g = room ? &m->forms[m->nforms] : &m->other;
  if (!read_group(m, w, g)) return false;
  *rows += g->rows;
  *form = UNKNOWN;
  if (!room) return true;
  *known = ++m->nforms;
  *form = GROUP | (m->nforms - 1);
  return true;
}

// Adds the record at `at` of the piece. Returns its length; 0: the program changed it while
// trace_take read it.
static inline size_t list_record(RowMaker *m, const RawPiece *p, size_t at, size_t most,
                                 uint64_t *rows) {
  const uint32_t *w = (const uint32_t *)(p->data + at);
  uint32_t head[8] = {0}, form;
  memcpy(head, w, MIN(p->len - at, sizeof head));
  size_t length = raw_length(head);
  if (!length || length > p->len - at || m->n >= most) return 0;
  uint64_t warp = raw_warp(w);
  if (!raw_is_group(w)) {
    ++*rows;
    form = place_number(&m->places, raw_place_key(w));
  } else if (!form_of(m, w, &form, rows)) {
    return 0;
  }
  if (*rows > most) return 0;
  m->list[m->n++] = (Sorted){w, (uint32_t)warp, form};
  m->least = MIN(m->least, warp);
  m->most = MAX(m->most, warp);
  return length;
}

NEWER_TOO static uint64_t list_records(RowMaker *m, const RawPiece *pieces) {
  size_t most = 0;
  for (const RawPiece *p = pieces; p; p = p->next) most += p->records;  // rows
  if (m->cap < most) {
    m->cap = most;
    m->list = memory_more(m->list, 0, most * sizeof *m->list);
    m->spare = memory_more(m->spare, 0, most * sizeof *m->spare);
  }
  uint64_t rows = 0;
  for (const RawPiece *p = pieces; p; p = p->next)
    for (size_t at = 0, length; at < p->len; at += length)
      if (!(length = list_record(m, p, at, most, &rows))) {
        m->damaged = true;
        return 0;
      }
  return rows;
}

// Sorts by warp; each warp's records keep their order. far: the low 32 bits do not tell warps
// apart.
static inline void sort_round(RowMaker *m, unsigned shift, bool far) {
  size_t count[1 << RADIX] = {0}, at = 0;
  uint64_t least = m->least, mask = (1 << RADIX) - 1;
#define DIGIT(e) \
  ((far ? raw_warp((e)->raw) - least : (uint32_t)((e)->warp - (uint32_t)least)) >> shift & mask)
  for (size_t i = 0; i < m->n; i++) count[DIGIT(&m->list[i])]++;
  for (unsigned d = 0; d < 1 << RADIX; d++) {
    size_t k = count[d];
    count[d] = at;
    at += k;
  }
  for (size_t i = 0; i < m->n; i++) m->spare[count[DIGIT(&m->list[i])]++] = m->list[i];
#undef DIGIT
  Sorted *t = m->list;
  m->list = m->spare;
  m->spare = t;
}

NEWER_TOO static void sort_by_warp(RowMaker *m) {
  bool far = (m->most - m->least) >> 32;
  for (unsigned shift = 0; m->n && (m->most - m->least) >> shift; shift += RADIX)
    far ? sort_round(m, shift, true) : sort_round(m, shift, false);
}

uint64_t row_maker_begin(RowMaker *m, const RawPiece *pieces) {
  m->n = m->next = m->part = m->nforms = 0;
  m->damaged = false;
  m->least = UINT64_MAX;
  m->most = 0;
  memset(m->cache, 0, sizeof m->cache);
  m->places.list.len = 0;
  memset(m->places.last, 0, sizeof m->places.last);
  u64map_free(&m->places.numbers);
  uint64_t rows = list_records(m, pieces);
  sort_by_warp(m);
  return rows;
}

bool row_maker_damaged(const RowMaker *m) { return m->damaged; }
void row_maker_places(const RowMaker *m, const TracePlace **list, uint32_t *n) {
  *list = m->places.list.data;
  *n = m->places.list.len;
}
uint64_t row_maker_first_warp(const RowMaker *m) { return m->n ? m->least : 0; }
uint64_t row_maker_last_warp(const RowMaker *m) { return m->n ? m->most : 0; }

// Prefetches: warps take turns in a ring, so that a warp's records are scattered over it.
static inline void fetch(const RowMaker *m, size_t i) {
  if (i + AHEAD >= m->n) return;
  const char *next = (const char *)m->list[i + AHEAD].raw;
  for (unsigned k = 0; k < 5; k++) __builtin_prefetch(next + 64 * k);
}

static inline void note_time(BlockInput *in, uint32_t time) {
  if (!in->has_time || time_is_later(time, in->last_time)) {
    in->last_time = time;
    in->has_time = true;
  }
}

NEWER_TOO bool row_maker_block(RowMaker *m, BlockInput *in) {
  if (m->next == m->n) return false;
  *in = (BlockInput){.places = m->places.list.data,
                     .nplaces = m->places.list.len,
                     .rows = m->rows,
                     .addresses = m->addresses,
                     .words = m->words};
  uint32_t unsplit = 0;
  while (m->next < m->n && in->nrows < BLOCK_ROWS && in->lanes < BLOCK_LANES) {
    const Sorted *e = &m->list[m->next];
    uint32_t lanes = (uint32_t)__builtin_popcount(e->raw[1]);
    if (!(e->form & GROUP)) {
      TraceRow *r = &m->rows[in->nrows];
      m->words[in->nrows++] = raw_expand(e->raw, r, m->addresses, &in->naddresses, m->unsplit,
                                         &unsplit);
      r->place = e->form;
      const TracePlace *p = &in->places[r->place];
      in->nwords += row_words(p, r->lanes);
      if (p->has & (ROW_AFFINE | ROW_EACH)) note_time(in, r->time);
      in->lanes += lanes;
      fetch(m, m->next++);
      continue;
    }
    const RawGroup *g = e->form == UNKNOWN ? &m->other : &m->forms[e->form & ~GROUP];
    if (e->form == UNKNOWN) read_group(m, e->raw, &m->other);
    uint32_t fit = MIN(BLOCK_ROWS - in->nrows, (BLOCK_LANES - in->lanes + lanes - 1) / lanes),
             some = MIN(fit, g->rows - m->part);
    RowsOut out = {.rows = m->rows + in->nrows,
                   .values = m->words + in->nrows,
                   .addresses = m->addresses,
                   .naddresses = in->naddresses,
                   .unsplit = m->unsplit,
                   .nunsplit = unsplit,
                   .nwords = in->nwords};
    raw_group_expand(g, e->raw, m->part, some, &out);
    in->naddresses = out.naddresses;
    in->nwords = out.nwords;
    unsplit = out.nunsplit;
    note_time(in, m->rows[in->nrows].time);
    in->nrows += some;
    in->lanes += some * lanes;
    m->part += some;
    if (m->part == g->rows) {
      m->part = 0;
      fetch(m, m->next++);
    }
  }
  return true;
}
