// Types that device code and host share: the launch record of a kernel and the channel through
// which it reports. Included by the device-side C of this folder and by the host; fixed sizes, no
// pointers.
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
  uint64_t memory;     // device address of a WgMemoryTable; 0: none
  uint32_t flags;
#include "tools/launch_words.def"
} WgLaunch;  // 96 bytes

enum { WG_NULL_PAGE = 65536 };  // addresses below it were computed from a null pointer

// bytes below a block's shared memory that devices since compute capability 8.0 keep for themselves
enum { WG_SHARED_RESERVED = 1024 };

// Every allocation of the context at the time of the launch, by address; freed ones too until their
// memory is used again. A table is never changed: when something was allocated or freed since, the
// next launch is given a new one.
enum { WG_MEMORY_LIVE = 1, WG_MEMORY_FREED = 2 };
typedef struct WgMemoryWords {
#include "tools/memory_words.def"
} WgMemoryWords;
typedef struct WgMemoryRange {
  uint64_t base, size;
  uint32_t state, is_variable;
  WgMemoryWords tools;  // what tools keep for it
} WgMemoryRange;
// WgMemoryRange[count] follow, then WgImage[images]. heap: device address of what a
// tool keeps for the device's heap; 0: none
typedef struct WgMemoryTable {
  uint32_t count, images;
  uint64_t heap;
} WgMemoryTable;
// A texture over linear memory (its width is in elements) or a surface (its width is in bytes);
// sorted by key. slices: or layers. bytes: of one element
typedef struct WgImage {
  uint64_t key, base;
  uint32_t width, height, slices, bytes;
} WgImage;
enum { WG_IMAGE_WIDEST = 1 << 24, WG_IMAGE_MOST = 1 << 20 };  // larger ones are not in the table
#define WG_IMAGE_KEY(handle, is_surface) ((uint64_t)(handle) << 1 | (is_surface))

// A site may have findings of several kinds; each kind is counted and described separately. The
// number of a finding, and of its count, is the site's plus WG_SITE_NUMBERS times the plane of its
// kind.
enum { WG_SITE_NUMBERS = 1 << 18, WG_SITE_PLANES = 3 };
enum {
  WG_CHANNEL_MAGIC = 0x57474348,
  WG_CHANNEL_SLOTS = 4096,
  WG_CHANNEL_SITES = WG_SITE_NUMBERS * WG_SITE_PLANES
};

// How device code reports findings. Lies in the device's own memory, if that is not the host's.
// Every finding of a site adds to its count there, by an atomic operation of the device; one on
// host memory takes a microsecond if many threads want the same word.
typedef struct WgReports {
  uint64_t channel;  // device address of the WgChannel
  // … of uint64_t[sites]: how often each site has reported, and WG_COUNT_DESCRIBED
  uint64_t counts;
  uint64_t tool_memory;  // … of what a tool keeps beside its counts (Tool.reports_open); 0: none
  // … of WgSpread, for counts whose sum is needed only at the end; 0: none. Aligned to 16 together
  // with tool_memory: both are loaded at once
  uint64_t spread;
  // … of the counts in the channel, which follow in steps (wg_far_count) and become equal at the
  // end; 0: they are the same counts
  uint64_t far_counts;
  uint32_t sites, reserved;
  // … of uint32_t[blocks of the launch]: the original numbers of its blocks, in a grid of grid_x by
  // grid_y; 0: they are not renumbered
  uint64_t list;
  uint32_t grid_x, grid_y;
} WgReports;

// Counters in several copies: a thread adds to the copy of its multiprocessor, or of the address it
// stores to. With one word per site all warps of a launch would have to change that word one after
// the other. The count of a site is the sum of all copies and of its word in counts.
enum { WG_SPREAD = 64, WG_SPREAD_SITES = 1 << 15 };  // later sites use only counts
typedef struct WgSpread {
  uint64_t counts[WG_SPREAD][WG_SPREAD_SITES];
} WgSpread;

// The value of a count n in the channel: n itself up to 127, then only its 7 leading bits. It never
// falls, so the sum of its steps is right in whatever order they arrive; there are 64 steps while n
// doubles.
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
  uint32_t counts_exact;  // 0: the device has exact ones
  uint32_t
      tool_count;  // of a tool: its device code adds to it, its half inside the program reads it
  uint8_t pad0[24];
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
  // the meaning depends on the kind. Bad accesses: value[0] and extra[0] are start and size of the
  // object that the address was computed from; size 0: not known
  uint64_t value[4];
  uint64_t extra[3];
} WgFinding;  // 112 bytes

// Bits in the base of a FACT_RANGE: the kernel argument allows no reads, or no writes. No address
// has these bits.
#define WG_NO_READS (1ull << 62)
#define WG_NO_WRITES (1ull << 63)

#endif
