// The command's side: makes the memory, and copies out of it what the processes write. Runs in a
// thread of its own.
#define _GNU_SOURCE

#include "base/shared_memory.h"
#include "channel/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
  SLEEP_MIN_MS = 1,
  SLEEP_MAX_MS = 20,
  LIVENESS_MS = 100,
  QUIET_MS = 300,
  UNRECORDED_MOST = 1 << 22
};

uint64_t reader_now_ms(void) { return clock_ns() / 1000000; }

void *reader_map(ChannelReader *r, uint64_t offset, size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, (off_t)offset);
  return p == MAP_FAILED ? NULL : p;
}

// Gives the memory back; whoever maps it next finds zeros.
void reader_clear(ChannelReader *r, uint64_t offset, size_t size) {
  if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) == 0)
    return;
  void *p = reader_map(r, offset, size);
  if (!p) return;
  memset(p, 0, size);
  munmap(p, size);
}

// Makes as many pieces as the limit on file sizes allows.
static bool make_memory(ChannelReader *r) {
  static const ChannelCounts choices[] = {
      {CHANNEL_LANES, CHANNEL_DEVICES, CHANNEL_TRACES, CHANNEL_CONTENTS, 0, 0},
      {256, 256, 32, 32, 0, 0},
      {64, 32, 4, 4, 0, 0}};
  r->fd = -1;
  errno = EFBIG;
  for (size_t i = 0; i < ARRAY_LEN(choices) && r->fd < 0 && errno == EFBIG; i++) {
    uint32_t rings = r->counts.trace_rings, size = r->counts.trace_ring_size;
    r->counts = choices[i];
    r->counts.trace_rings = rings;
    r->counts.trace_ring_size = size;
    r->bytes = channel_bytes(&r->counts);
    r->fd = shared_memory_create(CHANNEL_VARIABLE, "warpgrind-channel", r->bytes);
  }
  return r->fd >= 0;
}

static void fill_header(ChannelReader *r) {
  ChannelHeader *h = r->header;
  h->version = CHANNEL_VERSION;
  h->command_pid = (uint32_t)getpid();
  h->counts = r->counts;
  h->pid_namespace = shared_memory_pid_namespace();
  atomic_store(&h->command, COMMAND_DRAINS);
  h->magic = CHANNEL_MAGIC;
}

// A process that overwrites the header harms the others too. Repairs the header and reports it.
static void mend_header(ChannelReader *r) {
  const ChannelHeader *h = r->header;
  bool good = h->magic == CHANNEL_MAGIC && h->version == CHANNEL_VERSION &&
              h->command_pid == (uint32_t)getpid() && h->command == COMMAND_DRAINS &&
              !memcmp(&h->counts, &r->counts, sizeof r->counts);
  if (good) return;
  atomic_store(&r->damaged, true);
  fill_header(r);
}

ChannelReader *channel_create(uint64_t trace_bytes, Error *err) {
  ChannelReader *r = mem_alloc(sizeof *r);
  if (trace_bytes) reader_trace_size(trace_bytes, &r->counts);
  r->header = make_memory(r) ? reader_map(r, 0, CHANNEL_PAGE) : NULL;
  if (!r->header) {
    error_set(err, "cannot make shared memory for the report: %s%s", strerror(errno),
              errno == EFBIG ? " (ulimit -f limits it)" : "");
    if (r->fd >= 0) close(r->fd);
    free(r);
    return NULL;
  }
  r->queue = queue_new();
  pthread_mutex_init(&r->lock, NULL);
  fill_header(r);
  return r;
}

ChannelReader *channel_create_after(const ChannelReader *r, Error *err) {
  ChannelReader *next = channel_create(0, err);
  if (next) next->last_process = r->last_process;
  return next;
}

void channel_destroy(ChannelReader *r) {
  for (uint32_t i = 0; i < r->lanes_used; i++)
    if (r->lanes[i].memory) munmap(r->lanes[i].memory, sizeof(ChannelLane));
  munmap(r->header, CHANNEL_PAGE);
  close(r->fd);
  queue_free(r->queue);
  for (uint32_t d = 0; d < r->devices_used; d++) str_free(&r->devices[d].held);
  vec_free(&r->marks);
  free(r);
}

