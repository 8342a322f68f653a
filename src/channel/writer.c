// The program's side of events and findings. The lane is claimed when there is something to say.
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "channel/internal.h"

// A command that is alive but slow to read gets more time.
enum { WAIT_LIMIT_US = 5000000, WAIT_BEHIND_US = 60000000, WAIT_STEP_US = 100 };

static ChannelLane *lane;
static uint32_t lane_index;
static bool gave_up;  // the ring was full for the whole wait: do not wait again until there is room
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ChannelKernelCounts private_counts;  // where there is no lane

bool channel_lane_index(uint32_t *index) {
  *index = lane_index;
  return lane != NULL;
}

static void pause_us(unsigned us) { nanosleep(&(struct timespec){0, (long)us * 1000}, NULL); }

// The command looks at pieces up to here.
static void raise_used(_Atomic uint32_t *used, uint32_t to) {
  uint32_t now = atomic_load(used);
  while (now < to && !atomic_compare_exchange_weak(used, &now, to)) continue;
}

static bool take_lane(ChannelHeader *h, uint32_t i, Error *err) {
  uint32_t none = 0;
  raise_used(&h->lanes_used, i + 1);
  if (!atomic_compare_exchange_strong(&h->lane_pid[i], &none, channel_pid())) return false;
  atomic_store(&h->lane_image[i], channel_image());
  lane = channel_map(channel_lane_offset(i), sizeof(ChannelLane));
  lane_index = i;
  if (lane) return true;
  error_set(err, "its memory cannot be mapped: %s", strerror(errno));
  atomic_store(&h->lane_pid[i], 0);
  return false;
}

bool channel_claim(Error *err) {
  ChannelHeader *h = channel_header();
  uint32_t n = channel_counts()->lanes;
  pthread_mutex_lock(&lock);
  error_set(err, "all %u places for processes are in use", n);
  for (unsigned waited = 0; h && !lane && waited <= WAIT_LIMIT_US; waited += 10 * WAIT_STEP_US) {
    for (uint32_t i = 0; i < n && !lane; i++)
      if (!atomic_load_explicit(&h->lane_pid[i], memory_order_relaxed) && take_lane(h, i, err))
        break;
    if (lane) break;
    if (!channel_command_lives()) {
      error_set(err, "the command has ended");
      break;
    }
    channel_ring_doorbell(h);
    pause_us(10 * WAIT_STEP_US);
  }
  if (h && !lane) atomic_fetch_add(&h->unrecorded, 1);
  pthread_mutex_unlock(&lock);
  return lane != NULL;
}

void channel_release_in_child(void) {
  // another thread may have held it
  if (channel_in_new_child()) lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  channel_new_process();
  channel_unmap(lane, sizeof *lane);
  lane = NULL;
  gave_up = false;
  channel_contents_forget();
}

void channel_lock(bool take) {
  if (take) pthread_mutex_lock(&lock);
  else pthread_mutex_unlock(&lock);
}

// Waits until the ring has room. The command only copies what it reads: if this takes long, the
// command is gone or stopped.
static bool wait_for_room(uint64_t head, size_t need) {
  ChannelHeader *h = channel_header();
  uint64_t last = atomic_load_explicit(&lane->tail, memory_order_acquire);
  uint32_t beat = atomic_load(&h->beat);
  for (unsigned silent = 0, behind = 0;;) {
    uint64_t tail = atomic_load_explicit(&lane->tail, memory_order_acquire);
    if (head + need - tail <= CHANNEL_RING) {
      gave_up = false;
      return true;
    }
    bool damaged = head - tail > CHANNEL_RING;  // the program has overwritten one of them
    if (damaged || gave_up || silent >= WAIT_LIMIT_US || behind >= WAIT_BEHIND_US ||
        !channel_command_lives()) {
      gave_up = true;
      return false;
    }
    channel_ring_doorbell(h);
    pause_us(WAIT_STEP_US);
    silent = beat == atomic_load(&h->beat) ? silent + WAIT_STEP_US : 0;
    behind = tail == last ? behind + WAIT_STEP_US : 0;
    beat = atomic_load(&h->beat);
    last = tail;
  }
}

