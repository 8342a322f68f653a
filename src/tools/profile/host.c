// profile inside the program: joins the counters of a module with the facts found in its code, and
// sends them to the command when the module is unloaded or the device is closed.
#include "session/counters.h"
#include "tools/profile/host.h"
#include "tools/profile/internal.h"
#include "tools/profile/measures.h"
#include "tools/options.h"
#include "tools/tool.h"

typedef struct ProfileDevice {
  bool lost_said;
} ProfileDevice;

static void say_lost(ToolDevice *d, const char *why) {
  ProfileDevice *state = d->state;
  if (state->lost_said) return;
  state->lost_said = true;
  session_note(SEVERITY_WARNING, "what was measured on device %d is lost: %s", d->ordinal, why);
}

// now: includes counts that were sent before; for numbers that are not sums
typedef struct Counted {
  const CountTable *table;
  const uint64_t *since, *now;
} Counted;

static uint64_t sum_of(const Counted *c, uint32_t i) { return count_read(c->table, c->since, i); }

static uint64_t largest_of(const Counted *c, uint32_t i) {
  uint64_t most = 0;
  for (uint32_t r = 0; r < c->table->replicas; r++)
    most = MAX(most, c->now[i + (uint64_t)r * c->table->ncounters]);
  return most;
}

static uint64_t bits_of(const Counted *c, uint32_t i) {
  uint64_t bits = 0;
  for (uint32_t r = 0; r < c->table->replicas; r++)
    bits |= c->now[i + (uint64_t)r * c->table->ncounters];
  return bits;
}

// Completes the device's counter of sectors (or lines) with the part that the code determines.
typedef struct KnownRequests {
  uint64_t n, threads;
} KnownRequests;
static uint64_t known_sum(const Counted *c, const ProfileSite *s, bool lines, KnownRequests r) {
  uint64_t counted = sum_of(c, s->slot + (lines ? SLOT_EXTRA_LINES : SLOT_EXTRA_UNITS));
  switch (s->from[lines]) {
    case FROM_REQUESTS: return r.n * (lines ? s->lines : s->units) + counted;
    case FROM_THREADS: return r.threads + counted;
    case FROM_NOTHING: break;
  }
  return counted;
}

// Sectors beyond those of full, aligned requests: at most one for each request. Warps that are not
// full may hide some: it is not known which lanes they lack.
static uint64_t misaligned_of(const ProfileSite *s, uint64_t units, KnownRequests r) {
  uint64_t each = 31 * s->bytes / 32 + 1;
  return units > r.n * each ? MIN(units - r.n * each, r.n) : 0;
}

// Infers the distance from lane to lane, which the launch decides, from sectors and lines.
static void add_decided(const ProfileSite *s, uint64_t *v, const uint64_t sums[2],
                        KnownRequests r) {
  uint64_t gaps = r.threads - r.n, distance = 0;
  if (sums[0] == r.n) {
    v[ACCESS_SAME] += r.n;
    return;
  }
  bool far = sums[1] == r.threads;  // 128 bytes or more; the distance itself is not known
  if (!far && gaps)
    distance = sums[0] < r.threads ? (sums[0] - r.n) * 32 / gaps : (sums[1] - r.n) * 128 / gaps;
  distance = (distance + s->bytes / 2) / s->bytes * s->bytes;
  if (!far && distance == s->bytes) {
    v[ACCESS_UNIT] += r.n;
    v[ACCESS_OFF] += misaligned_of(s, sums[0], r);
    return;
  }
  v[ACCESS_STRIDE] += r.n;
  v[ACCESS_LEAST] = v[ACCESS_MOST] = far ? 0 : distance;
}

// Scales numbers of a sample to n requests.
static void scale(uint64_t *v, uint64_t n) {
  uint64_t sampled = v[ACCESS_REQUESTS];
  for (unsigned i = ACCESS_UNITS; i <= ACCESS_OFF; i++)
    v[i] = (uint64_t)((double)v[i] * (double)n / (double)sampled + 0.5);
  v[ACCESS_REQUESTS] = n;
}

// How many of a block's requests have all lanes, if the others have as many lanes as the sampled
// ones.
static uint64_t full_requests(const uint64_t *v, KnownRequests all) {
  double lanes = (double)v[ACCESS_THREADS] / (double)v[ACCESS_REQUESTS];
  double full = ((double)all.threads - lanes * (double)all.n) / (32 - lanes);
  if (lanes > 31) return all.n - MIN(v[ACCESS_REQUESTS], all.n);
  return full < 0 ? 0 : MIN((uint64_t)(full + 0.5), all.n);
}

