// The command's side: makes the memory, and copies out of it what the processes write. Runs in a thread of its own.
#define _GNU_SOURCE

#include "channel/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_MIN_MS = 1, SLEEP_MAX_MS = 20, LIVENESS_MS = 100 };

uint64_t reader_now_ms(void) { return clock_ns() / 1000000; }

void *reader_map(ChannelReader *r, uint64_t offset, size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, (off_t)offset);
  return p == MAP_FAILED ? NULL : p;
}

// Gives the memory back; whoever maps it next finds zeros.
void reader_clear(ChannelReader *r, uint64_t offset, size_t size) {
  if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) == 0) return;
  void *p = reader_map(r, offset, size);
  if (!p) return;
  memset(p, 0, size);
  munmap(p, size);
}

// A file size limit counts for memory files too: raised as far as allowed, for this call only.
static int make_memory(uint64_t size) {
  int fd = memfd_create("warpgrind-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  struct rlimit old, raised;
  bool limited = getrlimit(RLIMIT_FSIZE, &old) == 0 && old.rlim_cur != RLIM_INFINITY;
  raised = (struct rlimit){old.rlim_max, old.rlim_max};
  if (limited) setrlimit(RLIMIT_FSIZE, &raised);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  int failed = ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
  signal(SIGXFSZ, handler);
  if (limited) setrlimit(RLIMIT_FSIZE, &old);
  // Nobody may shrink it: reading what is not there any more would end the command.
  if (!failed && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) failed = errno;
  if (!failed) return fd;
  close(fd);
  errno = failed;
  return -1;
}

ChannelReader *channel_create(uint64_t trace_bytes, Error *err) {
  ChannelReader *r = mem_alloc(sizeof *r);
  uint32_t rings = 0, ring_size = 0;
  r->bytes = CHANNEL_BYTES + (trace_bytes ? reader_trace_bytes(trace_bytes, &rings, &ring_size) : 0);
  r->fd = make_memory(r->bytes);
  r->header = r->fd < 0 ? NULL : reader_map(r, 0, CHANNEL_PAGE);
  if (!r->header) {
    error_set(err, "cannot make shared memory for the report: %s%s", strerror(errno), errno == EFBIG ? " (ulimit -f limits it)" : "");
    if (r->fd >= 0) close(r->fd);
    free(r);
    return NULL;
  }
  r->queue = queue_new();
  pthread_mutex_init(&r->lock, NULL);
  r->header->version = CHANNEL_VERSION;
  r->header->command_pid = (uint32_t)getpid();
  r->header->trace_rings = rings;
  r->header->trace_ring_size = ring_size;
  atomic_store(&r->header->command, COMMAND_DRAINS);
  r->header->magic = CHANNEL_MAGIC;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), r->fd);
  setenv(CHANNEL_VARIABLE, path, 1);
  return r;
}

ChannelReader *channel_create_after(const ChannelReader *r, Error *err) {
  ChannelReader *next = channel_create(0, err);
  if (next) next->last_process = r->last_process;
  return next;
}

void channel_destroy(ChannelReader *r) {
  for (uint32_t i = 0; i < CHANNEL_LANES; i++)
    if (r->lanes[i].memory) munmap(r->lanes[i].memory, sizeof(ChannelLane));
  munmap(r->header, CHANNEL_PAGE);
  close(r->fd);
  queue_free(r->queue);
  str_free(&r->held);
  free(r);
}

uint32_t channel_unrecorded(const ChannelReader *r) { return atomic_load(&r->header->unrecorded); }

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
  ChannelLane *memory = reader_map(r, CHANNEL_LANE_OFFSET(i), sizeof(ChannelLane));
  if (!memory) return;                     // tried again at the next round
  for (uint32_t k = 0; k < CHANNEL_LANES; k++)
    if (r->lanes[k].memory && r->lanes[k].pid == (int)pid) r->lanes[k].replaced = true;
  *l = (LaneState){.memory = memory, .pid = (int)pid, .process = ++r->last_process};
  queue_add(r->queue, &(Message){.kind = MESSAGE_OPENED, .process = l->process, .a = pid}, NULL);
}

