// vgpu: the virtual GPU. Executes PTX on the CPU, 32 lanes at a time, blocks in parallel over all
// cores.
//
// Device memory is ordinary memory of this process inside one reserved address window; a device
// address is a host address. There is one engine per process; "devices" are the driver's notion.
// All functions are thread-safe.
#ifndef WG_VGPU_H
#define WG_VGPU_H

#include "base/api_words.h"
#include "ptx/ptx.h"

typedef enum { VGPU_JIT_AUTO, VGPU_JIT_OFF, VGPU_JIT_ALWAYS } VgpuJit;  // as --jit says
typedef struct VgpuConfig {
  VgpuJit jit;
  int workers;  // 0: one per core
  bool seeded;  // --seed given: shuffle warp and block order
  uint64_t seed;
  uint64_t hang_ns;  // a launch that makes no progress for so long hangs; 0: never
  bool (*is_allocated)(uint64_t address);  // the program has memory there; NULL: nowhere
} VgpuConfig;
void vgpu_configure(const VgpuConfig *c);  // before the first launch; the engine starts lazily

// --- memory.c ---
#define VGPU_WINDOW_BYTES (1ull << 42)  // reserved, not committed
// committed on first touch, reads as zero; NULL: no memory
void *vgpu_mem_alloc(size_t size, size_t align);
// pages go back; later access by a kernel is an illegal address
void vgpu_mem_free(void *p, size_t size);
void *vgpu_program_alloc(size_t size, size_t align);  // the same for what the program asks for
void vgpu_program_free(void *p, size_t size);
// the same for memory of tools, which the program's code must not touch
void *vgpu_tool_alloc(size_t size, size_t align);
void vgpu_tool_free(void *p, size_t size);
// true: kernels may not touch it. It shares a page with memory of the program, or a tool has it.
bool vgpu_is_nobodys(uint64_t address);
// address range in the window without memory (PROT_NONE)
void *vgpu_vm_reserve(size_t size, size_t align);
// at this address; false: it is taken, or outside the window
bool vgpu_vm_reserve_at(void *p, size_t size);
void vgpu_vm_release(void *p, size_t size);  // callers mmap(MAP_FIXED) into what they reserved
bool vgpu_in_window(const void *p);
void vgpu_host_register(void *p, size_t size);  // ordinary host memory a kernel may touch
void vgpu_host_unregister(void *p);
// memory that kernels may touch: the window, registered host memory
bool vgpu_kernel_reaches(uint64_t address, uint64_t bytes);

// --- module.c: one or several PTX modules linked by symbol. The VgpuModule owns the PtxModules
// from then on. ---
typedef struct VgpuModule VgpuModule;
typedef struct VgpuKernel VgpuKernel;
// NULL: unresolved or duplicate symbols …
VgpuModule *vgpu_module_load(PtxModule **units, uint32_t nunits, Error *err);
void vgpu_module_unload(VgpuModule *m);                           // no launch of it may be running
VgpuKernel *vgpu_module_kernel(VgpuModule *m, const char *name);  // NULL: no such entry
VgpuKernel *vgpu_module_kernel_at(VgpuModule *m, uint32_t i);     // i-th entry, NULL past the end
typedef struct VgpuGlobal {
  const char *name;
  void *address;
  size_t size;
  bool managed, is_const;
} VgpuGlobal;
bool vgpu_module_global(VgpuModule *m, const char *name, VgpuGlobal *out);
bool vgpu_module_global_at(VgpuModule *m, uint32_t i, VgpuGlobal *out);
// The same code loaded again (for another context): its managed variables are the first one's.
// Before its first launch.
void vgpu_module_share_managed(VgpuModule *m, VgpuModule *first);

typedef struct VgpuParam {
  uint32_t offset, size;
} VgpuParam;
typedef struct VgpuKernelInfo {
  const char *name;
  const VgpuParam *params;
  uint32_t nparams, param_bytes;
  // registers: an estimate
  uint32_t static_shared, local_bytes, const_bytes, registers, max_threads;
  uint32_t sm, ptx_version;            // 90, 90 (9.0)
  uint32_t reqntid[3], reqcluster[3];  // 0: not required
  bool cluster_required;
} VgpuKernelInfo;
const VgpuKernelInfo *vgpu_kernel_info(const VgpuKernel *k);

// --- engine.c: launches ---
typedef enum VgpuStatus {
  VGPU_OK,
  VGPU_ILLEGAL_ADDRESS,
  VGPU_MISALIGNED,
  VGPU_ILLEGAL_INSTRUCTION,
  VGPU_TRAP,
  VGPU_ASSERT,
  VGPU_UNSUPPORTED,
  VGPU_STACK_OVERFLOW,
  VGPU_INVALID_PC,
  VGPU_INVALID_LAUNCH,
  VGPU_DEADLOCK,
  VGPU_CANCELLED
} VgpuStatus;
typedef struct VgpuFault {  // what ended a launch
  VgpuStatus status;
  char text[1024];      // a sentence: what happened, instruction, kernel, file and line
  uint32_t what_bytes;  // of text: what happened, without the place; 0: it has no place
  char place[256];      // "a.cu:12", or the function and line of PTX
  uint32_t block[3], thread[3];
  uint64_t address;
  unsigned classes;  // PtxClass bits of the instruction
  // the place, where the code has a line table; live with the module
  const PtxModule *module;
  const PtxLoc *loc;
  // the module's text when there is no source line for the place; lives with the module
  const char *ptx;
  size_t ptx_bytes;
} VgpuFault;

