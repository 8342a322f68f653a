// How often kernels were launched, and checked. A process adds to counters in its lane; the command
// copies them into the run as they grow. So even a report made before the process ends, or from the
// file of a command that was killed, has them.
#define _GNU_SOURCE
#include <unistd.h>

#include "channel/reader.h"

// Read through the descriptor: that allocates no pages that were never written.
void reader_tell_counts(ChannelReader *r, uint32_t lane, bool last) {
  static _Thread_local CountsTold counts[CHANNEL_KERNELS];
  _Static_assert(sizeof *counts == sizeof(ChannelKernelCounts), "as they lie in a lane");
  LaneState *l = &r->lanes[lane];
  uint32_t n = last ? CHANNEL_KERNELS : MIN(l->kernels + 1, (uint32_t)CHANNEL_KERNELS);
  size_t bytes = n * sizeof *counts;
  uint64_t at = channel_lane_offset(lane) + offsetof(ChannelLane, kernels);
  if (pread(r->fd, counts, bytes, (off_t)at) != (ssize_t)bytes) return;
  if (!last) counts[0] = (CountsTold){0};  // the sum of surplus kernels is sent once, at the end
  for (uint32_t k = 0; k < n; k++) {
    CountsTold told = k < l->told.len ? l->told.data[k] : (CountsTold){0};
    Message m = {.kind = MESSAGE_KERNEL_COUNTS, .process = l->process, .a = k};
    m.b = counts[k].launches - told.launches;
    m.c = counts[k].checked - told.checked;
    if (m.b | m.c) queue_add(r->queue, &m, NULL);
    if (last) continue;
    if (k < l->told.len) l->told.data[k] = counts[k];
    else vec_push(&l->told, counts[k]);
  }
  if (last) vec_free(&l->told);
}

void reader_tell_all_counts(ChannelReader *r) {
  for (uint32_t i = 0; i < r->lanes_used; i++)
    if (r->lanes[i].memory && r->lanes[i].kernels) reader_tell_counts(r, i, false);
}