// Events that a person waits for, or that keep others waiting.
static bool is_urgent(ChannelEvent type) {
  return type == EVENT_FINDING || type == EVENT_END || type == EVENT_NOTE;
}

static bool write_locked(ChannelEvent type, const void *event) {
  size_t size = channel_encoded_size(type, event);
  if (size > CHANNEL_EVENT_MAX) return false;
  uint64_t head = atomic_load_explicit(&lane->head, memory_order_relaxed);
  size_t to_end = CHANNEL_RING - head % CHANNEL_RING;
  size_t fill = to_end < size ? to_end : 0;
  if (!wait_for_room(head, fill + size)) return false;
  if (fill) {
    ChannelEventHead pad = {(uint32_t)fill, EVENT_NONE};
    memcpy(lane->ring + head % CHANNEL_RING, &pad, sizeof pad);
  }
  channel_encode(type, event, lane->ring + (head + fill) % CHANNEL_RING, size);
  atomic_store_explicit(&lane->head, head + fill + size, memory_order_release);
  uint64_t waiting = head + fill + size - atomic_load_explicit(&lane->tail, memory_order_relaxed);
  if (is_urgent(type) || waiting > CHANNEL_RING / 4) channel_ring_doorbell(channel_header());
  return true;
}

bool channel_write(ChannelEvent type, const void *event) {
  pthread_mutex_lock(&lock);
  bool ok = lane && write_locked(type, event);
  if (!ok && lane) atomic_fetch_add(&lane->lost, 1);
  pthread_mutex_unlock(&lock);
  return ok;
}

ChannelKernelCounts *channel_kernel_counts(uint32_t kernel) {
  ChannelLane *l = lane;
  if (!l) return &private_counts;
  return &l->kernels[kernel < CHANNEL_KERNELS ? kernel : 0];
}

static WgChannel *map_device(uint32_t i, Error *err) {
  WgChannel *c = channel_map(channel_device_offset(channel_counts(), i), CHANNEL_DEVICE_BYTES);
  if (!c) {
    error_set(err, "cannot map the channel for findings: %s", strerror(errno));
    return NULL;
  }
  c->slots = WG_CHANNEL_SLOTS;
  c->sites = WG_CHANNEL_SITES;
  c->slots_at = CHANNEL_SLOTS_AT;
  c->counts_at = CHANNEL_COUNTS_AT;
  c->magic = WG_CHANNEL_MAGIC;
  return c;
}

// Waits for a free channel: one that was released a moment ago is free once the command has read
// it.
WgChannel *channel_device_claim(uint32_t *index, Error *err) {
  ChannelHeader *h = channel_header();
  uint32_t n = channel_counts()->devices;
  if (!lane) {
    error_set(err, "there is no connection to the warpgrind command");
    return NULL;
  }
  for (unsigned waited = 0; waited <= WAIT_LIMIT_US && channel_command_lives();
       waited += 10 * WAIT_STEP_US) {
    for (uint32_t i = 0; i < n; i++) {
      uint32_t none = 0;
      if (atomic_load_explicit(&h->device_lane[i], memory_order_relaxed)) continue;
      raise_used(&h->devices_used, i + 1);
      if (!atomic_compare_exchange_strong(&h->device_lane[i], &none, lane_index + 1)) continue;
      WgChannel *c = map_device(i, err);
      if (!c) atomic_store(&h->device_lane[i], 0);
      *index = i;
      return c;
    }
    channel_ring_doorbell(h);
    pause_us(10 * WAIT_STEP_US);
  }
  error_set(err, "all %u channels for findings are in use", n);
  return NULL;
}

void channel_device_unmap(WgChannel *c) { channel_unmap(c, CHANNEL_DEVICE_BYTES); }

bool channel_reply(uint32_t sequence, bool *yes) {
  uint64_t reply = lane ? atomic_load_explicit(&lane->reply, memory_order_acquire) : 0;
  *yes = reply & 1;
  return lane && reply >> 1 == sequence;
}
