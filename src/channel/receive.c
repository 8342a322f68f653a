// Turns messages into calls of the sink.
#include "channel/reader.h"

static void deliver(const ChannelSink *k, const Message *m, const char *bytes) {
  AnyEvent e;
  switch ((MessageKind)m->kind) {
    case MESSAGE_OPENED: k->opened(k->user, m->process, (int)m->a); break;
    case MESSAGE_EVENT:
      if (channel_decode(m->a, bytes, m->size, &e)) k->event(k->user, m->process, m->a, &e);
      else k->damaged(k->user, m->process);
      break;
    case MESSAGE_FINDING: k->finding(k->user, m->process, m->a, (const WgFinding *)bytes); break;
    case MESSAGE_SITE_COUNT: k->site_count(k->user, m->process, m->a, (uint32_t)m->b, m->c); break;
    case MESSAGE_DEVICE_CLOSED:
      k->device_closed(k->user, m->process, m->a, (uint32_t)m->b, m->c != 0);
      break;
    case MESSAGE_KERNEL_COUNTS: k->kernel_counts(k->user, m->process, m->a, m->b, m->c); break;
    case MESSAGE_DRAINED: k->drained(k->user, m->process, m->a); break;
    case MESSAGE_CLOSED: k->closed(k->user, m->process, m->a, m->b, m->c != 0); break;
  }
}

bool channel_receive(ChannelReader *r, const ChannelSink *sink, unsigned wait_ms) {
  size_t size;
  bool ended;
  char *data = queue_take(r->queue, wait_ms, &size, &ended);
  for (size_t at = 0; at < size;) {
    const Message *m = (const Message *)(data + at);
    deliver(sink, m, data + at + sizeof *m);
    at += sizeof *m + m->size;
  }
  free(data);
  return !ended;
}