static void close_lane(ChannelReader *r, uint32_t i, ChannelClosed how) {
  LaneState *l = &r->lanes[i];
  reader_drain_lane(r, i);
  for (uint32_t d = 0; d < CHANNEL_DEVICES; d++) {
    reader_drain_device(r, d);             // it may not have been seen yet
    if (r->devices[d].memory && r->devices[d].lane == i) reader_close_device(r, d);
  }
  for (uint32_t k = 0; k < CHANNEL_KERNELS; k++) {
    uint64_t launches = atomic_load(&l->memory->kernels[k].launches), checked = atomic_load(&l->memory->kernels[k].checked);
    if (launches | checked) queue_add(r->queue, &(Message){.kind = MESSAGE_KERNEL_COUNTS, .process = l->process, .a = k, .b = launches, .c = checked}, NULL);
  }
  queue_add(r->queue, &(Message){.kind = MESSAGE_CLOSED, .process = l->process, .a = how, .b = atomic_load(&l->memory->lost), .c = l->damaged}, NULL);
  reader_trace_lane_ended(r, i);
  munmap(l->memory, sizeof(ChannelLane));
  l->memory = NULL;
  if (how == CLOSED_RUNNING) return;       // it may still write
  reader_clear(r, CHANNEL_LANE_OFFSET(i), sizeof(ChannelLane));
  atomic_store(&r->header->lane_pid[i], 0);
}

// One look at everything. Returns how much was found.
static size_t round_of(ChannelReader *r) {
  size_t found = 0;
  uint32_t open = 0;
  if (queue_is_full(r->queue)) return 0;
  for (uint32_t i = 0; i < CHANNEL_LANES; i++) {
    uint32_t pid = atomic_load_explicit(&r->header->lane_pid[i], memory_order_acquire);
    if (pid && !r->lanes[i].memory && !r->lanes[i].left) open_lane(r, i, pid);
  }
  reader_trace_look(r);
  // A finding is written after the launch it belongs to: read first and handed on last, it finds its launch known.
  r->hold = true;
  for (uint32_t d = 0; d < CHANNEL_DEVICES; d++) found += reader_drain_device(r, d);
  r->hold = false;
  for (uint32_t i = 0; i < CHANNEL_LANES; i++) {
    if (!r->lanes[i].memory) continue;
    found += reader_drain_lane(r, i);
    open++;
  }
  queue_add_all(r->queue, &r->held);
  // Lanes of programs that called exec are kept until the process ends, unless others need them.
  if (open > CHANNEL_LANES / 2)
    for (uint32_t i = 0; i < CHANNEL_LANES; i++)
      if (r->lanes[i].memory && r->lanes[i].replaced) close_lane(r, i, CLOSED_REPLACED);
  return found;
}

static uint32_t close_dead_lanes(ChannelReader *r) {
  uint32_t alive = 0;
  for (uint32_t i = 0; i < CHANNEL_LANES; i++) {
    if (!r->lanes[i].memory) continue;
    if (is_alive(r->lanes[i].pid)) alive++;
    else close_lane(r, i, r->lanes[i].replaced ? CLOSED_REPLACED : CLOSED_ENDED);
  }
  return alive;
}

static bool lanes_are_scarce(const ChannelReader *r) {
  uint32_t open = 0;
  for (uint32_t i = 0; i < CHANNEL_LANES; i++) open += r->lanes[i].memory != NULL;
  return open > CHANNEL_LANES * 3 / 4;
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
    size_t found = round_of(r);
    uint64_t now = reader_now_ms();
    uint32_t alive = 1;
    if (stop || now - looked >= LIVENESS_MS || lanes_are_scarce(r)) {
      alive = close_dead_lanes(r);
      looked = now;
    }
    queue_publish(r->queue);
    if (stop && ((alive == 0 && !found) || now >= deadline)) break;
    sleep = found ? SLEEP_MIN_MS : MIN(sleep * 2, (unsigned)SLEEP_MAX_MS);
    channel_sleep(r->header, stop ? SLEEP_MIN_MS : sleep);
  }
  atomic_store(&r->header->command, COMMAND_ENDED);
  reader_trace_look(r);
  for (uint32_t i = 0; i < CHANNEL_LANES; i++) {
    if (!r->lanes[i].memory) continue;
    r->still_running += !r->lanes[i].replaced;
    r->lanes[i].left = true;
    close_lane(r, i, CLOSED_RUNNING);
  }
  queue_publish(r->queue);
  reader_trace_stop(r);                    // whoever takes records may wait for what the receiver does with them
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

// On another thread than the reader's, which may unmap the lane at any time: mapped once more.
void channel_answer(ChannelReader *r, uint32_t process, uint32_t sequence, bool yes) {
  for (uint32_t i = 0; i < CHANNEL_LANES; i++) {
    if (__atomic_load_n(&r->lanes[i].process, __ATOMIC_RELAXED) != process) continue;
    ChannelLane *lane = reader_map(r, CHANNEL_LANE_OFFSET(i), CHANNEL_PAGE);
    if (!lane) continue;
    atomic_store_explicit(&lane->reply, (uint64_t)sequence << 1 | yes, memory_order_release);
    munmap(lane, CHANNEL_PAGE);
  }
}