uint32_t channel_unrecorded(const ChannelReader *r) {
  return MIN(atomic_load(&r->header->unrecorded), UNRECORDED_MOST);
}
bool channel_was_damaged(const ChannelReader *r) { return atomic_load(&r->damaged); }

// A process that has ended but was not waited for still has a process id.
static bool is_alive(int pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return false;
  char path[32], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno != ENOENT;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  const char *state = strrchr(text, ')');
  return !state || !state[1] || (state[2] != 'Z' && state[2] != 'X');
}

static void open_lane(ChannelReader *r, uint32_t i, uint32_t pid) {
  LaneState *l = &r->lanes[i];
  ChannelLane *memory = reader_map(r, channel_lane_offset(i), sizeof(ChannelLane));
  if (!memory) return;  // tried again at the next round
  *l = (LaneState){.memory = memory, .pid = (int)pid, .process = ++r->last_process};
  queue_add(r->queue, &(Message){.kind = MESSAGE_OPENED, .process = l->process, .a = pid}, NULL);
}

static const uint32_t ALL_LANES = UINT32_MAX;

// A finding is written after the launch it belongs to: it is read before the events and passed on
// after them, so that its launch is known.
static size_t drain_devices(ChannelReader *r, uint32_t lane) {
  size_t found = 0;
  r->hold = true;
  for (uint32_t d = 0; d < r->devices_used; d++)
    if (lane == ALL_LANES || reader_device_is_of(r, d, lane)) found += reader_drain_device(r, d);
  r->hold = false;
  return found;
}

static void close_lane(ChannelReader *r, uint32_t i, ChannelClosed how) {
  LaneState *l = &r->lanes[i];
  reader_look_for_devices(r);
  drain_devices(r, i);
  reader_drain_lane(r, i);
  for (uint32_t d = 0; d < r->devices_used; d++)
    if (r->devices[d].memory && r->devices[d].lane == i) reader_close_device(r, d);
  reader_tell_counts(r, i, true);
  queue_add(r->queue,
            &(Message){.kind = MESSAGE_CLOSED,
                       .process = l->process,
                       .a = how,
                       .b = atomic_load(&l->memory->lost),
                       .c = l->damaged},
            NULL);
  reader_trace_lane_ended(r, i);
  munmap(l->memory, sizeof(ChannelLane));
  l->memory = NULL;
  if (how == CLOSED_RUNNING) return;  // it may still write
  reader_clear(r, channel_lane_offset(i), sizeof(ChannelLane));
  atomic_store(&r->header->lane_pid[i], 0);
}

// Processes write these numbers: one that is too large makes this slower, nothing else.
static void look_for_new(ChannelReader *r) {
  r->lanes_used = MAX(r->lanes_used, MIN(atomic_load(&r->header->lanes_used), r->counts.lanes));
  reader_look_for_devices(r);
  for (uint32_t i = 0; i < r->lanes_used; i++) {
    LaneState *l = &r->lanes[i];
    uint32_t pid = atomic_load_explicit(&r->header->lane_pid[i], memory_order_acquire);
    if (pid && !l->memory && !l->left) open_lane(r, i, pid & ~CHANNEL_LANE_REPLACED);
    if (l->memory && pid & CHANNEL_LANE_REPLACED) l->replaced = true;
  }
  reader_trace_look(r);
}

size_t reader_round(ChannelReader *r) {
  size_t found = 0;
  atomic_fetch_add_explicit(&r->header->beat, 1, memory_order_relaxed);
  mend_header(r);
  if (queue_is_full(r->queue)) return 0;
  look_for_new(r);
  found += drain_devices(r, ALL_LANES);
  for (uint32_t i = 0; i < r->lanes_used; i++) {
    if (!r->lanes[i].memory) continue;
    size_t bytes = reader_drain_lane(r, i);
    // the counts belong to the launches just read
    if (bytes && r->lanes[i].kernels) reader_tell_counts(r, i, false);
    found += bytes;
  }
  reader_marks_look(r);
  for (uint32_t d = 0; d < r->devices_used; d++) queue_add_all(r->queue, &r->devices[d].held);
  for (uint32_t i = 0; i < r->lanes_used; i++)
    if (r->lanes[i].memory && r->lanes[i].replaced) close_lane(r, i, CLOSED_REPLACED);
  return found;
}

