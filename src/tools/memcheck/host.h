// memcheck inside the program: what its host*.c files share.
#ifndef WG_MEMCHECK_HOST_H
#define WG_MEMCHECK_HOST_H

#include "session/internal.h"
#include "tools/memcheck/abi.h"
#include "tools/tool.h"

typedef struct MemcheckOptions {
  bool leaks, leaks_by_place;  // --leak-check
  bool has_quarantine;         // --quarantine is given
  uint64_t quarantine;         // its bytes
} MemcheckOptions;

// memcheck's data for a context.
typedef struct MemcheckDevice {
  uint64_t heap_memory;  // device memory that the WgHeap is in; 0: none
  uint32_t heap;         // WgLaunch.heap; 0: none yet
  bool heap_failed;      // there was no memory for it
} MemcheckDevice;

// --- host.c ---
const MemcheckOptions *memcheck_options(void);

// --- host_natives.c ---
void memcheck_add_natives(void);

// --- host_copies.c ---
void copies_asked(const SessionCopy *c);
void copies_refused(const SessionCopy *c);
// --- host_library_calls.c ---
void library_call_asked(LibraryCall *c, SessionDevice *on);
void library_call_found(const LibraryCall *c, const Operand *o, uint32_t n);
void library_call_wrong(const LibraryCall *c, const char *why);
void library_call_refused(const char *call, const char *why);

// --- host_pageable_copies.c ---
// to, from: this side of the copy is pageable host memory
void pageable_copy(const SessionCopy *c, bool to, bool from);
// The thread goes on without having waited.
void pageable_next_copy(void);
void pageable_launch(const SessionLaunch *l);
void pageable_synchronised(const void *stream, bool all);

// --- host_pitches.c: distances of rows, by allocation ---
void pitches_add(uint64_t base, uint64_t pitch);
void pitches_allocated(uint64_t base, uint64_t size, const char *name);
uint64_t pitches_find(uint64_t base);  // 0: it has none

// --- host_refused_launches.c ---
void refused_launch(const SessionRefusal *r);

// --- host_tensors.c ---
void tensors_launch(const SessionCall *c);

// --- host_textures.c ---
void textures_asked(const char *call, const struct CUDA_RESOURCE_DESC *d);

// --- host_unchecked_errors.c ---
void unchecked_error_raised(const char *text);
void unchecked_errors_seen(void);
void unchecked_errors_report(void);

// --- host_leaks.c ---
void leaks_report(void);

// --- host_quarantine.c ---
void quarantine_open(int device, uint64_t device_memory);
bool quarantine_hold(const SessionHeld *h, SessionRelease *release);
bool quarantine_release(int device, const void *owner, SessionRelease *release);
bool quarantine_holds(int device, uint64_t base);
uint64_t quarantine_bytes(int device);

// --- host_destroyed_handles.c ---
void destroyed_handle(const char *what, const void *handle);
void destroyed_created(const void *handle);
bool destroyed_used(const char *what, const void *handle);

// --- host_invalid_frees.c ---
void invalid_free(const char *call, uint64_t pointer, unsigned kinds);
bool invalid_second_free(const char *call, uint64_t pointer, unsigned kinds);
void invalid_free_handle_created(const void *handle);
void invalid_free_handle_gone(const void *handle);
void invalid_free_handle(const char *call, const void *handle);

// --- host_heap.c: malloc and free in device code ---
void heap_facts(ToolDevice *d, ToolLaunch *l);
void heap_close(ToolDevice *d, bool alive);

#endif
