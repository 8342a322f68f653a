// Copies and sets: the state of each byte moves along, and copies to the host are checked.
#include "tools/initcheck/host.h"

// most rows of a copy that are followed one by one, if each row costs a call of the driver
enum { ROWS_ON_A_DEVICE = 16 };

static uint64_t pitch_of(const SessionPlace *p, const SessionCopy *c) {
  return p->pitch ? p->pitch : p->x + c->width;
}

static uint64_t row_address(const SessionPlace *p, const SessionCopy *c, size_t y, size_t z) {
  uint64_t rows = p->rows ? p->rows : p->y + c->height;
  return p->address + ((p->z + z) * rows + p->y + y) * pitch_of(p, c) + p->x;
}

static uint64_t end_address(const SessionPlace *p, const SessionCopy *c) {
  return row_address(p, c, c->height - 1, c->depth - 1) + c->width;
}

static bool is_flat(const SessionPlace *p, const SessionCopy *c) {
  return c->height * c->depth == 1 ||
         end_address(p, c) - row_address(p, c, 0, 0) == c->width * c->height * c->depth;
}

// Rows that follow each other without gaps count as one row.
typedef struct Rows {
  size_t width, height, depth;
} Rows;
static Rows rows_of(const SessionCopy *c) {
  bool flat = (c->to.kind == SESSION_PLACE_ARRAY || is_flat(&c->to, c)) &&
              (c->is_set || c->from.kind == SESSION_PLACE_ARRAY || is_flat(&c->from, c));
  return flat ? (Rows){c->width * c->height * c->depth, 1, 1}
              : (Rows){c->width, c->height, c->depth};
}

// --- into memory with a shadow ---

static void initialise(uint64_t to, uint64_t n, const void *stream) {
  for (uint64_t step; n; to += step, n -= step) {
    Shadow *s;
    step = shadow_run(to, n, &s);
    if (!s || !s->address) continue;
    shadow_set(s, stream, to - s->base, step, SHADOW_GOOD);
    shadow_covered(s, to - s->base, to - s->base + step);
  }
}

static void move(uint64_t to, uint64_t from, uint64_t n, const void *stream) {
  for (uint64_t step; n; to += step, from += step, n -= step) {
    Shadow *d, *s;
    step = shadow_run(to, n, &d);
    if (!d || !d->address) continue;
    step = shadow_run(from, step, &s);
    if (!s || !s->address) {
      initialise(to, step, stream);
      continue;
    }
    bool whole = s->whole;  // then the copied bytes are initialised, too
    shadow_move(d, to - d->base, s, from - s->base, step, stream);
    if (whole) shadow_covered(d, to - d->base, to - d->base + step);
    else shadow_kernel_writes(d, false);
  }
}

static bool has_shadow(uint64_t address, bool *direct) {
  void *user;
  Shadow *s = shadow_find(address);
  if (!s || !s->address) return false;
  *direct = session_device_ops(s->device, &user)->direct;
  return true;
}

static void bring(const SessionCopy *c) {
  Rows r = rows_of(c);
  uint64_t first = row_address(&c->to, c, 0, 0);
  bool direct = true, from_array = c->from.kind == SESSION_PLACE_ARRAY,
       from_host = c->from.kind == SESSION_PLACE_HOST;
  has_shadow(first, &direct);
  // the gaps between the rows count as initialised, too
  if (!direct && r.height * r.depth > ROWS_ON_A_DEVICE) {
    initialise(first, end_address(&c->to, c) - first, c->stream);
    return;
  }
  for (size_t z = 0; z < r.depth; z++)
    for (size_t y = 0; y < r.height; y++) {
      uint64_t to = row_address(&c->to, c, y, z);
      if (c->is_set || from_array || from_host) initialise(to, r.width, c->stream);
      else move(to, row_address(&c->from, c, y, z), r.width, c->stream);
    }
}

// --- to the host ---

// Host memory. Managed memory counts as such only if the call says that it means the host.
static bool is_host(const SessionPlace *p) {
  if (p->kind == SESSION_PLACE_HOST) return true;
  if (p->kind != SESSION_PLACE_UNIFIED) return false;
  const Shadow *s = shadow_find(p->address);
  return !s || s->kind == SESSION_PINNED || s->kind == SESSION_REGISTERED;
}

