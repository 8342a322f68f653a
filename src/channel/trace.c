// --record, the program's side: a set of rings for a context, and the ring through which contents
// of copies go.
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/runstats.h"
#include "channel/internal.h"

enum { WAIT_US = 50, PIECE = 1 << 20 };

static bool claim(_Atomic uint32_t *owners, uint32_t n, uint32_t lane, uint32_t *index) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong(&owners[i], &none, lane + 1)) continue;
    *index = i;
    return true;
  }
  return false;
}

static void pause_a_little(void) { nanosleep(&(struct timespec){0, WAIT_US * 1000}, NULL); }

// Waits for a free piece: one that was released a moment ago is free once the command has read it.
static bool claim_patiently(_Atomic uint32_t *owners, uint32_t n, uint32_t lane, uint32_t *index) {
  for (unsigned waited = 0; waited < 5000000 && channel_command_lives(); waited += WAIT_US) {
    if (claim(owners, n, lane, index)) return true;
    pause_a_little();
  }
  return false;
}

bool channel_trace_claim(ChannelTrace *out, Error *err) {
  ChannelHeader *h = channel_header();
  uint32_t lane;
  if (!h || !channel_lane_index(&lane))
    return error_set(err, "there is no connection to the warpgrind command");
  const ChannelCounts *n = channel_counts();
  if (!n->trace_rings) return error_set(err, "the warpgrind command does not record");
  if (!claim_patiently(h->trace_lane, n->traces, lane, &out->set))
    return error_set(err, "%u contexts are being recorded already", n->traces);
  out->rings = n->trace_rings;
  out->ring_size = n->trace_ring_size;
  out->bytes = CHANNEL_TRACE_BYTES(out->rings, out->ring_size);
  out->memory = channel_map(channel_trace_offset(n, out->set), out->bytes);
  if (out->memory) return true;
  error_set(err, "cannot map the rings for recorded operations: %s", strerror(errno));
  atomic_store(&h->trace_lane[out->set], 0);
  return false;
}

void channel_trace_unmap(const ChannelTrace *t) { channel_unmap(t->memory, t->bytes); }

void channel_trace_close(const ChannelTrace *t) {
  for (uint32_t i = 0; i < t->rings; i++) {
    WgTraceRing *r = (WgTraceRing *)((char *)t->memory + i * CHANNEL_TRACE_STRIDE(t->ring_size));
    __atomic_store_n(&r->closed, 1, __ATOMIC_RELEASE);
  }
}

// --- contents ---

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ChannelContents *ring;
static bool failed;

void channel_contents_forget(void) {
  channel_unmap(ring, sizeof *ring);
  ring = NULL;
  failed = false;
}

static bool open_ring(void) {
  ChannelHeader *h = channel_header();
  uint32_t lane, index;
  if (ring || failed) return ring != NULL;
  const ChannelCounts *n = channel_counts();
  if (!h || !n->trace_rings || !channel_lane_index(&lane)) return false;
  failed = true;
  bool claimed = claim_patiently(h->contents_lane, n->contents, lane, &index);
  ring = claimed ? channel_map(channel_contents_offset(n, index), sizeof *ring) : NULL;
  if (claimed && !ring) atomic_store(&h->contents_lane[index], 0);
  failed = !ring;
  if (failed && channel_command_lives())
    runstats_fail("Process %d found none of the %u rings for the contents of copies free: the "
                  "recording lacks what it copied.",
                  (int)getpid(), n->contents);
  return ring != NULL;
}

static bool wait_for(uint64_t head, size_t need) {
  for (unsigned turn = 0; head + need - atomic_load_explicit(&ring->tail, memory_order_acquire) >
                          CHANNEL_CONTENTS_RING;
       turn++) {
    if (turn % 256 == 255 && !channel_command_lives()) return false;
    pause_a_little();
  }
  return true;
}

static bool write_piece(const ChannelPiece *p, const void *bytes) {
  uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  size_t need = sizeof *p + ((p->stored + 15u) & ~15u),
         to_end = CHANNEL_CONTENTS_RING - head % CHANNEL_CONTENTS_RING;
  size_t fill = to_end < need ? to_end : 0;
  if (!wait_for(head, fill + need)) return false;
  if (fill) memset(ring->data + head % CHANNEL_CONTENTS_RING, 0, sizeof(uint64_t));
  uint8_t *to = ring->data + (head + fill) % CHANNEL_CONTENTS_RING;
  memcpy(to, p, sizeof *p);
  memcpy(to + sizeof *p, bytes, p->stored);
  atomic_store_explicit(&ring->head, head + fill + need, memory_order_release);
  return true;
}

bool channel_contents(uint32_t step, uint64_t address, const void *bytes, size_t n) {
  pthread_mutex_lock(&lock);
  bool ok = open_ring();
  for (size_t at = 0; ok && at < n; at += PIECE) {
    uint32_t size = (uint32_t)MIN(n - at, (size_t)PIECE);
    ok = write_piece(&(ChannelPiece){size, step, address + at, size, 0}, (const char *)bytes + at);
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

bool channel_contents_end(uint32_t step) {
  pthread_mutex_lock(&lock);
  bool ok = open_ring() && write_piece(&(ChannelPiece){.step = step, .end = 1}, "");
  pthread_mutex_unlock(&lock);
  return ok;
}

bool channel_contents_fill(uint32_t step, uint64_t address, const void *pattern,
                           uint32_t pattern_bytes, uint64_t n) {
  pthread_mutex_lock(&lock);
  bool ok = open_ring() &&
            write_piece(&(ChannelPiece){pattern_bytes, step, address, n, 0}, pattern);
  pthread_mutex_unlock(&lock);
  return ok;
}
