// A process that takes its device channel after a round of the reader has begun, reports, and gives
// the channel back before the round has reached its events: the finding arrives all the same.
#include <stdio.h>

#include "channel/internal.h"
#include "channel/reader.h"

static unsigned findings, closed;
static void opened(void *user, uint32_t process, int pid) {}
static void event(void *user, uint32_t process, ChannelEvent type, const AnyEvent *e) {}
static void finding(void *user, uint32_t process, uint32_t device, const WgFinding *f) {
  findings += f->site == 7;
}
static void site_count(void *user, uint32_t process, uint32_t device, uint32_t site,
                       uint64_t count) {}
static void device_closed(void *user, uint32_t process, uint32_t device, uint32_t lost,
                          bool at_least) {
  closed++;
}

int main(void) {
  Error err = {{0}};
  ChannelReader *r = channel_create(0, &err);
  CHECK(r && channel_attach() && channel_claim(&err));
  reader_round(r);                         // it has seen the process, which has no device yet
  uint32_t d = 0;
  WgChannel *c = channel_device_claim(&d, &err);
  CHECK(c);
  WgFinding *slot = (WgFinding *)((char *)c + c->slots_at);
  slot->site = 7;
  slot->sequence = 1;
  c->head = 1;
  CHECK(channel_write(EVENT_DEVICE_END, &(EventDeviceEnd){.channel = d}));
  CHECK(r->lanes[0].memory);
  reader_drain_lane(r, 0);                 // the rest of that round
  queue_publish(r->queue);
  channel_receive(r,
                  &(ChannelSink){.opened = opened,
                                 .event = event,
                                 .finding = finding,
                                 .site_count = site_count,
                                 .device_closed = device_closed},
                  0);
  printf("%s finding\n", findings == 1 ? "ok" : "FAIL");
  printf("%s closed\n", closed == 1 ? "ok" : "FAIL");
  printf("%s free_again\n", atomic_load(&r->header->device_lane[d]) == 0 ? "ok" : "FAIL");
  return 0;
}
