// Quarantine: freed device memory is not given back to the driver for a while, so that uses of it
// are found. The oldest goes first. To the program it counts as free, and all of it is released
// before an allocation of the program fails.
#include "tools/memcheck/host.h"

enum { DEVICES = 64, MOST_HELD = 1 << 13 };
// without --quarantine: 1/SHARE of the device's memory, at most MOST bytes
static const uint64_t SHARE = 20, MOST = 1ull << 30;

typedef struct Quarantine {
  uint64_t limit, bytes;
  VEC(SessionHeld) held;  // by age
  uint32_t first;         // those before it have been released
} Quarantine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Quarantine all[DEVICES];
typedef VEC(SessionHeld) HeldList;

static Quarantine *of_device(int device) {
  return device >= 0 && device < DEVICES ? &all[device] : NULL;
}

void quarantine_open(int device, uint64_t device_memory) {
  Quarantine *q = of_device(device);
  const MemcheckOptions *o = memcheck_options();
  if (!q) return;
  pthread_mutex_lock(&lock);
  q->limit = o->has_quarantine ? o->quarantine : MIN(device_memory / SHARE, MOST);
  pthread_mutex_unlock(&lock);
}

static SessionHeld take_oldest(Quarantine *q) {
  SessionHeld h = q->held.data[q->first++];
  q->bytes -= h.size;
  if (q->first * 2 > q->held.len) {  // the front half is empty
    memmove(q->held.data, q->held.data + q->first, (q->held.len - q->first) * sizeof *q->held.data);
    q->held.len -= q->first;
    q->first = 0;
  }
  return h;
}

static void give_back(HeldList *list, SessionRelease *release) {
  for (uint32_t i = 0; i < list->len; i++) release(&list->data[i]);
  vec_free(list);
}

bool quarantine_hold(const SessionHeld *h, SessionRelease *release) {
  Quarantine *q = of_device(h->device);
  HeldList out = {0};
  pthread_mutex_lock(&lock);
  bool fits = q && h->size <= q->limit;
  if (fits) {
    while (q->bytes + h->size > q->limit || q->held.len - q->first >= MOST_HELD)
      vec_push(&out, take_oldest(q));
    vec_push(&q->held, *h);
    q->bytes += h->size;
  }
  pthread_mutex_unlock(&lock);
  give_back(&out, release);
  return fits;
}

bool quarantine_release(int device, const void *owner, SessionRelease *release) {
  Quarantine *q = of_device(device);
  HeldList out = {0};
  if (!q) return false;
  pthread_mutex_lock(&lock);
  uint32_t kept = 0;
  for (uint32_t i = q->first; i < q->held.len; i++) {
    SessionHeld h = q->held.data[i];
    if (owner && h.owner != owner) {
      q->held.data[kept++] = h;
    } else {
      q->bytes -= h.size;
      vec_push(&out, h);
    }
  }
  q->held.len = kept;
  q->first = 0;
  pthread_mutex_unlock(&lock);
  bool any = out.len != 0;
  if (release) give_back(&out, release);
  else vec_free(&out);
  return any;
}

bool quarantine_holds(int device, uint64_t base) {
  Quarantine *q = of_device(device);
  bool found = false;
  if (!q) return false;
  pthread_mutex_lock(&lock);
  for (uint32_t i = q->first; i < q->held.len && !found; i++) found = q->held.data[i].base == base;
  pthread_mutex_unlock(&lock);
  return found;
}

uint64_t quarantine_bytes(int device) {
  Quarantine *q = of_device(device);
  if (!q) return 0;
  pthread_mutex_lock(&lock);
  uint64_t bytes = q->bytes;
  pthread_mutex_unlock(&lock);
  return bytes;
}
