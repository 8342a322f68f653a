// wg_report: a finding goes from a lane to the command.
//
// Every finding is counted at its site, in the device's own memory; now and then the count in the
// channel follows. The first one of a site also takes a slot of the ring and writes itself there in
// full. Where the ring is full it waits for the command to make room. When the command has read
// nothing for a second the finding is given up (WgChannel.lost) and the program goes on.
#include "probe/device.h"
#include "probe/probe_abi.h"
#include "tools/kind_parts.h"

enum { PATIENCE_NS = 1000000000, DESCRIBED_NS = 2000000, EARLY = 1 << 16 };

// The number of a slot that is ours. -1: no room.
DEVICE int64_t take_slot(WgChannel *ch) {
  uint64_t since = 0;
  uint32_t seen = 0;
  for (;;) {
    uint32_t head = *(volatile uint32_t *)&ch->head, tail = *(volatile uint32_t *)&ch->tail;
    if (head - tail < ch->slots) {
      if (device_swap_if32(&ch->head, head, head + 1) == head) return head;
      continue;
    }
    uint64_t now = device_nanoseconds();
    if (!since || tail != seen) {
      since = now;
      seen = tail;
    }
    if (now - since > PATIENCE_NS) return -1;
  }
}

// A finding of one lane. Never in memory: the compiler keeps it in registers.
typedef struct Said {
  uint32_t launch, site, kind, size;
  uint64_t address, value, extra, value1, value2, value3, extra2;
} Said;

DEVICE void write_block(const WgReports *r, volatile WgFinding *f) {
  uint32_t x = device_ctaid_x(), y = device_ctaid_y(), z = device_ctaid_z();
  if (r->list) {
    uint32_t block = ((const uint32_t *)r->list)[x];
    x = block % r->grid_x;
    y = block / r->grid_x % r->grid_y;
    z = block / r->grid_x / r->grid_y;
  }
  f->block[0] = x;
  f->block[1] = y;
  f->block[2] = z;
}

// Writes word by word, so that nothing lies on the stack: otherwise a kernel without a stack would
// get one.
DEVICE void write_finding(const WgReports *r, uint32_t slot, uint32_t lanes, Said s) {
  WgChannel *ch = (WgChannel *)r->channel;
  volatile WgFinding *f = (volatile WgFinding *)((char *)ch + ch->slots_at) + slot % ch->slots;
  f->kind = s.kind;
  f->site = s.site;
  f->launch = s.launch;
  write_block(r, f);
  f->thread[0] = device_tid_x();
  f->thread[1] = device_tid_y();
  f->thread[2] = device_tid_z();
  f->lanes = lanes;
  f->size = s.size;
  f->address = s.address;
  f->value[0] = s.value;
  f->value[1] = s.value1;
  f->value[2] = s.value2;
  f->value[3] = s.value3;
  f->extra[0] = s.extra;
  f->extra[1] = 0;
  f->extra[2] = s.extra2;
  device_fence_system();
  f->sequence = slot + 1;
  device_fence_system();  // the thread may trap next
}

// Adds to the count; the count in the channel follows in steps. Returns the old count.
DEVICE uint64_t count_lanes(const WgReports *r, uint32_t site, uint32_t lanes) {
  uint64_t n = (uint64_t)__builtin_popcount(lanes),
           told = device_add64((uint64_t *)r->counts + site, n), old = told & ~WG_COUNT_DESCRIBED;
  uint64_t step = wg_far_count(old + n) - wg_far_count(old);
  if (step && r->far_counts) device_add64((uint64_t *)r->far_counts + site, step);
  return told;
}

// Another thread is describing the first finding of this site. Waits for it: this thread may run
// into the same fault and end the launch before the description has left the device.
DEVICE void wait_for_description(const WgReports *r, uint32_t site) {
  for (uint64_t since = device_nanoseconds(); device_nanoseconds() - since < DESCRIBED_NS;)
    if (*((volatile uint64_t *)r->counts + site) & WG_COUNT_DESCRIBED) return;
}

// Reports once for each warp and site; `lanes` are the lanes with the finding.
DEVICE void report_lanes(const WgReports *r, uint32_t lanes, Said s) {
  WgChannel *ch = (WgChannel *)r->channel;
  if (s.site < r->sites) {
    uint64_t told = count_lanes(r, s.site, lanes);
    if (told) {
      if (told < EARLY) wait_for_description(r, s.site);
      return;
    }
    int64_t slot = take_slot(ch);
    if (slot >= 0) write_finding(r, (uint32_t)slot, lanes, s);
    device_add64((uint64_t *)r->counts + s.site, WG_COUNT_DESCRIBED);
    if (slot >= 0) return;
  }
  device_add32(&ch->lost, 1);
}

