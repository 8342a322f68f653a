// --buffer: which buffers' operations are recorded. A buffer is named by its number (allocations
// and variables count from 1), by a variable's name, or by what the program's source calls the
// pointer. Only the command knows that last name, so it is asked.
#include "tools/record/host.h"

#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static WgTraceRange chosen[WG_TRACE_RANGES];
static uint32_t nchosen, allocations, asked;
static _Atomic uint32_t version = 1;

uint32_t record_buffers_version(void) { return record_options.buffers ? atomic_load(&version) : 0; }

static bool is_number(const char *p, size_t n) { return strspn(p, "0123456789") >= n; }

// Does --buffer have this name or number? ask: it has a name that may be a pointer of the source.
static bool is_listed(const char *name, uint32_t number, bool *ask) {
  for (const char *p = record_options.buffers; *p; p += strcspn(p, ","), p += *p == ',') {
    size_t n = strcspn(p, ",");
    if (n && is_number(p, n) ? strtoull(p, NULL, 10) == number
                             : name && strlen(name) == n && !strncmp(name, p, n))
      return true;
    *ask |= n && !is_number(p, n);
  }
  return false;
}

// Waits for the command, which may have to read the program's symbols first. With the lock held.
static bool ask_command(uint64_t base) {
  enum { PATIENCE_MS = 20000 };
  bool yes = false;
  if (!session_send(EVENT_CHOOSE, &(EventChoose){++asked, base})) return true;
  for (int waited = 0; waited < PATIENCE_MS && channel_command_lives(); waited++) {
    if (channel_reply(asked, &yes)) return yes;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return true;
}

void record_buffer_allocated(uint64_t base, uint64_t size, const char *name) {
  if (!record_options.buffers || !record_options.operations || !size) return;
  bool ask = false;
  pthread_mutex_lock(&lock);
  bool yes = is_listed(name, ++allocations, &ask);
  if (!yes && ask && !name) yes = ask_command(base);
  if (yes && nchosen == WG_TRACE_RANGES) {
    session_note(SEVERITY_WARNING,
                 "--buffer: more than %d buffers at a time are chosen; operations on the one of "
                 "%llu bytes are not recorded",
                 WG_TRACE_RANGES, (unsigned long long)size);
  } else if (yes) {
    chosen[nchosen++] = (WgTraceRange){base, base + size - 1};
    version++;
  }
  pthread_mutex_unlock(&lock);
}

void record_buffer_freed(uint64_t base, bool in_order) {
  if (!record_options.buffers) return;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < nchosen; i++)
    if (chosen[i].first == base) {
      chosen[i--] = chosen[--nchosen];
      version++;
    }
  pthread_mutex_unlock(&lock);
}

void record_buffers_choose(WgTrace *t) {
  if (!record_options.buffers) return;
  pthread_mutex_lock(&lock);
  memcpy(t->buffers, chosen, sizeof chosen);
  t->nbuffers = nchosen;
  if (!nchosen) t->buffers[t->nbuffers++] = (WgTraceRange){1, 0};  // no address is in this one
  pthread_mutex_unlock(&lock);
}
