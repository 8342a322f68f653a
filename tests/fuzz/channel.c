// Fuzz target: the shared memory of a run as a program that has gone mad leaves it. The command's
// threads drain it, into a run and a recording; both must end. Input: patches. First byte: the area
// (areas[]), or 255: an event as a process writes it, into the ring of the first lane. Then of a
// patch offset in words (2), number of words (1) and the words; of an event type (1), number of
// words (1) and the words.
// seeds: tests/fuzz/seeds/channel/*
// share: one in 60
#include "channel/reader.h"
#include "report/report.h"
#include "run/run.h"
#include "trace/trace.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  EVENT_INPUT = 255,
  LANES = 2,
  TRACE_BYTES = 64 << 10,
  AREA_BYTES = 8 << 10,
  NOBODY = 0x3FFFFFF0,
  SET_MOST = 64 << 20
};

typedef struct Memory {
  ChannelHeader *header;
  ChannelLane *lanes[LANES];
  char *device, *set;
  ChannelContents *contents;
  size_t at;                               // where the next event goes
} Memory;

static size_t set_bytes(const ChannelReader *r) {
  return CHANNEL_TRACE_BYTES(r->counts.trace_rings, r->counts.trace_ring_size);
}

static void map(ChannelReader *r, Memory *m) {
  m->header = r->header;
  for (uint32_t i = 0; i < LANES; i++)
    CHECK(m->lanes[i] = reader_map(r, channel_lane_offset(i), sizeof(ChannelLane)));
  CHECK(m->device = reader_map(r, channel_device_offset(&r->counts, 0), CHANNEL_DEVICE_BYTES));
  CHECK(m->set = reader_map(r, channel_trace_offset(&r->counts, 0), set_bytes(r)));
  CHECK(
      m->contents = reader_map(r, channel_contents_offset(&r->counts, 0), sizeof(ChannelContents)));
}

static void unmap(ChannelReader *r, Memory *m) {
  for (uint32_t i = 0; i < LANES; i++) munmap(m->lanes[i], sizeof(ChannelLane));
  munmap(m->device, CHANNEL_DEVICE_BYTES);
  munmap(m->set, set_bytes(r));
  munmap(m->contents, sizeof(ChannelContents));
}

// Words of an area that matter, at most AREA_BYTES.
static char *area(const Memory *m, unsigned which) {
  switch (which) {
  case 0: return (char *)m->lanes[0];
  case 1: return (char *)m->lanes[0]->ring;
  case 2: return (char *)m->lanes[0]->kernels;
  case 3: return (char *)m->lanes[1];
  case 4: return (char *)m->lanes[1]->ring;
  case 5: return m->device;
  case 6: return m->device + CHANNEL_SLOTS_AT;
  case 7: return m->device + CHANNEL_COUNTS_AT;
  case 8: return m->set;
  case 9: return m->set + sizeof(WgTraceRing);
  case 10: return (char *)m->contents;
  case 11: return (char *)m->contents->data;
  case 12: return (char *)m->header->lane_pid;
  case 13: return (char *)m->header->device_lane;
  case 14: return (char *)m->header->trace_lane;
  default: return (char *)m->header;
  }
}
enum { AREAS = 16, HEADER = 12 };          // from there on in the header: small

static size_t patch(Memory *m, const uint8_t *data, size_t size) {
  if (size < 4) return size;
  unsigned which = data[0] % AREAS;
  size_t limit = which >= HEADER ? 64 : AREA_BYTES;
  size_t offset = ((size_t)data[1] | (size_t)data[2] << 8) * 8 % limit,
         n = MIN((size_t)data[3] * 8, MIN(size - 4, limit - offset));
  memcpy(area(m, which) + offset, data + 4, n);
  return 4 + n;
}

static size_t event(Memory *m, const uint8_t *data, size_t size) {
  if (size < 3) return size;
  size_t n = MIN((size_t)data[2] * 8, (size - 3) & ~(size_t)7);
  ChannelEventHead head = {(uint32_t)(sizeof head + n), data[1] % (EVENT_COUNT + 1)};
  if (m->at + head.size > CHANNEL_RING) return 3 + n;
  memcpy(m->lanes[0]->ring + m->at, &head, sizeof head);
  memcpy(m->lanes[0]->ring + m->at + sizeof head, data + 3, n);
  m->at += head.size;
  atomic_store(&m->lanes[0]->head, m->at);
  return 3 + n;
}

static size_t take(void *user, uint32_t process, uint32_t ring, const uint8_t *data, size_t n,
                   bool ended) {
  return trace_take(user, process, ring, data, n, ended);
}
// A process may say that it has set hundreds of gigabytes: of these some are enough.
static _Atomic uint64_t set_bytes_left;
static void contents_end(void *user, uint32_t process, uint32_t step) {
  trace_contents_ended(user, process, step);
}

static void contents(void *user, uint32_t process, uint32_t step, uint64_t address,
                     const void *bytes, size_t n) {
  if (n > set_bytes_left) return;
  set_bytes_left -= n;
  trace_contents_set(user, process, step, address, bytes, n);
}

// Receives and saves while the command's threads drain, as src/cli/follow.c does.
typedef struct Follower {
  ChannelReader *reader;
  ChannelSink sink;
  TraceWriter *writer;
  sqlite3 *db;
} Follower;
static void *follow(void *p) {
  Follower *f = p;
  Error err = {{0}};
  while (channel_receive(f->reader, &f->sink, 10)) trace_save(f->writer, f->db, false, &err);
  return NULL;
}

static void fill(ChannelReader *r, const uint8_t *data, size_t size) {
  Memory m = {0};
  map(r, &m);
  // As a process leaves them that has written: a lane, a device channel, a set of rings. The
  // process has ended.
  for (uint32_t i = 0; i < LANES; i++) atomic_store(&r->header->lane_pid[i], NOBODY + i);
  atomic_store(&r->header->lanes_used, LANES);
  atomic_store(&r->header->devices_used, 1);
  atomic_store(&r->header->device_lane[0], 1);
  atomic_store(&r->header->trace_lane[0], 1);
  atomic_store(&r->header->contents_lane[0], 1);
  for (size_t at = 0; at < size;)
    at += data[at] == EVENT_INPUT ? event(&m, data + at, size - at)
                                  : patch(&m, data + at, size - at);
  unmap(r, &m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error err = {{0}};
  Run run = {.tools = "memcheck", .device = "cpu", .program = "p"};
  Follower f = {.reader = channel_create(TRACE_BYTES, &err)};
  f.writer = trace_writer_new(&(TraceLimits){.threads = 1, .memory = 16 << 20, .disk = 16 << 20},
                              &err);
  if (!f.reader || !f.writer || sqlite3_open(":memory:", &f.db) != SQLITE_OK) abort();
  run_sink(&run, &f.sink);
  fill(f.reader, data, size);
  set_bytes_left = SET_MOST;
  ChannelTraceSink trace = {take, contents, contents_end, f.writer};
  pthread_t thread;
  CHECK(channel_record(f.reader, &trace, &err) && channel_start(f.reader, &err) &&
        !thread_start(&thread, follow, &f));
  uint32_t still_running;
  channel_stop(f.reader, 0, &still_running);
  pthread_join(thread, NULL);
  trace_save(f.writer, f.db, true, &err);
  Str out = {0};
  for (uint32_t i = 0; i < run.findings.len; i++) report_finding(&run, run.findings.data[i], &out);
  report_coverage(&run, true, &out);
  str_free(&out);
  channel_destroy(f.reader);
  trace_writer_free(f.writer);
  sqlite3_close(f.db);
  run_free(&run);
  return 0;
}