// Kinds that one instruction can have at once are counted separately, in planes of their own.
#define KIND(id, number, name, severity, title, parts) (((parts)&PLANE) != 0 && kind == number) ||
DEVICE uint32_t number_of(uint32_t site, uint32_t kind) {
  if (site >= WG_SITE_NUMBERS) return WG_CHANNEL_SITES;
  return site + (
#define PLANE SECOND_PLANE
#include "all_kinds.def"
                    0 ? WG_SITE_NUMBERS :
#undef PLANE
#define PLANE THIRD_PLANE
#include "all_kinds.def"
                    0 ? 2 * WG_SITE_NUMBERS
                      : 0);
}
#undef PLANE
#undef KIND

DEVICE void report(uint64_t channel, Said s) {
  if (!channel) return;
  uint32_t site = s.site = number_of(s.site, s.kind), rest = device_active_lanes(),
           lane = device_lane();
  for (;;) {  // lanes that came here from different sites, one site after the other
    uint32_t leader = (uint32_t)__builtin_ctz(rest), its = device_read_lane(rest, site, leader),
             same = device_ballot(rest, site == its);
    if (site != its) {
      rest &= ~same;
      continue;
    }
    if (lane == leader) report_lanes((const WgReports *)channel, same, s);
    device_meet(same);  // no lane runs into a trap while the leader still writes
    return;
  }
}

void wg_report(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
               uint64_t address, uint64_t value, uint64_t extra);
__attribute__((noinline)) void wg_report(uint64_t channel, uint32_t launch, uint32_t site,
                                         uint32_t kind, uint32_t size, uint64_t address,
                                         uint64_t value, uint64_t extra) {
  report(channel, (Said){launch, site, kind, size, address, value, extra, 0, 0, 0, 0});
}

// The same with more values: v0 to v3 are value[0] to [3], e0 and e2 extra[0] and [2].
void wg_report_wide(uint64_t channel, uint32_t launch, uint32_t site, uint32_t kind, uint32_t size,
                    uint64_t address, uint64_t v0, uint64_t v1, uint64_t v2, uint64_t v3,
                    uint64_t e0, uint64_t e2);
__attribute__((noinline)) void wg_report_wide(uint64_t channel, uint32_t launch, uint32_t site,
                                              uint32_t kind, uint32_t size, uint64_t address,
                                              uint64_t v0, uint64_t v1, uint64_t v2, uint64_t v3,
                                              uint64_t e0, uint64_t e2) {
  report(channel, (Said){launch, site, kind, size, address, v0, e0, v1, v2, v3, e2});
}

// The counter of this multiprocessor; the host adds all of them up at the end.
DEVICE uint64_t *own_count(const WgReports *r, uint32_t site) {
  if (!r->spread || site >= WG_SPREAD_SITES) return (uint64_t *)r->counts + site;
  return &((WgSpread *)r->spread)->counts[device_smid() % WG_SPREAD][site];
}

DEVICE void count(uint64_t channel, uint32_t site, int wait) {
  const WgReports *r = (const WgReports *)channel;
  uint32_t rest = device_active_lanes(), lane = device_lane();
  for (;;) {
    uint32_t leader = (uint32_t)__builtin_ctz(rest), its = device_read_lane(rest, site, leader),
             same = device_ballot(rest, site == its);
    if (site != its) {
      rest &= ~same;
      continue;
    }
    if (lane != leader || site >= r->sites) return;
    if (wait) count_lanes(r, site, same);
    else device_increase64(own_count(r, site), (uint64_t)__builtin_popcount(same));
    return;
  }
}

// Only counts; for findings that are known by their number alone.
void wg_count(uint64_t channel, uint32_t site);
__attribute__((noinline)) void wg_count(uint64_t channel, uint32_t site) {
  count(channel, site, 1);
}

// One more of a finding that was reported: the count in the channel follows at the end only.
void wg_count_more(uint64_t channel, uint32_t site);
__attribute__((noinline)) void wg_count_more(uint64_t channel, uint32_t site) {
  count(channel, site, 0);
}