// --- watch.c: where the threads of a launch stand that makes no progress ---
typedef enum {
  VGPU_RUNS,
  VGPU_WAITS_BARRIER,
  VGPU_WAITS_WARP,
  VGPU_WAITS_MEMORY,
  VGPU_WAITS_CLUSTER
} VgpuWait;
typedef struct VgpuStanding {  // lanes of one warp that stand together
  uint32_t block[3], warp, lanes;
  uint32_t thread[3];  // the first of them
  uint32_t gone;       // lanes of the warp that have ended
  const PtxModule *module;
  const PtxFunc *func;
  const PtxInstr *at;  // the instruction; in a loop the one that stands for it
  bool in_loop;
  uint64_t turns;  // about how often it has turned since anything else was seen
  VgpuWait wait;
  // BARRIER: which, how many threads it waits for, how many have come
  uint32_t barrier, expected, arrived;
  uint32_t needed;  // WARP: lanes that must come
  uint64_t address;
  bool shared;     // MEMORY: what it reads again and again; 0: not known
  bool unchanged;  // its registers are the same after thousands of turns
  bool circles;    // its loop has come back to a state it was in
  bool fixed;      // … and no way out of the loop depends on anything it changes
  // registers: `index` moves by `step`, which holds 0; NULL: no such pair
  const char *index, *step;
} VgpuStanding;
typedef struct VgpuHang {
  const VgpuStanding *list;
  uint32_t n;
  uint64_t ns;  // without progress
  uint64_t blocks_ended, blocks_begun, blocks;
  // asked: by vgpu_where, and the launch may be fine. deadlock: the launch has ended because of it
  bool asked, deadlock;
} VgpuHang;
bool vgpu_where(unsigned wait_ms);  // asks all launches; false: none runs

typedef struct VgpuLaunch {
  VgpuKernel *kernel;
  uint32_t grid[3], block[3], cluster[3];  // cluster 0,0,0: none
  uint32_t dynamic_shared;
  const void *params;  // kernel's param_bytes bytes, copied
  bool cooperative;
  ApiId api;             // whose words a fault's text has
  uint32_t stack_limit;  // bytes of local memory per thread; 0: default
  uint32_t depth;        // of a kernel that a kernel launched; 0: the host did
  // where device printf text goes; called with a lock held, in the order printed
  void (*print)(void *user, const char *text, size_t n);
  void *user;
  // true: the launch is to be ended. May be NULL
  bool (*hang)(void *hang_user, const VgpuHang *h);
  void *hang_user;
} VgpuLaunch;
// blocks until the grid has ended; many at a time is fine
VgpuStatus vgpu_launch(const VgpuLaunch *l, VgpuFault *fault);
void vgpu_cancel_all(void);  // Ctrl-C and exit: running launches end soon with VGPU_CANCELLED
// per multiprocessor
uint32_t vgpu_max_resident_blocks(const VgpuKernel *k, uint32_t threads, uint32_t dynamic_shared);
#define VGPU_MULTIPROCESSORS \
  132  // as the H200; occupancy, cooperative limits and properties agree with it

// --- native.c: functions of probes that are executed in C. name: how a function's name ends;
// address: which argument is a generic address ---
// facts about that address and the block
typedef struct VgpuNativeLane {
  bool is_shared, is_global;
  uint64_t shared;
  uint32_t shared_bytes;
} VgpuNativeLane;
typedef uint64_t VgpuNative(const uint64_t *args, const VgpuNativeLane *lane);
// before the first module is loaded
void vgpu_native_add(const char *name, VgpuNative *fn, unsigned nargs, unsigned address);

// The same for a whole warp at once. The first `common` arguments are the same in all lanes; only
// [0] of each is given.
enum { VGPU_NATIVE_ARGS = 16 };
typedef void VgpuWarpNative(uint32_t lanes, const uint64_t (*args)[32]);
void vgpu_native_add_warp(const char *name, VgpuWarpNative *fn, unsigned common, unsigned nargs);

// --- heap.c: device malloc/free, shared by all launches ---
void vgpu_heap_set_limit(size_t bytes);  // cudaLimitMallocHeapSize; before the first device malloc
size_t vgpu_heap_limit(void);

// --- texture.c: what a texture or surface handle means ---
typedef enum {
  TEXEL_U8,
  TEXEL_U16,
  TEXEL_U32,
  TEXEL_S8,
  TEXEL_S16,
  TEXEL_S32,
  TEXEL_F16,
  TEXEL_F32
} VgpuTexel;
typedef struct VgpuArray {        // cudaArray: row-major, no tiling
  uint32_t width, height, depth;  // texels; height 0: 1D; depth 0: not 3D
  uint32_t layers;
  bool cubemap;  // layers>0: layered; cubemap: layers counts faces (6 each)
  VgpuTexel texel;
  uint32_t channels;  // 1, 2, 4
  void *data;
  size_t row_bytes, slice_bytes;
} VgpuArray;
typedef enum { TEX_WRAP, TEX_CLAMP, TEX_MIRROR, TEX_BORDER } VgpuAddressMode;
typedef struct VgpuTexture {
  enum { TEX_ARRAY, TEX_LINEAR, TEX_PITCH2D, TEX_MIPMAP } source;
  VgpuArray array;  // TEX_LINEAR: width texels at data; TEX_PITCH2D: width, height, row_bytes
  const VgpuArray *levels;
  uint32_t nlevels;  // TEX_MIPMAP
  VgpuAddressMode address[3];
  // normalized_float: integers read as [0,1]
  bool linear_filter, linear_mip_filter, normalized_coords, normalized_float, srgb;
  float border[4], mip_bias, mip_min, mip_max;
  bool is_surface;
} VgpuTexture;
uint64_t vgpu_texture_create(const VgpuTexture *t);  // a handle, never 0; the description is copied
const VgpuTexture *vgpu_texture_get(uint64_t handle);  // NULL: no such
void vgpu_texture_destroy(uint64_t handle);

#endif
