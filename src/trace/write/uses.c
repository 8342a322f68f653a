// Finds the buffers that a launch read and wrote, from what it recorded: pointers in structs,
// pointers that were loaded from memory and variables count like parameters. The directories of its
// chunks tell the addresses between which each place has accessed memory; where several buffers lie
// between them, postings decide.
#include "trace/reader.h"

typedef struct UsesBuffer {
  uint32_t id, process;
  uint64_t base, end;
} UsesBuffer;
struct TraceUses {
  TraceReader *reader;
  UsesBuffer *list;  // by process, base, id
  uint32_t n;
  uint64_t largest;
  // of the launch that is looked at, by index in `list`
  uint8_t *how;
  VEC(uint32_t) touched;
};

TraceUses *trace_uses_new(TraceReader *t, Error *err) {
  sqlite3_stmt *s = reader_prepare(
      t, "SELECT id, process, base, size FROM allocation ORDER BY process, base, id", err);
  if (!s) return NULL;
  TraceUses *u = mem_alloc(sizeof *u);
  VEC(UsesBuffer) all = {0};
  u->reader = t;
  while (sqlite3_step(s) == SQLITE_ROW) {
    uint64_t base = (uint64_t)sqlite3_column_int64(s, 2),
             size = (uint64_t)sqlite3_column_int64(s, 3);
    if (!size || base + size < base) continue;
    vec_push(&all, ((UsesBuffer){(uint32_t)sqlite3_column_int64(s, 0),
                                 (uint32_t)sqlite3_column_int64(s, 1), base, base + size}));
    u->largest = MAX(u->largest, size);
  }
  sqlite3_finalize(s);
  u->list = all.data;
  u->n = all.len;
  u->how = mem_alloc(all.len + 1);
  return u;
}

void trace_uses_free(TraceUses *u) {
  if (!u) return;
  free(u->list);
  free(u->how);
  vec_free(&u->touched);
  free(u);
}

static uint32_t first_from(const TraceUses *u, uint32_t process, uint64_t address) {
  uint32_t low = 0, high = u->n;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const UsesBuffer *b = &u->list[middle];
    if (b->process < process || (b->process == process && b->base < address)) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Whether another buffer took this one's place before the launch.
static bool is_replaced(const TraceUses *u, uint32_t i, uint64_t order) {
  const UsesBuffer *b = &u->list[i];
  uint64_t from = b->base > u->largest ? b->base - u->largest : 0;
  for (uint32_t k = first_from(u, b->process, from);
       k < u->n && u->list[k].process == b->process && u->list[k].base < b->end; k++)
    if (u->list[k].id > b->id && u->list[k].id <= order && u->list[k].end > b->base) return true;
  return false;
}

// Finds buffers that overlap [low, high) and lived when the launch ran. Returns how many, and
// stores the first `most` of them.
typedef struct UsesRange {
  uint32_t process;
  uint64_t order;  // of the launch
  uint64_t low, high;
} UsesRange;
static uint32_t overlapping(const TraceUses *u, const UsesRange *r, uint32_t *out, uint32_t most) {
  uint32_t n = 0;
  uint64_t from = r->low > u->largest ? r->low - u->largest : 0;
  for (uint32_t i = first_from(u, r->process, from);
       i < u->n && u->list[i].process == r->process && u->list[i].base < r->high; i++) {
    if (u->list[i].end <= r->low || u->list[i].id > r->order || is_replaced(u, i, r->order))
      continue;
    if (n < most) out[n] = i;
    n++;
  }
  return n;
}

static void mark(TraceUses *u, uint32_t i, unsigned how) {
  if (!u->how[i]) vec_push(&u->touched, i);
  u->how[i] |= (uint8_t)how;
}

static unsigned place_use(const TraceReader *t, uint32_t process, const TracePlace *p) {
  const ReaderSite *s = reader_site(t, process, p->site);
  if (!(p->has & (ROW_AFFINE | ROW_EACH)) || (s && s->space)) return 0;
  if (!place_writes(t, process, p)) return TRACE_READS;
  bool atomic = p->has & ROW_OLD || (s && s->classes & 4);
  return atomic ? TRACE_READS | TRACE_WRITES : TRACE_WRITES;
}

enum { TOGETHER = 256 };

// A place that has accessed something near these buffers.
typedef struct Near {
  const ReaderChunk *chunk;
  const ChunkDirectory *directory;
  uint32_t place;
  unsigned how;
  const uint32_t *buffers;
  uint32_t n;
} Near;

// Marks the buffers that the place has accessed.
static bool decide(TraceUses *u, const Near *near, Error *err) {
  bool *only = mem_alloc(near->directory->nplaces + 1), ok = true;
  only[near->place] = true;
  for (uint32_t i = 0; ok && i < near->n; i++) {
    const UsesBuffer *b = &u->list[near->buffers[i]];
    PostingVec found = {0};
    if ((u->how[near->buffers[i]] & near->how) == near->how) continue;
    PostingQuery q = {.low = b->base, .high = b->end, .places = only};
    ok = reader_postings(u->reader, near->chunk, &q, &found, err);
    bool any = false;
    for (uint32_t k = 0; k < found.len && !any; k++)
      any = found.data[k].start < b->end && found.data[k].end > b->base;
    if (any) mark(u, near->buffers[i], near->how);
    vec_free(&found);
  }
  free(only);
  return ok;
}

static bool look_at_chunk(TraceUses *u, const ReaderLaunch *l, const ReaderChunk *c, uint64_t order,
                          Error *err) {
  TraceReader *t = u->reader;
  if (!c->has_global) return true;
  const ChunkDirectory *d = reader_directory(t, c, err);
  bool ok = d != NULL;
  for (uint32_t p = 0; ok && p < d->nplaces; p++) {
    unsigned how = place_use(t, l->process, &d->places[p]);
    if (!how) continue;
    bool bounded = d->bounds && d->bounds[p].high;
    uint64_t low = bounded ? d->bounds[p].low : c->low,
             high = bounded ? d->bounds[p].high : c->high;
    UsesRange range = {l->process, order, low, MAX(high, low + 1)};
    uint32_t among[TOGETHER], *list = among, n = overlapping(u, &range, among, TOGETHER);
    if (n > TOGETHER) {
      list = mem_alloc(sizeof *list * n);
      overlapping(u, &range, list, n);
    }
    if (n == 1 && bounded) mark(u, list[0], how);
    else {
      ok = decide(u, &(Near){c, d, p, how, list, n}, err);
      d = reader_directory(t, c, err);  // postings may have moved it
      ok = ok && d;
    }
    if (list != among) free(list);
  }
  return ok;
}

bool trace_uses_of(TraceUses *u, uint32_t launch, TraceUseVisitor *f, void *user, Error *err) {
  TraceReader *t = u->reader;
  const ReaderLaunch *l = reader_launch(t, launch);
  bool ok = true;
  if (!l) return true;
  uint64_t order = t->steps[l->step].order;
  reader_begin(t);
  reader_cache_trim(t);
  for (uint32_t i = 0; ok && i < l->nchunks; i++)
    ok = look_at_chunk(u, l, &t->chunks[l->first_chunk + i], order, err);
  reader_end(t);
  for (uint32_t i = 0; i < u->touched.len; i++) {
    uint32_t k = u->touched.data[i];
    if (ok) f(user, u->list[k].id, u->how[k]);
    u->how[k] = 0;
  }
  u->touched.len = 0;
  return ok;
}
