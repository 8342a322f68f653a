// What device code and host share: the launch record a kernel is given and the channel it reports
// through. Included by the device-side C of this folder and by the host; fixed sizes, no pointers.
#ifndef WG_PROBE_ABI_H
#define WG_PROBE_ABI_H

#include <stdint.h>

// The last parameter of every instrumented kernel, by value: it lies in the constant bank, so
// reading it costs no memory access and it needs no memory of its own. A tool's own per-launch
// facts follow it in the same parameter.
typedef struct WgLaunch {
  uint64_t channel;  // device address of the context's WgReports; 0: there is none
  // device address of the module's counters in this context (uint64_t each); 0: none
  uint64_t counters;
  uint32_t launch;     // number of the launch in its process, from 1
  uint32_t site_base;  // what to add to a site number of the module to get the process-wide one
  uint32_t flags;
  uint32_t heap;    // device address of a WgHeap, in units of 1 << WG_HEAP_SHIFT bytes; 0: none
  uint64_t memory;  // device address of a WgMemoryTable; 0: none
  // initcheck: shadow of the shared memory of blocks 0 to shared_blocks - 1; 0: none
  uint64_t shared_shadow;
  uint32_t shared_stride, shared_blocks;  // shadow bytes of one block
  // initcheck: the same table, for what it follows; 0: it follows nothing in this launch
  uint64_t init_memory;
  uint64_t race;  // racecheck: device address of what it keeps for this launch; 0: none
  // synccheck and the watchdog: device address of where warps say what they wait for; 0: nowhere
  uint64_t progress;
  uint64_t trace;  // recording: device address of a WgTrace; 0: this launch is not recorded
  uint64_t fp;     // fpcheck: device address of a WgFpMemory (tools/fpcheck/abi.h); 0: none
} WgLaunch;        // 96 bytes

// initcheck's shadow: one byte for each 4 bytes of memory. Bit i: byte i was written, with
// something that is initialised. Bit 4 + i: it was written, with something computed from memory
// that was not. Neither: never written.
enum { WG_SHADOW_GOOD = 0x0f, WG_SHADOW_DERIVED = 0xf0 };
enum { WG_INIT_MARK_GOOD, WG_INIT_MARK_UNWRITTEN, WG_INIT_MARK_ASK };  // wg_init_said
// WgFinding.value[0] of UNINIT_USE: what depends on it; address: where it was
enum { WG_INIT_BRANCH, WG_INIT_ADDRESS, WG_INIT_WARP, WG_INIT_OTHER };
// read, extra[0]: at which site (0xffffffff: not known), and from bit 32 on which malloc
// of device code made that memory (its site plus 1; 0: none, or not known)

enum { WG_NULL_PAGE = 65536 };  // addresses below it were computed from a null pointer

// Every allocation of the context at the time of the launch, by address; freed ones too until their
// memory is used again. A table is never changed: when something was allocated or freed since, the
// next launch is given a new one.
enum { WG_ACCESS_READ, WG_ACCESS_WRITE, WG_ACCESS_ATOMIC };
// An access in one word, as the exact test of memcheck is told: WG_ACCESS_… | WG_WHERE_… <<
// WG_WHAT_SPACE | log2 of its alignment << WG_WHAT_ALIGN.
enum { WG_WHERE_GLOBAL, WG_WHERE_GENERIC, WG_WHERE_SHARED, WG_WHERE_OTHER };
// CLUSTERS: a shared address may be another block's. OBJECT: its base may be 0
enum { WG_WHAT_SPACE = 2, WG_WHAT_CLUSTERS = 1 << 5, WG_WHAT_OBJECT = 1 << 6, WG_WHAT_ALIGN = 8 };
// Several accesses at once: tools/memcheck/weave_region.c. bytes 0: it is not made.
// HEAP: the device's heap counts. RANGE: base and size become the range it is in, as wg_memory_base
// and wg_memory_last say
enum { WG_REGION_MOST = 16, WG_WHAT_HEAP = 1 << 12, WG_WHAT_RANGE = 1 << 13 };
typedef struct WgRegionEntry {
  uint64_t address, base, size;
  uint32_t what, bytes, site, unused;
} WgRegionEntry;
// bytes below a block's shared memory that devices since compute capability 8.0 keep for themselves
enum { WG_SHARED_RESERVED = 1024 };
enum { WG_MEMORY_LIVE = 1, WG_MEMORY_FREED = 2 };
// shadow 0: all of it counts as initialised. race: racecheck's entries; 0: none
typedef struct WgMemoryRange {
  uint64_t base, size;
  uint32_t state, is_variable;
  uint64_t shadow, race;
} WgMemoryRange;
// WgMemoryRange[count] follow, then WgImage[images]. heap: device address of a WgInitHeap; 0: none
typedef struct WgMemoryTable {
  uint32_t count, images;
  uint64_t heap;
} WgMemoryTable;
// A texture over linear memory, whose width is in elements, or a surface, whose width is in bytes;
// by key. slices: or layers. bytes: of one element
typedef struct WgImage {
  uint64_t key, base;
  uint32_t width, height, slices, bytes;
} WgImage;
#define WG_IMAGE_KEY(handle, is_surface) ((uint64_t)(handle) << 1 | (is_surface))
// the extent of a surface in one word: shifts, and what is too large for it
enum {
  WG_IMAGE_HEIGHT = 24,
  WG_IMAGE_SLICES = 44,
  WG_IMAGE_WIDEST = 1 << 24,
  WG_IMAGE_MOST = 1 << 20
};

