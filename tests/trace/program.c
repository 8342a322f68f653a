#include "program.h"

void program_sql(sqlite3 *db, const char *fmt, ...) {
  char text[2000];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  char *err = NULL;
  if (sqlite3_exec(db, text, NULL, NULL, &err) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", text, err);
    exit(1);
  }
}

sqlite3 *program_database(const char *path) {
  sqlite3 *db;
  Error err = {{0}};
  if (strcmp(path, ":memory:") != 0) CHECK((db = store_create(path, &err)) != NULL);
  else CHECK(sqlite3_open(path, &db) == SQLITE_OK);
  // The tables of src/run that questions need.
#define ID COLUMN(id, "INTEGER PRIMARY KEY")
#define INT(name) COLUMN(name, "INTEGER")
#define STRING(name) COLUMN(name, "TEXT")
#define COLUMN(name, type) #name " " type ","
#define VIEW(name, select)
#define TABLE(name, columns) \
  { \
    char list[] = columns; \
    list[sizeof list - 2] = 0; \
    program_sql(db, "CREATE TABLE IF NOT EXISTS " #name " (%s)", list); \
  }
#include "run/schema.def"
  return db;
}

static void make_sites(Program *p, sqlite3 *db) {
  static const struct { int kind, bytes, shared; const char *text;
  } kinds[] = {{TRACE_LOAD, 4, 0, "ld.global.u32 %r1, [%rd1]"},
               {TRACE_STORE, 4, 0, "st.global.u32 [%rd1], %r1"},
               {TRACE_ATOMIC, 4, 0, "atom.global.add.u32 %r1, [%rd1], %r2"},
               {TRACE_SYNC, 0, 0, "bar.sync 0"},
               {TRACE_VALUE, 8, 0, "wg_record"},
               {TRACE_LOAD, 8, 0, "ld.global.u64 %rd2, [%rd1]"},
               {TRACE_STORE, 8, 0, "st.global.u64 [%rd1], %rd2"},
               {TRACE_LOAD, 16, 0, "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd1]"},
               {TRACE_STORE, 16, 0, "st.global.v4.u32 [%rd1], {%r1,%r2,%r3,%r4}"},
               {TRACE_LOAD, 1, 0, "ld.global.u8 %r1, [%rd1]"},
               {TRACE_STORE, 2, 0, "st.global.u16 [%rd1], %rs1"},
               {TRACE_LOAD, 4, 1, "ld.shared.u32 %r1, [%rd1]"},
               {TRACE_STORE, 4, 1, "st.shared.u32 [%rd1], %r1"},
               {TRACE_LOAD, 4, 0, "ld.global.f32 %f1, [%rd1]"},
               {TRACE_ATOMIC, 8, 0, "atom.global.max.u64 %rd2, [%rd1], %rd3"},
               {TRACE_STORE, 4, 0, "st.global.f32 [%rd1], %f1"}};
  for (int i = 0; i < SITES; i++) {
    p->sites[i] = (Site){kinds[i].kind, kinds[i].bytes, kinds[i].shared, kinds[i].text};
    int classes = kinds[i].kind == TRACE_LOAD     ? 1
                  : kinds[i].kind == TRACE_STORE  ? 2
                  : kinds[i].kind == TRACE_ATOMIC ? 4
                  : kinds[i].kind == TRACE_VALUE  ? 1 << 11
                                                  : 8;
    program_sql(db, "INSERT INTO site VALUES (%u, %u, %d, 1, 'k', '%s', 1, %d, '%s', %d, NULL, 0)",
                1000 + i, PROCESS, i, kinds[i].text, classes, kinds[i].shared ? "shared" : "global",
                kinds[i].bytes);
  }
  p->next_id = 2000;
}

static void snapshot(Program *p, MStep *s) {
  for (int i = 0; i < BUFFERS; i++) {
    Buffer *b = &p->buffers[i];
    s->after[i] = mem_alloc(b->size);
    s->known[i] = mem_alloc(b->size);
    memcpy(s->after[i], b->data, b->size);
    memcpy(s->known[i], b->known, b->size);
  }
}

void program_give(Program *p, TraceWriter *w, bool all) {
  for (uint32_t r = 0; r < p->rings; r++) {
    Out *o = &p->ring[r];
    // What is there so far, cut anywhere.
    size_t n = all ? o->len : below(&p->rng, o->len / 16 + 1) * 16;
    if (!n) continue;
    uint8_t *copy = mem_alloc(n + 16);
    memcpy(copy, o->data, n);
    size_t took = trace_take(w, PROCESS, r, copy, n, false);
    CHECK(took <= n && (!all || took == n));
    memmove(o->data, o->data + took, o->len - took);
    o->len -= took;
    free(copy);
  }
}

static uint8_t *memory_at(Program *p, uint64_t address, uint8_t **known, uint32_t **writer) {
  for (int i = 0; i < BUFFERS; i++) {
    Buffer *b = &p->buffers[i];
    if (address < b->base || address >= b->base + b->size) continue;
    *known = b->known + (address - b->base);
    *writer = b->writer + (address - b->base);
    return b->data + (address - b->base);
  }
  CHECK(!"an address outside all buffers");
  return NULL;
}

static void choose_addresses(Program *p, WarpOp *op, const Site *s, uint64_t warp) {
  uint64_t way = below(&p->rng, 7), b = below(&p->rng, BUFFERS),
           size = s->shared ? SHARED_BYTES : p->buffers[b].size,
           base = s->shared ? 1ull << WG_TRACE_SPACE_AT : p->buffers[b].base;
  uint64_t count = size / (uint64_t)s->bytes, first = below(&p->rng, count);
  for (uint32_t l = 0; l < 32; l++) {
    uint64_t index;
    switch (way) {
      case 0: case 1: index = warp * 32 + l; break;
      case 2: index = first; break;
      case 3: index = first + l * 5; break;
      case 4: index = first + 32 - l; break;
      default: index = below(&p->rng, count); break;
    }
    if (way == 6 && !s->shared) {  // lanes far apart
      base = p->buffers[b = below(&p->rng, BUFFERS)].base;
      count = p->buffers[b].size / (uint64_t)s->bytes;
    }
    op->address[l] = base + index % count * (uint64_t)s->bytes;
  }
}

static void atomic(const Site *s, const uint8_t *operand, uint8_t *memory) {
  if (s->bytes == 4) {
    uint32_t a, b;
    memcpy(&a, memory, 4);
    memcpy(&b, operand, 4);
    a += b;
    memcpy(memory, &a, 4);
  } else {
    uint64_t a, b;
    memcpy(&a, memory, 8);
    memcpy(&b, operand, 8);
    if (b > a) a = b;
    memcpy(memory, &a, 8);
  }
}

static void warp_operation(Program *p, MLaunch *l, uint32_t step_id, uint64_t warp,
                           uint32_t all_lanes, uint8_t *shared, uint32_t *shared_writer,
                           uint32_t *order, int forced) {
  uint32_t number = forced >= 0 ? (uint32_t)forced : (uint32_t)below(&p->rng, SITES);
  while (forced < 0 && p->sites[number].kind == TRACE_SYNC)
    number = (uint32_t)below(&p->rng, SITES);
  const Site *s = &p->sites[number];
  uint32_t lanes = below(&p->rng, 3) && forced < 0 ? all_lanes & (uint32_t)rnd(&p->rng) : all_lanes;
  if (below(&p->rng, 4) == 0 && forced < 0) lanes = all_lanes & 1u << below(&p->rng, 32);
  if (!lanes) lanes = all_lanes & -all_lanes;
  if (!lanes) return;
  WarpOp op = {.site = number,
               .launch = l->number & 0xFFFFFF,
               .lanes = lanes,
               .warp = warp,
               .time = ++p->time & 0x7FFFFFFF,
               .planes = s->bytes <= 4 ? 1 : s->bytes / 4};
  op.has_address = s->kind == TRACE_LOAD || s->kind == TRACE_STORE || s->kind == TRACE_ATOMIC;
  op.values = s->kind == TRACE_SYNC ? 0 : s->kind == TRACE_ATOMIC ? 2 : 1;
  op.same = s->kind == TRACE_LOAD;
  if (s->kind == TRACE_LOAD && !s->shared && below(&p->rng, 8) == 0)
    op.values = 0;  // it can be replayed
  if (op.values == 0) op.planes = 0;
  if (op.has_address) choose_addresses(p, &op, s, warp);
  for (uint32_t l2 = 0; l2 < 32; l2++) {
    if (!(lanes >> l2 & 1)) continue;
    MOp m = {.step = step_id,
             .launch = l->id,
             .launch_number = l->number,
             .warp = warp,
             .lane = l2,
             .thread = warp / l->warps * l->threads + warp % l->warps * 32 + l2,
             .order = (*order)++,
             .site = number,
             .bytes = (uint32_t)s->bytes,
             .kind = s->kind,
             .shared = s->shared,
             .values = op.values,
             .block = warp / l->warps,
             .time = op.time};
    uint8_t value[16] = {0};
    for (int k = 0; k < s->bytes; k++) value[k] = (uint8_t)(below(&p->rng, 4) ? 0 : rnd(&p->rng));
    if (below(&p->rng, 50) == 0 && s->bytes >= 4) memcpy(value, &(uint32_t){WG_TRACE_KEY}, 4);
    if (op.has_address) {
      uint64_t a = op.address[l2];
      m.address = a & ((1ull << WG_TRACE_SPACE_AT) - 1);
      uint64_t in_shared = m.block % 64 * SHARED_BYTES + m.address;
      uint32_t *writer = shared_writer + in_shared;
      uint8_t *known = NULL,
              *at = s->shared ? shared + in_shared : memory_at(p, a, &known, &writer);
      if (s->kind != TRACE_STORE) memcpy(m.saw, writer, sizeof *writer * (size_t)s->bytes);
      for (int k = 0; k < s->bytes && s->kind != TRACE_LOAD; k++) writer[k] = p->ops.len + 1;
      if (s->kind == TRACE_LOAD) memcpy(value, at, (size_t)s->bytes);
      if (s->kind == TRACE_ATOMIC) memcpy(m.old, at, (size_t)s->bytes);
      if (s->kind == TRACE_STORE) memcpy(at, value, (size_t)s->bytes);
      if (s->kind == TRACE_ATOMIC) atomic(s, value, at);
      if (s->kind != TRACE_LOAD && known) memset(known, 1, (size_t)s->bytes);
    }
    memcpy(m.value, value, 16);
    for (int k = 0; k < 4; k++) {
      memcpy(&op.value[k][l2], value + 4 * k, 4);
      memcpy(&op.old[k][l2], m.old + 4 * k, 4);
    }
    vec_push(&p->ops, m);
  }
  record_write(&p->ring[warp / 3 % p->rings], &op);
  p->warp_records++;
}

static void launch(Program *p, sqlite3 *db, TraceWriter *w, unsigned rounds) {
  static const uint32_t sizes[] = {32, 64, 100, 33, 256, 7, 96};
  MLaunch l = {.number = p->launches.len + 1,
               .threads = sizes[below(&p->rng, ARRAY_LEN(sizes))],
               .blocks = 1 + below(&p->rng, 12),
               .step = p->steps.len};
  l.warps = (l.threads + 31) / 32;
  l.id = p->next_id++;
  program_sql(db,
              "INSERT INTO launch VALUES (%u, %u, %u, 1, %llu, 1, 1, %u, 1, 1, 1, 1, 1, 0, 0, 0, "
              "0, 0, 0, 0)",
              l.id, PROCESS, l.number, (unsigned long long)l.blocks, l.threads);
  MStep s = {.id = p->next_id++, .number = p->steps.len + 1, .launch = l.id};
  program_sql(db,
              "INSERT INTO step (id, process, number, kind, launch, recorded) VALUES (%u, %u, %u, "
              "'launch', %u, 1)",
              s.id, PROCESS, s.number, l.id);
  uint64_t warps = l.blocks * l.warps;
  uint8_t *shared = mem_alloc(64 * SHARED_BYTES);
  uint32_t *order = mem_alloc(sizeof *order * warps),
           *shared_writer = mem_alloc(sizeof *shared_writer * 64 * SHARED_BYTES);
  l.barriers = mem_alloc(sizeof *l.barriers * l.blocks);
  for (unsigned i = 0; i < rounds; i++) {
    uint64_t warp = below(&p->rng, warps);
    uint32_t in_block = (uint32_t)(warp % l.warps),
             lanes = in_block == l.warps - 1 && l.threads % 32 ? (1u << l.threads % 32) - 1
                                                               : UINT32_MAX;
    if (below(&p->rng, 30) == 0) {           // a barrier: all warps of the block
      uint64_t block = warp / l.warps;
      l.barriers[block]++;
      for (uint32_t k = 0; k < l.warps; k++)
        warp_operation(p, &l, s.id, block * l.warps + k,
                       k == l.warps - 1 && l.threads % 32 ? (1u << l.threads % 32) - 1 : UINT32_MAX,
                       shared, shared_writer, &order[block * l.warps + k], 3);
    } else {
      warp_operation(p, &l, s.id, warp, lanes, shared, shared_writer, &order[warp], -1);
    }
    if (below(&p->rng, 40) == 0) program_give(p, w, false);
  }
  free(order);
  free(shared);
  free(shared_writer);
  snapshot(p, &s);
  vec_push(&p->launches, l);
  vec_push(&p->steps, s);
}

static void host_step(Program *p, sqlite3 *db, TraceWriter *w) {
  MStep s = {.number = p->steps.len + 1, .id = p->next_id++, .kind = 1 + (int)below(&p->rng, 4)};
  Buffer *to = &p->buffers[below(&p->rng, BUFFERS)], *from = &p->buffers[below(&p->rng, BUFFERS)];
  uint64_t most = MIN(to->size, from->size), offset = below(&p->rng, most),
           n = 1 + below(&p->rng, most - offset), from_offset = below(&p->rng, most - n + 1);
  s.destination = to->base + offset;
  s.width = n;
  uint8_t *bytes = mem_alloc(n + 4);
  uint32_t me = HOST | p->steps.len;
  if (s.kind == 1) {
    for (uint64_t i = 0; i < n; i++) bytes[i] = (uint8_t)rnd(&p->rng);
    program_sql(db,
                "INSERT INTO step (id, process, number, kind, destination, source, width, height, "
                "depth) VALUES (%u, %u, %u, 'copy', %llu, 4096, %llu, 1, 1)",
                s.id, PROCESS, s.number, (unsigned long long)s.destination, (unsigned long long)n);
    trace_contents_set(w, PROCESS, s.number, s.destination, bytes, n);
    memcpy(to->data + offset, bytes, n);
    memset(to->known + offset, 1, n);
    for (uint64_t i = 0; i < n; i++) to->writer[offset + i] = me;
    s.source = 4096;
  } else if (s.kind == 2) {
    s.source = from->base + from_offset;
    program_sql(db,
                "INSERT INTO step (id, process, number, kind, destination, source, width, height, "
                "depth) VALUES (%u, %u, %u, 'copy', %llu, %llu, %llu, 1, 1)",
                s.id, PROCESS, s.number, (unsigned long long)s.destination,
                (unsigned long long)s.source, (unsigned long long)n);
    memmove(to->data + offset, from->data + from_offset, n);
    memmove(to->known + offset, from->known + from_offset, n);
    for (uint64_t i = 0; i < n; i++) to->writer[offset + i] = me;
  } else if (s.kind == 3) {
    uint32_t value = (uint32_t)rnd(&p->rng), width = 1u << below(&p->rng, 3);
    offset &= ~3ull;
    n = (n + 3) & ~3ull;
    if (offset + n > to->size) n = to->size - offset;
    s.destination = to->base + offset;
    s.width = n;
    if (width < 4) value &= (1u << 8 * width) - 1;
    program_sql(db,
                "INSERT INTO step (id, process, number, kind, destination, width, height, depth, "
                "value, value_bytes) VALUES (%u, %u, %u, 'set', %llu, %llu, 1, 1, %u, %u)",
                s.id, PROCESS, s.number, (unsigned long long)s.destination, (unsigned long long)n,
                value, width);
    for (uint64_t i = 0; i < n; i++) to->data[offset + i] = (uint8_t)(value >> 8 * (i % width));
    memset(to->known + offset, 1, n);
    for (uint64_t i = 0; i < n; i++) to->writer[offset + i] = me;
  } else {                                   // to the host
    s.source = from->base + from_offset;
    s.destination = 8192;
    program_sql(db,
                "INSERT INTO step (id, process, number, kind, destination, source, width, height, "
                "depth) VALUES (%u, %u, %u, 'copy', 8192, %llu, %llu, 1, 1)",
                s.id, PROCESS, s.number, (unsigned long long)s.source, (unsigned long long)n);
  }
  free(bytes);
  snapshot(p, &s);
  vec_push(&p->steps, s);
}

void program_make(Program *p, uint64_t seed, unsigned nsteps, unsigned rounds, sqlite3 *db,
                  TraceWriter *w) {
  *p = (Program){.rng = {seed}};
  p->rings = 1 + (uint32_t)below(&p->rng, 4);
  p->ring = mem_alloc(sizeof *p->ring * p->rings);
  p->time = (uint32_t)rnd(&p->rng);
  make_sites(p, db);
  uint64_t at = 0x7f0000000000;
  for (int i = 0; i < BUFFERS; i++) {
    Buffer *b = &p->buffers[i];
    b->id = p->next_id++;
    b->base = at;
    b->size = 512 << below(&p->rng, 4);
    b->data = mem_alloc(b->size);
    b->known = mem_alloc(b->size);
    b->writer = mem_alloc(sizeof *b->writer * b->size);
    at += i == 1 ? 0x100000000ull : b->size + 256;
    program_sql(
        db, "INSERT INTO allocation VALUES (%u, %u, %llu, %llu, 'device', 0, NULL, 0, 0, 0, NULL)",
        b->id, PROCESS, (unsigned long long)b->base, (unsigned long long)b->size);
  }
  for (unsigned i = 0; i < nsteps; i++) {
    if (below(&p->rng, 2)) launch(p, db, w, rounds);
    else host_step(p, db, w);
    Error err;
    if (below(&p->rng, 3) == 0 && !trace_save(w, db, false, &err)) {
      fprintf(stderr, "%s\n", err.text);
      exit(1);
    }
  }
  program_give(p, w, true);
}

void program_free(Program *p) {
  for (uint32_t i = 0; i < p->steps.len; i++)
    for (int b = 0; b < BUFFERS; b++) {
      free(p->steps.data[i].after[b]);
      free(p->steps.data[i].known[b]);
    }
  for (uint32_t i = 0; i < p->launches.len; i++) free(p->launches.data[i].barriers);
  for (int i = 0; i < BUFFERS; i++) {
    free(p->buffers[i].data);
    free(p->buffers[i].known);
    free(p->buffers[i].writer);
  }
  for (uint32_t i = 0; i < p->rings; i++) free(p->ring[i].data);
  free(p->ring);
  vec_free(&p->ops);
  vec_free(&p->steps);
  vec_free(&p->launches);
}
