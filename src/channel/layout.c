// The offsets of the pieces of the memory.
#include "channel/channel.h"

uint64_t channel_lane_offset(uint32_t i) {
  return CHANNEL_PAGE + (uint64_t)i * sizeof(ChannelLane);
}

uint64_t channel_device_offset(const ChannelCounts *n, uint32_t i) {
  return channel_lane_offset(n->lanes) + (uint64_t)i * CHANNEL_DEVICE_BYTES;
}

uint64_t channel_trace_offset(const ChannelCounts *n, uint32_t i) {
  return channel_device_offset(n, n->devices) +
         i * CHANNEL_TRACE_BYTES(n->trace_rings, n->trace_ring_size);
}

uint64_t channel_contents_offset(const ChannelCounts *n, uint32_t i) {
  return channel_trace_offset(n, n->traces) + i * sizeof(ChannelContents);
}

uint64_t channel_bytes(const ChannelCounts *n) {
  return n->trace_rings ? channel_contents_offset(n, n->contents)
                        : channel_device_offset(n, n->devices);
}

bool channel_counts_are_good(const ChannelCounts *n) {
  return n->lanes && n->lanes <= CHANNEL_LANES && n->devices && n->devices <= CHANNEL_DEVICES &&
         n->traces <= CHANNEL_TRACES && n->contents <= CHANNEL_CONTENTS && n->trace_rings <= 64 &&
         n->trace_ring_size <= 1u << 30;
}
