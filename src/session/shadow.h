// shadow: which bytes of device memory are initialised. One byte of shadow for each 4 bytes of
// memory (probe_abi.h), in memory of the device that the allocation belongs to. Shared by the files
// shadow*.c.
#ifndef WG_SESSION_SHADOW_H
#define WG_SESSION_SHADOW_H

#include "session/internal.h"

typedef enum { SHADOW_NEVER, SHADOW_GOOD } ShadowState;

enum { SHADOW_PIECES = 8 };
// One allocation. `whole`: every byte was initialised by copies, sets or something we do not see
// into, and no checked kernel that may write to it was launched since. It is only a short cut: what
// the shadow says is true in any case.
typedef struct Shadow {
  uint64_t base, size;
  uint64_t address;  // of the shadow; 0: all of it counts as initialised
  SessionMemoryKind kind;
  SessionDevice *device;        // NULL: has no shadow
  struct SharedShadow *shared;  // the shadow belongs to physical memory
  bool whole, graph_writes;     // graph_writes: a kernel in a graph may write to it at any time
  uint64_t bad_at;              // where something was not good when it was last looked at
  uint32_t npieces;
  // parts that copies and sets initialised since
  struct {
    uint64_t from, to;
  } pieces[SHADOW_PIECES];
} Shadow;

// --- shadow.c: the table. Everything below with its lock held, for reading where nothing else is
// said ---
void shadow_lock(void);
void shadow_lock_to_change(void);
void shadow_unlock(void);
Shadow *shadow_find(uint64_t address);  // the one the byte is in, or NULL
// Bytes from the address that have the same answer: in *out (NULL: in no allocation), n at most.
uint64_t shadow_run(uint64_t address, uint64_t n, Shadow **out);
// these bytes, counted from its start, are initialised now
void shadow_covered(Shadow *s, uint64_t from, uint64_t to);
void shadow_kernel_writes(Shadow *s, bool in_graph);

// --- shadow_heap.c: memory from malloc of device code ---
bool shadow_has_heap(void);
void shadow_heap_lose(void);  // from now on none of it is followed
// all of it counts as initialised, in the order of the stream. NULL: of all devices
void shadow_heap_forget(SessionDevice *d, const void *stream);

// --- shadow_pool.c: memory for shadows ---
// fresh: it is zero; 0: no memory
uint64_t shadow_take(SessionDevice *d, size_t bytes, bool *fresh);
// nothing uses it any more, or soon
void shadow_give(SessionDevice *d, uint64_t address, size_t bytes);
// all goes back to the device, and nothing is taken any more; false: nothing was there
bool shadow_pool_give_up(SessionDevice *d);
void shadow_pool_close(SessionDevice *d, bool alive);
size_t shadow_bytes(uint64_t size);  // of the shadow of so many bytes

// --- shadow_bits.c: the bytes themselves, in the order of the stream ---
void shadow_set(const Shadow *s, const void *stream, uint64_t offset, uint64_t n,
                ShadowState state);
void shadow_move(const Shadow *to, uint64_t to_offset, const Shadow *from, uint64_t from_offset,
                 uint64_t n, const void *stream);
// of the first n bytes of an allocation, the word it is in; n: none
uint64_t shadow_first_bad(const uint8_t *bits, uint64_t n);
// bytes, and offsets
typedef struct ShadowTally {
  uint64_t derived, never, first_derived, first_never;
} ShadowTally;
// bits: of the allocation's first byte on
void shadow_tally(const uint8_t *bits, uint64_t offset, uint64_t n, ShadowTally *t);
// the device's memory as it is now; false: not readable
bool shadow_read_tally(const Shadow *s, uint64_t offset, uint64_t n, ShadowTally *t);

#endif
