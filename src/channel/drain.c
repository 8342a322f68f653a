// Reads one ring. A program can write anything into this memory, by mistake or because its own
// memory is corrupt: every position and size is checked against our own state before it is used.
#define _GNU_SOURCE

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channel/reader.h"

enum { STUCK_MS = 500, WAITING_MOST = 1 << 24 };  // MOST: threads that a device can have, and more

// --- events of a process ---

static void damaged(LaneState *l, uint64_t head) {
  l->damaged = true;
  l->tail = head;
}

static bool size_is_good(const ChannelEventHead *h, uint64_t available, size_t to_end) {
  if (h->size < sizeof *h || h->size % 8 || h->size > available || h->size > to_end) return false;
  return h->type == EVENT_NONE ? h->size == to_end
                               : h->size <= CHANNEL_EVENT_MAX && h->type < EVENT_COUNT;
}

// A process may take a device channel, use it and end between two rounds of the reader.
void reader_look_for_devices(ChannelReader *r) {
  r->devices_used = MAX(r->devices_used,
                        MIN(atomic_load(&r->header->devices_used), r->counts.devices));
}

static void end_device(ChannelReader *r, uint32_t lane, const void *bytes, size_t size) {
  AnyEvent e;
  if (!channel_decode(EVENT_DEVICE_END, bytes, size, &e)) return;
  uint64_t d = e.DEVICE_END.channel;
  reader_look_for_devices(r);
  if (d >= r->devices_used || atomic_load(&r->header->device_lane[d]) != lane + 1) return;
  reader_drain_device(r, (uint32_t)d);  // it may not have been seen yet
  if (r->devices[d].memory && r->devices[d].lane == lane) reader_close_device(r, (uint32_t)d);
}

static void end_trace(ChannelReader *r, uint32_t lane, const void *bytes, size_t size) {
  AnyEvent e;
  if (!channel_decode(EVENT_TRACE_END, bytes, size, &e) || e.TRACE_END.set >= r->counts.traces)
    return;
  if (atomic_load(&r->header->trace_lane[e.TRACE_END.set]) != lane + 1) return;
  reader_trace_look(r);
  reader_trace_end(r, (uint32_t)e.TRACE_END.set);
}

size_t reader_drain_lane(ChannelReader *r, uint32_t i) {
  LaneState *l = &r->lanes[i];
  static _Thread_local uint64_t copy[CHANNEL_EVENT_MAX / 8];
  uint64_t head = atomic_load_explicit(&l->memory->head, memory_order_acquire), start = l->tail;
  if (head == start) return 0;
  if (l->damaged || head % 8 || head - start > CHANNEL_RING) damaged(l, head);
  while (l->tail != head) {
    size_t at = l->tail % CHANNEL_RING, to_end = CHANNEL_RING - at;
    ChannelEventHead h;
    memcpy(&h, l->memory->ring + at, sizeof h);
    if (!size_is_good(&h, head - l->tail, to_end)) {
      damaged(l, head);
      break;
    }
    if (h.type != EVENT_NONE) {
      memcpy(copy, l->memory->ring + at, h.size);
      memcpy(copy, &h, sizeof h);  // the one that was checked
      queue_add(
          r->queue,
          &(Message){.kind = MESSAGE_EVENT, .process = l->process, .a = h.type, .size = h.size},
          copy);
      l->ended |= h.type == EVENT_END;
      l->kernels += h.type == EVENT_KERNEL;
      if (h.type == EVENT_DEVICE_END) end_device(r, i, copy, h.size);
      if (h.type == EVENT_TRACE_MARK) reader_mark_add(r, i, copy, h.size);
      if (h.type == EVENT_TRACE_END) end_trace(r, i, copy, h.size);
    }
    l->tail += h.size;
  }
  l->quiet_since = reader_now_ms();
  atomic_store_explicit(&l->memory->tail, l->tail, memory_order_release);
  return l->tail - start;
}

// --- findings of a device ---

static bool claim_device(ChannelReader *r, uint32_t d) {
  DeviceState *s = &r->devices[d];
  uint32_t owner = atomic_load_explicit(&r->header->device_lane[d], memory_order_acquire);
  if (owner == 0 || owner > r->counts.lanes || !r->lanes[owner - 1].memory) return false;
  WgChannel *memory = reader_map(r, channel_device_offset(&r->counts, d), CHANNEL_DEVICE_BYTES);
  if (!memory) return false;
  *s = (DeviceState){.memory = memory, .lane = owner - 1, .process = r->lanes[owner - 1].process};
  return true;
}

static WgFinding *slot_of(DeviceState *s, uint32_t number) {
  return (WgFinding *)((char *)s->memory + CHANNEL_SLOTS_AT) + number % WG_CHANNEL_SLOTS;
}

