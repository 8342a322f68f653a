#ifndef WG_CHANNEL_INTERNAL_H
#define WG_CHANNEL_INTERNAL_H

#include "channel/channel.h"

#define CHANNEL_VARIABLE "WARPGRIND_CHANNEL"

// --- attach.c ---
ChannelHeader *channel_header(void);  // NULL: there is no command
const ChannelCounts *channel_counts(void);
void *channel_map(uint64_t offset, size_t size);  // NULL: errno says why
void channel_unmap(void *p, size_t size);         // p may be NULL
uint32_t channel_pid(void);      // of this process, as the command knows it; or CHANNEL_PID_UNKNOWN
uint32_t channel_image(void);    // of the program that this process runs; changes at exec
void channel_new_process(void);  // in a forked child
// --- writer.c ---
bool channel_lane_index(uint32_t *lane);  // false: no lane

// --- wake.c: the command sleeps on the doorbell; a writer rings when there is something it should
// not wait for. ---
void channel_ring_doorbell(ChannelHeader *h);
void channel_contents_forget(void);  // trace.c: in a forked child
void channel_sleep(ChannelHeader *h, unsigned milliseconds);

// --- queue.c: messages from the reading thread to the one that uses them ---
typedef enum {
  MESSAGE_OPENED,
  MESSAGE_EVENT,
  MESSAGE_FINDING,
  MESSAGE_SITE_COUNT,
  MESSAGE_DEVICE_CLOSED,
  MESSAGE_KERNEL_COUNTS,
  MESSAGE_CLOSED,
  MESSAGE_DRAINED
} MessageKind;
// size bytes follow, a multiple of 8
typedef struct Message {
  uint32_t kind, process, a, size;
  uint64_t b, c;
} Message;
typedef struct Queue Queue;
Queue *queue_new(void);
// seen by the other side after queue_publish
void queue_add(Queue *q, const Message *m, const void *bytes);
void queue_add_all(Queue *q, Str *messages);  // made elsewhere; empties it
void queue_publish(Queue *q);
bool queue_is_full(Queue *q);  // so much is waiting that reading should pause
void queue_end(Queue *q);
// Takes what was published; the caller frees it. NULL: nothing came within the time; *ended:
// nothing will come any more.
char *queue_take(Queue *q, unsigned wait_ms, size_t *size, bool *ended);
void queue_free(Queue *q);

#endif
