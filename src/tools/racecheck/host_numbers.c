// Numbers of launches and copies in entries. There are 511, in two halves. Before a half is reused,
// all entries are cleared; at that time no launch with a number of that half may be running.
#include "tools/racecheck/host.h"

#include <sys/mman.h>

enum { HALF = WG_RACE_HALF, TOLD_BYTES = (sizeof(RaceTold) + 4095) & ~4095u };

static void open_told(RaceDevice *r) {
  void *user;
  const SessionDeviceOps *ops = race_ops(r, &user);
  void *p = mmap(NULL, TOLD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  if (ops->map_host(user, p, TOLD_BYTES, &r->told_at)) r->told = p;
  else munmap(p, TOLD_BYTES);
}

uint32_t race_next_number(RaceDevice *r) {
  void *user;
  const SessionDeviceOps *ops = race_ops(r, &user);
  uint32_t next = r->number + 1 == WG_RACE_LAUNCHES ? 1 : r->number + 1;
  if (!r->told) open_told(r);
  if (!r->told) return 0;
  if (next == HALF || (next == 1 && r->number)) {
    if (ops->settle ? !ops->settle(user) : r->running[next / HALF]) return 0;
    race_heard(r);
    if (ops->settle || !(r->running[0] | r->running[1])) race_drop_leaving(r->device);
    race_clear_entries(r);
    if (r->shared) race_clear(r->device, r->shared, r->shared_bytes);
    session_order_forget(r->device, next, next + HALF);
  }
  r->number = next;
  r->copies[next] = (RaceCopy){0};
  r->told->met[next] = (WgRaceMet){0};
  if (!ops->settle) r->running[next / HALF]++;
  return next;
}

void race_launch_done(ToolDevice *d, const WgLaunch *record) {
  RaceDevice *r = d->state;
  if (!record->race) return;
  pthread_mutex_lock(&race_lock);
  if (r->running[record->race / HALF]) r->running[record->race / HALF]--;
  pthread_mutex_unlock(&race_lock);
}

void race_close_told(RaceDevice *r, bool alive) {
  void *user;
  const SessionDeviceOps *ops = race_ops(r, &user);
  if (!r->told || !alive) return;
  ops->unmap_host(user, r->told);
  munmap(r->told, TOLD_BYTES);
}