// A process that cannot be watched has ended when its last event said so and no other follows.
static bool has_ended(LaneState *l, uint64_t now) {
  if (l->pid != CHANNEL_PID_UNKNOWN) return !is_alive(l->pid);
  return l->ended && now - l->quiet_since >= QUIET_MS;
}

// Also closes, if `all`, lanes that have not announced their end. Returns how many stay open.
static uint32_t close_dead_lanes(ChannelReader *r, bool all) {
  uint32_t alive = 0;
  uint64_t now = reader_now_ms();
  for (uint32_t i = 0; i < r->lanes_used; i++) {
    LaneState *l = &r->lanes[i];
    if (!l->memory) continue;
    if ((all || l->ended) && has_ended(l, now)) close_lane(r, i, CLOSED_ENDED);
    else alive++;
  }
  return alive;
}

static bool stop_wanted(ChannelReader *r, uint64_t *deadline) {
  pthread_mutex_lock(&r->lock);
  bool stop = r->stop;
  *deadline = r->deadline;
  pthread_mutex_unlock(&r->lock);
  return stop;
}

static void *drain(void *p) {
  ChannelReader *r = p;
  unsigned sleep = SLEEP_MIN_MS;
  uint64_t looked = 0, deadline;
  for (;;) {
    bool stop = stop_wanted(r, &deadline);
    size_t found = reader_round(r);
    uint64_t now = reader_now_ms();
    bool all = stop || now - looked >= LIVENESS_MS;
    uint32_t alive = close_dead_lanes(r, all);
    if (all) {
      reader_tell_all_counts(r);
      looked = now;
    }
    queue_publish(r->queue);
    if (stop && ((alive == 0 && !found) || now >= deadline)) break;
    sleep = found ? SLEEP_MIN_MS : MIN(sleep * 2, (unsigned)SLEEP_MAX_MS);
    channel_sleep(r->header, stop ? SLEEP_MIN_MS : sleep);
  }
  atomic_store(&r->ended, true);
  atomic_store(&r->header->command, COMMAND_ENDED);
  look_for_new(r);
  for (uint32_t i = 0; i < r->lanes_used; i++) {
    if (!r->lanes[i].memory) continue;
    r->still_running += !r->lanes[i].replaced;
    r->lanes[i].left = true;
    close_lane(r, i, CLOSED_RUNNING);
  }
  queue_publish(r->queue);
  reader_trace_stop(r);  // the thread that takes records may wait for the receiver
  queue_end(r->queue);
  return NULL;
}

bool channel_start(ChannelReader *r, Error *err) {
  int failed = thread_start(&r->thread, drain, r);
  r->started = !failed;
  return !failed || error_set(err, "cannot start a thread: %s", strerror(failed));
}

void channel_stop(ChannelReader *r, unsigned grace_ms, uint32_t *still_running) {
  pthread_mutex_lock(&r->lock);
  r->stop = true;
  r->deadline = reader_now_ms() + grace_ms;
  pthread_mutex_unlock(&r->lock);
  channel_ring_doorbell(r->header);
  if (r->started) pthread_join(r->thread, NULL);
  *still_running = r->still_running;
}

// Runs on another thread than the reader's, which may unmap the lane at any time: maps it once
// more.
void channel_answer(ChannelReader *r, uint32_t process, uint32_t sequence, bool yes) {
  for (uint32_t i = 0; i < r->counts.lanes; i++) {
    if (__atomic_load_n(&r->lanes[i].process, __ATOMIC_RELAXED) != process) continue;
    ChannelLane *lane = reader_map(r, channel_lane_offset(i), CHANNEL_PAGE);
    if (!lane) continue;
    atomic_store_explicit(&lane->reply, (uint64_t)sequence << 1 | yes, memory_order_release);
    munmap(lane, CHANNEL_PAGE);
  }
}