// The site runs as often as its block: even if requests were sampled, their number is exact. For
// sites whose full-warp requests the code determines, the samples are of the other requests.
static void use_block(const Counted *c, const ProfileSite *s, uint64_t *v) {
  if (!v[ACCESS_REQUESTS] || !s->is_whole || s->block == COUNT_NONE) return;
  KnownRequests all = {count_block_warps(c->table, c->since, s->block),
                       count_block_threads(c->table, c->since, s->block)};
  uint64_t full = 0;
  if (s->mode == SITE_KNOWN || s->mode == SITE_WIDE) full = full_requests(v, all);
  if (s->mode == SITE_SAME && v[ACCESS_REQUESTS] <= all.n) return;
  scale(v, all.n - full);
  v[ACCESS_THREADS] = all.threads - MIN(32 * full, all.threads);
}

// Adds the requests that were not measured: the code determines each of them.
static void add_known(const Counted *c, const ProfileSite *s, uint64_t *v) {
  if (s->mode == SITE_LOOKED_AT || s->block == COUNT_NONE) return;
  uint64_t n = count_block_warps(c->table, c->since, s->block) - v[ACCESS_REQUESTS];
  uint64_t threads = count_block_threads(c->table, c->since, s->block) - v[ACCESS_THREADS];
  if (!n) return;
  KnownRequests r = {n, threads};
  uint64_t sums[2] = {known_sum(c, s, false, r), known_sum(c, s, true, r)};
  v[ACCESS_REQUESTS] += n;
  v[ACCESS_THREADS] += threads;
  v[ACCESS_UNITS] += sums[0];
  v[ACCESS_LINES] += sums[1];
  uint64_t distance = (uint64_t)(s->stride < 0 ? -(int64_t)s->stride : s->stride);
  if (s->mode == SITE_WIDE && s->from[0] != FROM_REQUESTS) add_decided(s, v, sums, r);
  else if (s->mode == SITE_WIDE) v[ACCESS_STRIDE] += n;
  else if (!distance) v[ACCESS_SAME] += n;
  else if (s->stride > 0 && distance == s->bytes) {
    v[ACCESS_UNIT] += n;
    if (s->space == SITE_GLOBAL) v[ACCESS_OFF] += misaligned_of(s, sums[0], r);
  } else {
    bool first = !v[ACCESS_STRIDE];
    v[ACCESS_LEAST] = first ? distance : MIN(v[ACCESS_LEAST], distance);
    v[ACCESS_MOST] = MAX(v[ACCESS_MOST], distance);
    v[ACCESS_STRIDE] += n;
  }
}

static void send(const ProfileSite *s, const char *what, const uint64_t *v, uint32_t n) {
  uint64_t name = session_string(what), kernel = session_string(s->kernel),
           file = session_string(s->place.file);
  session_send(EVENT_MEASURE, &(EventMeasure){name, kernel, file, s->place.line, s->text, 0, v, n});
}

static void send_access(const Counted *c, const ProfileSite *s) {
  uint64_t v[RUN_VALUES] = {0};
  for (unsigned i = 0; i < SLOT_SUMS; i++) v[i] = sum_of(c, s->slot + i);
  uint64_t most = largest_of(c, s->slot + SLOT_MOST),
           not_least = largest_of(c, s->slot + SLOT_NOT_LEAST);
  bool addresses = s->what == SITE_ATOMIC && s->space == SITE_GLOBAL;
  v[ACCESS_MOST] = most;
  if (not_least) v[ACCESS_LEAST] = addresses ? ~not_least : (uint32_t)~not_least;
  v[ACCESS_OFFSETS] = bits_of(c, s->slot + SLOT_OFFSETS);
  uint64_t left_out = sum_of(c, s->slot + SLOT_LEFT_OUT), looked_at = v[ACCESS_REQUESTS] - left_out;
  if (left_out) use_block(c, s, v);
  uint64_t estimated = v[ACCESS_REQUESTS];
  add_known(c, s, v);
  if (!v[ACCESS_REQUESTS]) return;
  if (left_out) v[ACCESS_LOOKED] = looked_at + v[ACCESS_REQUESTS] - estimated;
  v[ACCESS_BYTES] = s->bytes;
  v[ACCESS_SPACE] = s->space;
  v[ACCESS_WHAT] = s->what;
  v[ACCESS_VECTOR] = s->vector;
  v[ACCESS_PTX_LINE] = s->ptx_line;
  if (s->outside != COUNT_NONE) {
    uint64_t entered = count_block_warps(c->table, c->since, s->outside);
    if (entered < v[ACCESS_REQUESTS]) v[ACCESS_AGAIN] = v[ACCESS_REQUESTS] - entered;
  }
  send(s, MEASURE_ACCESS, v, RUN_VALUES);
}