static bool take(ChannelReader *r, uint32_t d, uint32_t number) {
  DeviceState *s = &r->devices[d];
  WgFinding *slot = slot_of(s, number);
  if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != number + 1) return false;
  WgFinding f;
  memcpy(&f, slot, sizeof f);
  Message m = {.kind = MESSAGE_FINDING, .process = s->process, .a = d, .size = sizeof f};
  if (r->hold) {
    str_addn(&s->held, (const char *)&m, sizeof m);
    str_addn(&s->held, (const char *)&f, sizeof f);
  } else {
    queue_add(r->queue, &m, &f);
  }
  return true;
}

// Takes skipped slots that were finished late. Some never are: after a whole round of the ring
// their place belongs to another slot.
static size_t take_skipped(ChannelReader *r, uint32_t d) {
  DeviceState *s = &r->devices[d];
  size_t found = 0;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->nskipped; i++) {
    uint32_t number = s->skipped[i];
    if (take(r, d, number)) found++;
    else if (s->tail - number < WG_CHANNEL_SLOTS) s->skipped[kept++] = number;
  }
  s->nskipped = kept;
  return found;
}

// Whether to skip a slot: a thread that was stopped between taking it and finishing it must not
// hold up the slots after it.
static bool may_skip(DeviceState *s, bool last) {
  uint32_t head = __atomic_load_n(&s->memory->head, __ATOMIC_RELAXED), waiting = head - s->tail;
  if (waiting > WAITING_MOST) s->damaged = true;
  if (waiting == 0 || s->damaged) {
    s->stuck_since = 0;
    return false;
  }
  uint64_t now = reader_now_ms();
  if (!s->stuck_since) s->stuck_since = now;
  if (last) return true;
  return now - s->stuck_since >= STUCK_MS && waiting > 1;
}

static size_t drain_ring(ChannelReader *r, uint32_t d, bool last) {
  DeviceState *s = &r->devices[d];
  size_t found = take_skipped(r, d);
  for (uint32_t steps = 0; steps < WG_CHANNEL_SLOTS; steps++) {
    if (take(r, d, s->tail)) {
      found++;
      s->stuck_since = 0;
    } else if (may_skip(s, last)) {
      if (s->nskipped < SKIPPED_MAX) s->skipped[s->nskipped++] = s->tail;
    } else {
      break;
    }
    s->tail++;
  }
  __atomic_store_n(&s->memory->tail, s->tail, __ATOMIC_RELEASE);
  return found;
}

bool reader_device_is_of(ChannelReader *r, uint32_t d, uint32_t lane) {
  const DeviceState *s = &r->devices[d];
  return s->memory
             ? s->lane == lane
             : atomic_load_explicit(&r->header->device_lane[d], memory_order_acquire) == lane + 1;
}

size_t reader_drain_device(ChannelReader *r, uint32_t d) {
  if (!r->devices[d].memory && !claim_device(r, d)) return 0;
  return drain_ring(r, d, false);
}

// Hands on the counts of a device; returns the largest. Reads through the descriptor, and only
// pages that were ever written, so that no page is allocated.
static uint64_t read_counts(ChannelReader *r, uint32_t d) {
  enum { CHUNK = 8192 };
  static _Thread_local uint64_t counts[CHUNK];
  DeviceState *s = &r->devices[d];
  uint64_t largest = 0, start = channel_device_offset(&r->counts, d) + CHANNEL_COUNTS_AT;
  for (uint64_t first = 0; first < WG_CHANNEL_SITES; first += CHUNK) {
    off_t data = lseek(r->fd, (off_t)(start + first * 8), SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;
    if (data >= 0) first = ((uint64_t)data - start) / 8 / CHUNK * CHUNK;
    if (first >= WG_CHANNEL_SITES ||
        pread(r->fd, counts, sizeof counts, (off_t)(start + first * 8)) != (ssize_t)sizeof counts)
      break;
    for (uint32_t i = 0; i < CHUNK; i++) {
      counts[i] &= ~WG_COUNT_DESCRIBED;
      if (counts[i])
        queue_add(r->queue,
                  &(Message){.kind = MESSAGE_SITE_COUNT,
                             .process = s->process,
                             .a = d,
                             .b = first + i,
                             .c = counts[i]},
                  NULL);
      largest = MAX(largest, counts[i]);
    }
  }
  return largest;
}

void reader_close_device(ChannelReader *r, uint32_t d) {
  DeviceState *s = &r->devices[d];
  queue_add_all(r->queue, &s->held);  // findings come before their counts
  drain_ring(r, d, true);
  bool at_least = read_counts(r, d) >= 128 && !s->memory->counts_exact;
  if (s->damaged) r->lanes[s->lane].damaged = true;
  queue_add(r->queue,
            &(Message){.kind = MESSAGE_DEVICE_CLOSED,
                       .process = s->process,
                       .a = d,
                       .b = s->memory->lost,
                       .c = at_least},
            NULL);
  munmap(s->memory, CHANNEL_DEVICE_BYTES);
  str_free(&s->held);
  s->memory = NULL;
  reader_clear(r, channel_device_offset(&r->counts, d), CHANNEL_DEVICE_BYTES);
  atomic_store(&r->header->device_lane[d], 0);
}