static void report(const SessionCopy *c, uint64_t base, const ShadowTally *t) {
  if (t->derived)
    session_finding(&(SessionFinding){
        .kind = "uninit-use",
        .text = "Data computed from memory that was never written is copied to the host",
        .has_address = true,
        .address = base + t->first_derived,
        .size = t->derived,
        .stack = c->stack});
  if (t->never)
    session_finding(&(SessionFinding){.kind = "uninit-copy",
                                      .text = "Memory that was never written is copied to the host",
                                      .has_address = true,
                                      .address = base + t->first_never,
                                      .size = t->never,
                                      .stack = c->stack});
}

// The shadow of what is copied to the host
typedef struct CopyOut {
  uint64_t first, bits;  // first byte of memory, and the address of its shadow
  size_t bytes;
  bool direct;
} CopyOut;

// false: nothing to check
static bool find_copy_out(const SessionCopy *c, CopyOut *out) {
  if (c->is_set || c->from.kind == SESSION_PLACE_ARRAY || c->from.kind == SESSION_PLACE_HOST)
    return false;
  uint64_t first = row_address(&c->from, c, 0, 0), end = end_address(&c->from, c);
  bool direct = false;
  shadow_lock();
  const Shadow *s = is_host(&c->to) ? shadow_find(first) : NULL;
  bool wanted = s && s->address && end <= s->base + s->size && has_shadow(first, &direct) &&
                (direct || !s->whole);
  if (wanted) {
    uint64_t skipped = (first - s->base) / 32 * 32;
    *out = (CopyOut){.first = s->base + skipped,
                     .bits = s->address + skipped / 4,
                     .bytes = (end - s->base - skipped + 3) / 4,
                     .direct = direct};
  }
  shadow_unlock();
  return wanted;
}

static void check_copy_out(const SessionCopy *c, uint64_t first, const void *bits) {
  ShadowTally t = {0};
  Rows r = {c->width, c->height, c->depth};
  if (is_flat(&c->from, c)) r = (Rows){c->width * c->height * c->depth, 1, 1};
  for (size_t z = 0; z < r.depth; z++)
    for (size_t y = 0; y < r.height; y++)
      shadow_tally(bits, row_address(&c->from, c, y, z) - first, r.width, &t);
  report(c, first, &t);
}

typedef struct Later {
  SessionCopy copy;
  uint64_t first;
} Later;
static void check_later(void *later, const void *bits) {
  Later *l = later;
  if (bits) check_copy_out(&l->copy, l->first, bits);
  free(l);
}

// Behind an asynchronous copy the stream reads the shadow of what it copied.
static void look_later(const SessionDevice *d, const SessionCopy *c, const CopyOut *o) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  Later *l = mem_alloc(sizeof *l);
  *l = (Later){*c, o->first};
  l->copy.stack = session_copy_stack();
  SessionReadLater result = ops->read_later(user, c->stream, o->bits, o->bytes, check_later, l);
  if (result == READ_NO_ROOM)
    log_once("initcheck staging",
             "initcheck: more is being copied to the host at once than is kept track of; some of "
             "it is not looked at");
  if (result != READ_TAKEN) free(l);
}

static void look_now(const SessionDevice *d, const SessionCopy *c, const CopyOut *o) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  uint8_t *bits = mem_alloc(o->bytes);
  if (ops->read(user, bits, o->bits, o->bytes)) check_copy_out(c, o->first, bits);
  free(bits);
}

void shadow_copy_runs(SessionDevice *d, const SessionCopy *c) {
  CopyOut out;
  if (!c->width || !c->height || !c->depth) return;
  if (find_copy_out(c, &out)) {
    if (out.direct) check_copy_out(c, out.first, (const void *)(uintptr_t)out.bits);
    else if (c->async) look_later(d, c, &out);
    else look_now(d, c, &out);
    return;
  }
  if (c->to.kind == SESSION_PLACE_ARRAY || c->to.kind == SESSION_PLACE_HOST) return;
  shadow_lock();
  bring(c);
  shadow_unlock();
}