static void send_branch(const Counted *c, const ProfileSite *s) {
  uint64_t v[3], idle = 0;
  for (uint32_t i = 0; i < s->nregion; i++) {
    const RegionBlock *b = &s->region[i];
    uint64_t lanes = 32 * count_block_warps(c->table, c->since, b->counters);
    idle += (lanes - count_block_threads(c->table, c->since, b->counters)) * b->instructions;
  }
  v[BRANCH_IDLE] = idle / 32;
  v[BRANCH_WARPS] = count_block_warps(c->table, c->since, s->block);
  v[BRANCH_PARTED] = sum_of(c, s->slot);
  if (v[BRANCH_WARPS]) send(s, MEASURE_BRANCH, v, 3);
}

static void send_work(const Counted *c, const ProfileSite *s) {
  uint64_t v[3] = {sum_of(c, s->slot + WORK_WARPS), sum_of(c, s->slot + WORK_SUM),
                   largest_of(c, s->slot + WORK_MOST)};
  if (v[WORK_WARPS]) send(s, MEASURE_WORK, v, 3);
}

static void send_uniform(const Counted *c, const ProfileSite *s) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < s->nregion; i++)
    n += count_block_warps(c->table, c->since, s->region[i].counters) * s->region[i].instructions;
  if (n) send(s, MEASURE_UNIFORM, &n, 1);
}

static void send_occupancy(const Counted *c, const ProfileSite *s) {
  uint64_t v[OCCUPANCY_COUNT] = {[OCCUPANCY_ACTIVE] = sum_of(c, s->slot + STAMP_ACTIVE) +
                                                      sum_of(c, s->slot + STAMP_LAST),
                                 [OCCUPANCY_CYCLES] = sum_of(c, s->slot + STAMP_CYCLES)};
  // threads that ended elsewhere, in a function or by a trap, make the sums meaningless
  bool all_ended = (uint32_t)sum_of(c, s->slot + STAMP_RESIDENT) == 0;
  if (v[OCCUPANCY_CYCLES] && all_ended) send(s, MEASURE_OCCUPANCY, v, OCCUPANCY_COUNT);
}

static void collect_piece(ToolDevice *d, Piece *p) {
  bool lost;
  const ProfileTable *t = p->code.tool_data[TOOL_PROFILE];
  uint64_t *since = session_counters_since(d->device, p, TOOL_PROFILE, &lost);
  Counted c = {p->code.counts, since, since ? since + p->code.ncounters : NULL};
  for (uint32_t i = 0; since && t && i < t->nsites; i++) {
    const ProfileSite *s = &t->sites[i];
    if (s->space == SITE_BRANCH) send_branch(&c, s);
    else if (s->space == SITE_WORK) send_work(&c, s);
    else if (s->space == SITE_UNIFORM) send_uniform(&c, s);
    else if (s->space == SITE_OCCUPANCY) send_occupancy(&c, s);
    else send_access(&c, s);
  }
  if (since && !(session_tools() & TOOL_BIT(COUNT))) session_send_executions(p, since, d->ordinal);
  if (lost) say_lost(d, "its memory cannot be read any more, which is so after a fault");
  free(since);
}

static void collect(ToolDevice *d, SessionModule *m) {
  for (Piece *p = m->pieces; p; p = p->next) collect_piece(d, p);
}

static void say_gone(ToolDevice *d) { say_lost(d, "its context was gone before it was read"); }

static void device_close(ToolDevice *d, bool alive) {
  timeline_flush();
  buffers_send();
  stalls_send();
  session_counters_collect(d, alive, &(SessionCollect){collect_piece, say_gone});
}

static void configure(ToolSetup *s) {
  bool plain = options_is(s->options, OPT_PROFILE_PART, "timeline");
  timeline_configure(options_is(s->options, OPT_DEVICE, "gpu"), plain);
  if (plain && s->named) s->wants |= SESSION_WANTS_CUPTI;
  if (plain && options_flag(s->options, OPT_PROFILE_STALLS)) s->wants |= SESSION_WANTS_STALLS;
}

const Tool tool_profile = {.device_bytes = sizeof(ProfileDevice),
                           .only_counts = true,
                           .wants = SESSION_WANTS_COPIES | SESSION_WANTS_LAUNCH_TIMES |
                                    SESSION_WANTS_COPY_TIMES | SESSION_WANTS_LAUNCHES_TAKEN |
                                    SESSION_WANTS_RANGES,
                           .configure = configure,
                           .launch_taken = timeline_launch,
                           .launch_ran = timeline_launch_ran,
                           .copy_ran = timeline_copy_ran,
                           .graph_launched = timeline_graph_launched,
                           .node_ran = timeline_node_ran,
                           .stalled = stalls_add,
                           .copy_asked = timeline_copy_asked,
                           .copy_taken = timeline_copy,
                           .wait_ended = timeline_wait,
                           .range_ended = timeline_range,
                           .stream_created = timeline_stream,
                           .wants_code = profile_wants_code,
                           .code = profile_code,
                           .collect = collect,
                           .device_close = device_close};
