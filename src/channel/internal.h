#ifndef WG_CHANNEL_INTERNAL_H
#define WG_CHANNEL_INTERNAL_H

#include "channel/channel.h"

#define CHANNEL_VARIABLE "WARPGRIND_CHANNEL"

// --- wake.c: the command sleeps on the doorbell; a writer rings when there is something it should not wait for. ---
void channel_ring_doorbell(ChannelHeader *h);
void channel_sleep(ChannelHeader *h, unsigned milliseconds);

#endif
