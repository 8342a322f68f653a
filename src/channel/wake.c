// Writers wake the command, which sleeps on a futex while the channel is empty.
#define _GNU_SOURCE

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "channel/internal.h"

void channel_ring_doorbell(ChannelHeader *h) {
  atomic_fetch_add(&h->doorbell, 1);
  if (atomic_load(&h->sleeping)) syscall(SYS_futex, &h->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

// A writer that rings between the two loads changes the doorbell, and the futex does not sleep.
void channel_sleep(ChannelHeader *h, unsigned milliseconds) {
  uint32_t seen = atomic_load(&h->doorbell);
  atomic_store(&h->sleeping, 1);
  struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  syscall(SYS_futex, &h->doorbell, FUTEX_WAIT, seen, &limit, NULL, 0);
  atomic_store(&h->sleeping, 0);
}
