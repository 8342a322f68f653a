// initcheck inside the program: shadow memory, which says for each byte of device memory whether it
// was written. One byte of shadow stands for 4 bytes of memory (abi.h), and lies in
// memory of the same device.
#ifndef WG_INITCHECK_HOST_H
#define WG_INITCHECK_HOST_H

#include "session/internal.h"
#include "tools/initcheck/abi.h"
#include "tools/initcheck/kernel.h"
#include "tools/tool.h"

typedef enum { SHADOW_NEVER, SHADOW_GOOD } ShadowState;

enum { SHADOW_PIECES = 8 };
// The shadow of one allocation. `whole`: copies, sets and unchecked kernels have written every
// byte, and no checked kernel that may store bad values there has been launched since. It is only a
// shortcut: the shadow itself is always right.
typedef struct Shadow {
  uint64_t base, size;
  uint64_t address;  // of the shadow; 0: the whole allocation counts as initialised
  SessionMemoryKind kind;
  SessionDevice *device;        // NULL: has no shadow
  struct SharedShadow *shared;  // the shadow belongs to physical memory
  bool whole, graph_writes;     // graph_writes: a kernel in a graph may write to it at any time
  bool touched;                 // something was written there, or may have been
  uint64_t bad_at;              // offset of a bad byte, from the last scan of the shadow
  uint32_t npieces;
  // ranges that copies and sets have initialised since
  struct {
    uint64_t from, to;
  } pieces[SHADOW_PIECES];
} Shadow;

// initcheck's data for a context.
typedef struct InitDevice {
  uint64_t heap;                           // WgInitHeap that is freed with the device; 0: none
  struct AllInitialised *all_initialised;  // host_all_initialised.c; NULL: none
} InitDevice;

// --- host_shadow.c: the table of shadows. Hold its lock, for reading unless stated otherwise ---
void shadow_lock(void);
void shadow_lock_to_change(void);
void shadow_unlock(void);
Shadow *shadow_find(uint64_t address);  // of the allocation that contains the byte, or NULL
Shadow *shadow_next(const Shadow *s);   // by address; NULL: the first. NULL: none
// The length of the run of bytes from the address on, n at most, that have the same *out (NULL:
// they are in no allocation).
uint64_t shadow_run(uint64_t address, uint64_t n, Shadow **out);
// these bytes, counted from its start, are initialised now
void shadow_covered(Shadow *s, uint64_t from, uint64_t to);
void shadow_kernel_writes(Shadow *s, bool in_graph);
// Without the lock:
void shadow_memory_event(const SessionMemoryEvent *e);
void shadow_unchecked_writes(SessionDevice *d, const void *stream);
void shadow_graphs_use(void);  // launches that were captured hold addresses of shadows
void shadow_forget_device(SessionDevice *d);
bool shadow_release_memory(ToolDevice *d);
void shadow_annotated(SessionAnnotation what, uint64_t address, uint64_t n);
bool shadow_is_initialised(uint64_t address, uint64_t n);

// --- host_heap.c: memory from malloc in device code ---
bool shadow_has_heap(void);
void shadow_heap_lose(void);  // from now on heap memory is not followed
// All heap memory counts as initialised, in stream order. d NULL: of all devices. Hold the lock of
// the table.
void shadow_heap_forget(SessionDevice *d, const void *stream);
void shadow_heap_make(SessionDevice *d);  // once for each device
void shadow_heap_closing(ToolDevice *d);

// --- host_shadow_bits.c: shadow bytes, in stream order ---
size_t shadow_bytes(uint64_t size);  // bytes of shadow for `size` bytes of memory
void shadow_set(const Shadow *s, const void *stream, uint64_t offset, uint64_t n,
                ShadowState state);
void shadow_move(const Shadow *to, uint64_t to_offset, const Shadow *from, uint64_t from_offset,
                 uint64_t n, const void *stream);
// offset of the first word with a bad byte among the first n bytes; n: there is none
uint64_t shadow_first_bad(const uint8_t *bits, uint64_t n);
// numbers of bytes, and the offsets of the first ones
typedef struct ShadowTally {
  uint64_t derived, never, first_derived, first_never;
} ShadowTally;
// bits: the shadow from the allocation's first byte on
void shadow_tally(const uint8_t *bits, uint64_t offset, uint64_t n, ShadowTally *t);
// reads the device's memory; false: it cannot be read
bool shadow_read_tally(const Shadow *s, uint64_t offset, uint64_t n, ShadowTally *t);

// --- host_library_calls.c ---
void init_library_begins(const LibraryCall *c, const Operand *o, uint32_t n);
// --- host_copies.c ---
void shadow_copy_runs(SessionDevice *d, const SessionCopy *c);

// --- host_launch.c ---
const InitKernel *init_kernel(const WovenKernel *code);
bool init_follows(SessionKernel *k);  // stores of its launches are marked in the shadow
bool init_sees_graph_writes(SessionKernel *k);
bool init_launch(ToolDevice *d, ToolLaunch *l);
void init_before_table(ToolDevice *d, SessionKernel *k, const SessionLaunch *shape);
void init_facts(ToolDevice *d, ToolLaunch *l);
void init_launch_begins(SessionDevice *d, const void *stream, SessionRun *r);
void init_launch_ends(SessionDevice *d, const void *stream, SessionRun *r);

// --- host_closed.c: kernels that are machine code only ---
const char *init_refuses_closed(SessionKernel *k, const SassStores *stores);
void init_closed_begins(ToolDevice *d, const SessionClosedLaunch *l);
void init_closed_ends(ToolDevice *d, const SessionClosedLaunch *l);

// --- host_all_initialised.c: a kernel that scans the shadow before a launch, on a GPU ---
void all_initialised_open(ToolDevice *d);
void all_initialised_close(ToolDevice *d);
void all_initialised_ask(ToolDevice *d, const void *stream, SessionRun *r);

#endif