// What device malloc and free do, kept by device code; see tools/memcheck/probe_heap.c. Zero when
// it is new. BEHIND: bytes by which blocks are made longer
enum { WG_HEAP_PAGES = 8192, WG_HEAP_SHIFT = 21, WG_HEAP_BEHIND = 16 };
typedef struct WgHeap {
  uint64_t keys[WG_HEAP_PAGES];
  uint8_t states[WG_HEAP_PAGES][256];
} WgHeap;
// The same memory as initcheck knows it; see tools/initcheck/probe_heap.c. The host makes it:
// nothing is known of any page (base 0), and all of each is good. sites: of the malloc that 16
// bytes came from, plus 1.
enum { WG_INIT_HEAP_PAGE = 4096, WG_INIT_HEAP_GRANULE = 16 };
typedef struct WgInitHeap {
  WgMemoryRange pages[WG_HEAP_PAGES];
  uint32_t sites[WG_HEAP_PAGES][WG_INIT_HEAP_PAGE / WG_INIT_HEAP_GRANULE];
  uint8_t shadow[WG_HEAP_PAGES][WG_INIT_HEAP_PAGE / 4];
} WgInitHeap;
// WgLaunch.flags, for the host: it may write to the heap through a parameter, where that is not
// marked
enum { WG_LAUNCH_HEAP_UNSEEN = 1 << 11 };

// A place may have findings of several kinds; each is counted and described by itself. The number
// in a finding and among the counts is the site's plus WG_SITE_NUMBERS for each kind that has a
// plane of its own.
enum { WG_SITE_NUMBERS = 1 << 18, WG_SITE_PLANES = 3 };
enum {
  WG_CHANNEL_MAGIC = 0x57474348,
  WG_CHANNEL_SLOTS = 4096,
  WG_CHANNEL_SITES = WG_SITE_NUMBERS * WG_SITE_PLANES
};

// Where code finds what it needs to report; in the device's own memory where that is another than
// the host's. Every finding of a site grows its count there, which costs an atomic operation of the
// device; one on host memory takes a microsecond if many want the same word.
typedef struct WgReports {
  uint64_t channel;  // device address of the WgChannel
  // … of uint64_t[sites]: how often each site has reported, and WG_COUNT_DESCRIBED
  uint64_t counts;
  uint64_t fp_memory;  // … of a WgFpMemory (tools/fpcheck/abi.h); 0: none
  // … of WgSpread, for counts of which nobody waits for the sum; 0: none. Aligned to 16 together
  // with fp_memory: both are loaded at once
  uint64_t spread;
  // … of those in the channel, which grow along in steps (wg_far_count) and are made equal at the
  // end; 0: they are the same
  uint64_t far_counts;
  uint32_t sites, reserved;
} WgReports;

// Who counts adds to one of these words, others to others (by multiprocessor, or by what is stored
// to): where every warp of a launch counts at one place, its word would have to be changed once for
// each of them, one after the other. What a site has counted is the sum of all and of its word in
// counts.
enum { WG_SPREAD = 64, WG_SPREAD_SITES = 1 << 15 };  // sites behind these are counted in counts
typedef struct WgSpread {
  uint64_t counts[WG_SPREAD][WG_SPREAD_SITES];
} WgSpread;

// What the channel says of a count of n: it in full up to 127, then without all but its 7 leading
// bits. It never falls, so that the sum of its steps is right whatever the order they arrive in,
// and there are 64 of them while n doubles.
#define WG_COUNT_DESCRIBED \
  (1ull << 63)  // in counts: the first finding of the site is on its way in full
static inline uint64_t wg_far_count(uint64_t n) {
  return n < 128 ? n : n & ~((1ull << (57 - __builtin_clzll(n))) - 1);
}

// Findings on their way from the device to the `warpgrind` command. Lies in shared memory that
// belongs to the command and is registered with the driver in the program: what was written
// survives a trap, a crash and SIGKILL. One for each context: atomic operations of a device on host
// memory are atomic among that device's threads only.
typedef struct WgChannel {
  uint32_t magic, slots, sites;
  // findings that found no free slot within a second; they are in the counts all the same
  uint32_t lost;
  uint64_t slots_at;   // bytes from here to WgFinding[slots], used as a ring
  uint64_t counts_at;  // bytes from here to uint64_t[sites]: how often each site reported, exactly
  WgReports reports;   // for devices that share the host's memory; they do not spread counts
  uint32_t counts_exact;  // 0: the device has better ones
  // fpcheck: places that have ever stored an exception, more or less: 0 if none has
  uint32_t fp_stores;
  uint8_t pad0[40];
  uint32_t head;  // slots handed out; the device's atomics
  uint8_t pad1[124];
  uint32_t tail;  // slots read; written by the command only
  uint8_t pad2[124];
} WgChannel;  // 384 bytes

// The first finding of a site goes through the ring in full; later ones of the same site only
// count.
typedef struct WgFinding {
  uint32_t sequence;  // number of the slot since the start, plus 1; written last
  uint32_t kind;      // of a kinds.def
  uint32_t site, launch;
  uint32_t block[3], thread[3];
  uint32_t lanes;  // the lanes of the warp that had it
  uint32_t size;   // bytes accessed
  uint64_t address;
  // meaning depends on the kind. Bad accesses: value[0] and extra[0] are start and size of the
  // object the address
  uint64_t value[4];
  // was computed from; size 0: not known
  uint64_t extra[3];
} WgFinding;  // 112 bytes

#endif
