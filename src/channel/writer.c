// The program's side. State of the process: the header is mapped when the library is loaded, the lane when there is something
// to say. No descriptor stays open, so a program that closes all of them changes nothing.
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "channel/internal.h"

enum { WAIT_LIMIT_US = 1000000, WAIT_STEP_US = 100 };

static ChannelHeader *header;
static ChannelLane *lane;
static uint32_t lane_index;
static bool gave_up;                       // the ring was full for the whole wait: do not wait again until there is room
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ChannelKernelCounts private_counts; // where there is no lane

static int open_memory(void) {
  const char *path = getenv(CHANNEL_VARIABLE);
  return path && *path ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

static void *map_at(int fd, uint64_t offset, size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
  return p == MAP_FAILED ? NULL : p;
}

static bool command_lives(void) {
  if (atomic_load_explicit(&header->command, memory_order_relaxed) != COMMAND_DRAINS) return false;
  return kill((pid_t)header->command_pid, 0) == 0 || errno != ESRCH;
}

bool channel_command_lives(void) { return header && command_lives(); }
ChannelHeader *channel_header(void) { return header; }
bool channel_lane_index(uint32_t *index) {
  *index = lane_index;
  return lane != NULL;
}
void *channel_map(uint64_t offset, size_t size) {
  int fd = open_memory();
  void *p = fd < 0 ? NULL : map_at(fd, offset, size);
  int why = errno;
  if (fd >= 0) close(fd);
  errno = why;
  return p;
}

static void pause_us(unsigned us) { nanosleep(&(struct timespec){0, (long)us * 1000}, NULL); }

bool channel_attach(void) {
  if (header) return true;
  int fd = open_memory();
  if (fd < 0) return false;
  ChannelHeader *h = lseek(fd, 0, SEEK_END) >= (off_t)CHANNEL_BYTES ? map_at(fd, 0, CHANNEL_PAGE) : NULL;
  close(fd);
  if (!h) return false;
  if (h->magic != CHANNEL_MAGIC || h->version != CHANNEL_VERSION || h->command != COMMAND_DRAINS) {
    munmap(h, CHANNEL_PAGE);
    return false;
  }
  header = h;
  return true;
}

static bool take_lane(uint32_t i) {
  uint32_t none = 0;
  if (!atomic_compare_exchange_strong(&header->lane_pid[i], &none, (uint32_t)getpid())) return false;
  int fd = open_memory();
  ChannelLane *l = fd < 0 ? NULL : map_at(fd, CHANNEL_LANE_OFFSET(i), sizeof(ChannelLane));
  if (fd >= 0) close(fd);
  if (!l) {
    atomic_store(&header->lane_pid[i], 0);
    return false;
  }
  lane = l;
  lane_index = i;
  return true;
}

bool channel_claim(void) {
  pthread_mutex_lock(&lock);
  for (unsigned waited = 0; header && !lane && waited <= WAIT_LIMIT_US && command_lives(); waited += 10 * WAIT_STEP_US) {
    for (uint32_t i = 0; i < CHANNEL_LANES && !lane; i++)
      if (!atomic_load_explicit(&header->lane_pid[i], memory_order_relaxed) && take_lane(i)) break;
    if (!lane) {
      channel_ring_doorbell(header);
      pause_us(10 * WAIT_STEP_US);
    }
  }
  if (header && !lane) atomic_fetch_add(&header->unrecorded, 1);
  pthread_mutex_unlock(&lock);
  return lane != NULL;
}

void channel_release_in_child(void) {
  if (lane) munmap(lane, sizeof *lane);
  lane = NULL;
  gave_up = false;
  channel_contents_forget();
}

void channel_lock(bool take) {
  if (take) pthread_mutex_lock(&lock);
  else pthread_mutex_unlock(&lock);
}

// Waits until the ring has room. The command only copies what it reads, so it is away or stopped if this takes long.
static bool wait_for_room(uint64_t head, size_t need) {
  uint64_t last = atomic_load_explicit(&lane->tail, memory_order_acquire);
  for (unsigned waited = 0;;) {
    uint64_t tail = atomic_load_explicit(&lane->tail, memory_order_acquire);
    if (head + need - tail <= CHANNEL_RING) {
      gave_up = false;
      return true;
    }
    if (gave_up || waited >= WAIT_LIMIT_US || !command_lives()) {
      gave_up = true;
      return false;
    }
    channel_ring_doorbell(header);
    pause_us(WAIT_STEP_US);
    waited = tail == last ? waited + WAIT_STEP_US : 0;
    last = tail;
  }
}

// Events that a person waits for, or that keep others waiting.
static bool is_urgent(ChannelEvent type) { return type == EVENT_FINDING || type == EVENT_END || type == EVENT_NOTE; }

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
  if (is_urgent(type) || waiting > CHANNEL_RING / 4) channel_ring_doorbell(header);
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
  int fd = open_memory();
  WgChannel *c = fd < 0 ? NULL : map_at(fd, CHANNEL_DEVICE_OFFSET(i), CHANNEL_DEVICE_BYTES);
  if (!c) error_set(err, "cannot map the channel for findings: %s", strerror(errno));
  if (fd >= 0) close(fd);
  if (!c) return NULL;
  c->slots = WG_CHANNEL_SLOTS;
  c->sites = WG_CHANNEL_SITES;
  c->slots_at = CHANNEL_SLOTS_AT;
  c->counts_at = CHANNEL_COUNTS_AT;
  c->magic = WG_CHANNEL_MAGIC;
  return c;
}

// One that was given up a moment ago is free when the command has read it.
WgChannel *channel_device_claim(uint32_t *index, Error *err) {
  if (!lane) return error_set(err, "there is no connection to the warpgrind command"), NULL;
  for (unsigned waited = 0; waited <= WAIT_LIMIT_US && command_lives(); waited += 10 * WAIT_STEP_US) {
    for (uint32_t i = 0; i < CHANNEL_DEVICES; i++) {
      uint32_t none = 0;
      if (!atomic_compare_exchange_strong(&header->device_lane[i], &none, lane_index + 1)) continue;
      WgChannel *c = map_device(i, err);
      if (!c) atomic_store(&header->device_lane[i], 0);
      *index = i;
      return c;
    }
    channel_ring_doorbell(header);
    pause_us(10 * WAIT_STEP_US);
  }
  return error_set(err, "all %d channels for findings are in use", CHANNEL_DEVICES), NULL;
}

void channel_device_unmap(WgChannel *c) { munmap(c, CHANNEL_DEVICE_BYTES); }

bool channel_reply(uint32_t sequence, bool *yes) {
  uint64_t reply = lane ? atomic_load_explicit(&lane->reply, memory_order_acquire) : 0;
  *yes = reply & 1;
  return lane && reply >> 1 == sequence;
}
