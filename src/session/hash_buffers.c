// --hash: hashes of the buffers that launches wrote, made here if device memory is memory of the
// process, else by the device.
#include "base/hash_option.h"
#include "session/written_buffers.h"

void session_hashes(const SessionOutputs *o, const uint64_t (*sums)[2], uint32_t first,
                    uint32_t n) {
  session_send(EVENT_HASHES, &(EventHashes){o->step, first, (const uint64_t *)sums, n * 2});
}

void session_hashes_missing(const SessionOutputs *o, const char *why) {
  session_send(EVENT_NO_HASHES, &(EventNoHashes){o->step, 0, why});
}
void session_hash_left_out(const SessionOutputs *o, uint32_t buffer) {
  session_send(EVENT_NO_HASHES, &(EventNoHashes){o->step, buffer + 1, HASH_LEFT_OUT});
}
uint32_t session_hash_every(void) {
  return session_wants(SESSION_WANTS_EVERY_HASH) ? 1 : session_options()->hash_every;
}
bool session_outputs_may_wait(void) {
  return session_hash_every() != 1 && !session_order_concurrent();
}

static uint64_t word_at(const uint8_t *p, size_t n) {
  uint64_t w = 0;
  memcpy(&w, p, n);
  return w;
}

static void hash(const uint8_t *p, uint64_t n, uint32_t element, uint64_t out[2]) {
  uint64_t ordered = n, unordered = n, i = 0;
  for (; i + 16 <= n; i += 16) {
    uint64_t low = word_at(p + i, 8), high = word_at(p + i + 8, 8);
    ordered += wg_hash_ordered(low, i / 8) + wg_hash_ordered(high, i / 8 + 1);
    unordered += element == 16 ? wg_hash_pair(low, high)
                               : wg_hash_elements(low, element) + wg_hash_elements(high, element);
  }
  for (uint64_t at = i; at < n; at += 8)
    ordered += wg_hash_ordered(word_at(p + at, MIN(n - at, 8)), at / 8);
  for (; element <= 8 && i + element <= n; i += element)
    unordered += wg_hash_element(word_at(p + i, element));
  for (; i < n; i++) unordered += wg_hash_element(p[i]);
  out[0] = ordered;
  out[1] = unordered;
}

void session_hash_ready(const SessionOutputs *o, SessionIsThere *is_there) {
  uint64_t(*sums)[2] = mem_alloc(o->buffers.len * sizeof *sums + 8);
  bool all = true;
  for (uint32_t i = 0; i < o->buffers.len; i++) {
    const SessionBuffer *b = &o->buffers.data[i];
    bool there = is_there(b->base, b->size);
    all &= there;
    if (there) hash((const uint8_t *)(uintptr_t)b->base, b->size, b->element, sums[i]);
  }
  if (all) session_hashes(o, (const uint64_t(*)[2])sums, 0, o->buffers.len);
  else session_hashes_missing(o, "a buffer was freed before the launch had ended");
  free(sums);
}
