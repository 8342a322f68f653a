// The program's side of the memory: finds it, and makes pieces of it accessible.
//
// Reserves all of it, without access, when the library is loaded: later it needs no descriptor,
// whatever the program has done to its privileges, its descriptors or its root folder. A piece gets
// access when it is claimed, so that wild pointers hit little else.
#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/shared_memory.h"
#include "channel/internal.h"

enum { SILENCE_MS = 5000 };

static ChannelHeader *header;
static ChannelCounts counts;
static uint8_t *reserved;  // NULL: there was no room; then every piece is mapped by itself
static uint64_t reserved_bytes;
static uint32_t own_pid;       // in the command's pid namespace; 0: not asked yet
static bool foreign;           // this process is in another pid namespace
static uint8_t *same_process;  // the system sets it to zero in a child; NULL: it cannot

ChannelHeader *channel_header(void) { return header; }
const ChannelCounts *channel_counts(void) { return &counts; }
bool channel_is_offered(void) { return shared_memory_is_offered(CHANNEL_VARIABLE); }

static void *map_at(int fd, uint64_t offset, size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
  return p == MAP_FAILED ? NULL : p;
}

void *channel_map(uint64_t offset, size_t size) {
  if (reserved)
    return offset + size <= reserved_bytes &&
                   !mprotect(reserved + offset, size, PROT_READ | PROT_WRITE)
               ? reserved + offset
               : NULL;
  int fd = shared_memory_open(CHANNEL_VARIABLE);
  void *p = fd < 0 ? NULL : map_at(fd, offset, size);
  int why = errno;
  if (fd >= 0) close(fd);
  errno = why;
  return p;
}

void channel_unmap(void *p, size_t size) {
  if (!p) return;
  if (reserved && (uint8_t *)p >= reserved && (uint8_t *)p < reserved + reserved_bytes)
    mprotect(p, size, PROT_NONE);
  else munmap(p, size);
}

// --- which process this is ---

uint32_t channel_pid(void) {
  if (!own_pid) {
    int pid = shared_memory_pid();
    own_pid = pid ? (uint32_t)pid : CHANNEL_PID_UNKNOWN;
    foreign = pid != getpid();
  }
  return own_pid;
}

// A number that changes with every program that a process executes.
uint32_t channel_image(void) {
  const void *random = (const void *)getauxval(AT_RANDOM);
  uint32_t image = 1;
  if (random) memcpy(&image, random, sizeof image);
  return image | 1;
}

static void watch_forks(void) {
  long page = sysconf(_SC_PAGESIZE);
  if (same_process) {
    *same_process = 1;
    return;
  }
  void *p = mmap(NULL, (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  if (madvise(p, (size_t)page, MADV_WIPEONFORK) == 0) {
    same_process = p;
    *same_process = 1;
  } else {
    munmap(p, (size_t)page);
  }
}

bool channel_in_new_child(void) {
  return same_process && !__atomic_load_n(same_process, __ATOMIC_RELAXED);
}

void channel_new_process(void) {
  own_pid = 0;
  if (same_process) *same_process = 1;
}

// --- whether the command is there ---

static bool beats(void) {
  static _Atomic uint32_t seen;
  static _Atomic uint64_t since;
  uint32_t beat = atomic_load_explicit(&header->beat, memory_order_relaxed);
  uint64_t now = clock_ns() / 1000000;
  if (beat != seen || !since) {
    seen = beat;
    since = now;
  }
  return now - since < SILENCE_MS;
}

bool channel_command_lives(void) {
  if (!header || atomic_load_explicit(&header->command, memory_order_relaxed) != COMMAND_DRAINS)
    return false;
  if (foreign) return beats();
  return kill((pid_t)header->command_pid, 0) == 0 || errno != ESRCH;
}

// --- the memory ---

// Frees what this process claimed while it ran another program, before exec.
static void release_replaced(void) {
  uint32_t used = MIN(atomic_load(&header->lanes_used), counts.lanes), image = channel_image(),
           found = 0;
  for (uint32_t i = 0; i < used; i++) {
    uint32_t pid = atomic_load(&header->lane_pid[i]);
    if (!pid || pid == CHANNEL_PID_UNKNOWN || pid & CHANNEL_LANE_REPLACED || pid != channel_pid() ||
        atomic_load(&header->lane_image[i]) == image)
      continue;
    found += atomic_compare_exchange_strong(&header->lane_pid[i], &pid,
                                            pid | CHANNEL_LANE_REPLACED);
  }
  if (found) channel_ring_doorbell(header);
}

static bool is_good(const ChannelHeader *h, uint64_t bytes) {
  return h->magic == CHANNEL_MAGIC && h->version == CHANNEL_VERSION &&
         h->command == COMMAND_DRAINS && channel_counts_are_good(&h->counts) &&
         channel_bytes(&h->counts) <= bytes;
}

static void reserve(int fd, uint64_t bytes) {
  void *p = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (p == MAP_FAILED) return;
  madvise(p, bytes, MADV_DONTDUMP);
  reserved = p;
  reserved_bytes = bytes;
}

bool channel_attach(void) {
  if (header) return true;
  int fd = shared_memory_open(CHANNEL_VARIABLE);
  if (fd < 0) return false;
  off_t bytes = lseek(fd, 0, SEEK_END);
  ChannelHeader *h = bytes >= CHANNEL_PAGE ? map_at(fd, 0, CHANNEL_PAGE) : NULL;
  bool good = h && is_good(h, (uint64_t)bytes);
  if (good) reserve(fd, (uint64_t)bytes);
  close(fd);
  if (!good) {
    if (h) munmap(h, CHANNEL_PAGE);
    errno = EPROTO;
    return false;
  }
  counts = h->counts;
  header = h;
  watch_forks();
  release_replaced();
  return true;
}
