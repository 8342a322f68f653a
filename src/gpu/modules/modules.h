// The module path of GPU mode: from the image a program loads to the code that runs. Shared by the
// files of gpu/ that make it.
//
// - code.c: what the image holds: the PTX we would use, a hash of it, or why there is none
// - split.c: the PTX cut into pieces that can be compiled alone
// - options.c: options for the compiler: the program's JIT options and the ptxas options kept in a
//   fatbin
// - cache.c: files that save work in the next run
// - emit.c: parses, contracts, instruments and prints PTX
// - compile.c: the driver compiles and loads it
// - piece.c: decides for a piece, once: our code or the original
// - fit.c: whether a kernel with checks in it can still do what the original could
// - function.c: handles of kernels, and what runs in their place
// - module.c, library.c, attributes.c, link.c: the wrappers
#ifndef WG_GPU_MODULES_H
#define WG_GPU_MODULES_H

#include "gpu/gpu.h"
#include "image/image.h"

// --- cache_hash.c: 128 bits; continue with the last result as seed ---
typedef struct GpuHash {
  uint64_t low, high;
} GpuHash;
GpuHash gpu_hash(const void *data, size_t n, GpuHash seed);
GpuHash gpu_hash_text(const char *text, GpuHash seed);  // with its end

// --- split.c ---
typedef struct GpuSplit GpuSplit;
GpuSplit *gpu_split(const char *text, size_t len);  // the text must outlive it; never fails
void gpu_split_free(GpuSplit *s);
// the line of the text that is not understood, so that it has no pieces; 0: none
uint32_t gpu_split_failed(const GpuSplit *s);
uint32_t gpu_split_count(const GpuSplit *s);
// Iterates over all kernels, and the variables that must exist once (piece UINT32_MAX: no kernel of
// this text uses it); *it starts at 0.
bool gpu_split_next(const GpuSplit *s, uint32_t *it, const char **name, bool *is_kernel,
                    uint32_t *piece);
void gpu_split_text(GpuSplit *s, uint32_t piece, Str *out);  // not for two threads at a time

// --- options.c ---
typedef struct GpuJit {
  CUjit_option names[40];
  void *values[40];
  unsigned n;
  char *log;          // the compiler's errors, LOG_SIZE bytes; lives as long as what was loaded
  bool has_symbols;   // addresses of this process: nothing to keep on disk
  bool contract_off;  // the compiler would fuse nothing: -O0, --fmad=false
  bool needs_fatbin;  // some ptxas options have no JIT option: the PTX goes into a fatbin with them
  void *copies;       // the program's symbol tables
} GpuJit;
// what the program passed
void gpu_jit_keep(GpuJit *out, unsigned n, const CUjit_option *names, void *const *values);
void gpu_jit_add_ptxas(GpuJit *jit, const char *options);  // the entry's options
void gpu_jit_add_log(GpuJit *jit);
GpuHash gpu_jit_hash(const GpuJit *jit, GpuHash seed);
void gpu_jit_free(GpuJit *jit);

// --- code.c ---
typedef struct GpuCode {
  Arena arena;
  ImageEntry *units;
  uint32_t nunits;            // PTX; several: one program, linked by symbol
  GpuHash hash;               // of the units as they are stored
  const char *name, *what;    // "saxpy.cu", "fatbin, compute_90"
  const char *note;           // the PTX is older than the machine code …; or NULL
  const char *reason, *cure;  // why there are no units
  bool relocatable;           // made to be linked, also if it is only one
  ImageEntry *machine;        // the machine code that the driver takes, where a tool reads it
  uint32_t nmachine;
  bool as_is;  // the image was compiled from PTX that we re-emitted, and no tool runs
} GpuCode;
// Never fails: without usable PTX, reason is set. path: of the file it came from, or NULL.
void gpu_code_open(GpuCode *c, const void *image, size_t size, const char *path, unsigned sm);
void gpu_code_close(GpuCode *c);
bool gpu_code_text(const GpuCode *c, uint32_t unit, Arena *a, const char **text, size_t *len,
                   Error *err);

// --- stamp.c: machine code made by the ptxas in front of Triton's and JAX's; false: it was not ---
bool gpu_stamped_code(const Image *image, GpuCode *c);

// --- cache.c ---
// kind: a short word that is part of the file's name. Errors are only said with -v.
bool gpu_cache_get(GpuHash key, const char *kind, Str *out);
void gpu_cache_put(GpuHash key, const char *kind, const void *data, size_t n);
void gpu_cache_drop(GpuHash key, const char *kind);
GpuHash gpu_cache_seed(void);  // Warpgrind's version and build, driver version, tools

// --- refused.c: what the compiler does not take ---
typedef struct GpuRefused {
  Arena arena;
  VEC(const char *) kernels;  // with checks in them
  VEC(const char *) reasons;
} GpuRefused;
const char *gpu_refused_reason(const GpuRefused *r, const char *kernel);  // NULL: it was not
// Takes the log of a compiler apart. true: it names kernels that it had not refused before.
bool gpu_refused_add(GpuRefused *r, const char *log, const char *const *kernels, uint32_t nkernels);
void gpu_refused_free(GpuRefused *r);
// A function that uses more registers than a kernel that calls it may have: the function's unit
// gets the kernel's limit. true: some unit has a lower limit than before. registers: by unit, the
// probes' last.
bool gpu_limit_callees(const char *log, PtxModule *const *units, uint32_t n,
                       const char *probe_prefix, unsigned *registers);

// --- compile.c ---
// one of the two handles
typedef struct GpuLoaded {
  CUmodule module;
  CUlibrary library;
  GpuJit jit;
} GpuLoaded;
// key: what they were made from; else their content. log: what the compiler said when it refused
// them
typedef struct GpuTexts {
  VEC(Str) units;           // after those of the program: the probes, where they are a unit
  VEC(unsigned) registers;  // by unit: most that its functions may use; 0, or no entry: any
  bool has_key;
  GpuHash key;
  Str *log;  // NULL: not wanted
} GpuTexts;
// From the PTX of a piece to the PTX that runs. *out is only filled when tools run. refused:
// kernels that stay without checks
typedef struct GpuEmitted {
  Woven woven;
  Interrupts interrupts;  // of kernels that call interrupts
} GpuEmitted;
typedef struct GpuSource {
  const char *const *texts;  // of the n units
  const size_t *lens;
  uint32_t n;
  const GpuCode *code;
  const GpuJit *jit;
  unsigned sm;
} GpuSource;
bool gpu_emit(const GpuSource *source, const GpuRefused *refused, PtxModule **units,
              GpuEmitted *emitted, Error *err);
void gpu_emit_print(PtxModule *const *units, uint32_t n, GpuTexts *out);
void gpu_texts_free(GpuTexts *t);
typedef struct GpuLoad {
  const GpuJit *jit;  // copied
  bool as_library;
  const char *name;  // of a kernel, for the progress line
  Str *log;          // the compiler's message if it refuses; NULL: not wanted
} GpuLoad;
// Compiles and loads.
bool gpu_load_texts(const GpuTexts *t, const GpuCode *code, const GpuLoad *how, GpuLoaded *out,
                    Error *err);
bool gpu_load_blob(const void *blob, const GpuLoad *how, GpuLoaded *out, Error *err);
// the image for the driver: text or fatbin
void gpu_pack_text(const Str *text, const GpuCode *code, const GpuJit *jit, Str *out);
void gpu_unload(GpuLoaded *l);
// sets err and returns false; log: what the compiler wrote, or NULL
bool gpu_driver_error(Error *err, CUresult result, const char *log);
void gpu_watch_begin(const char *name);  // says so when it takes long
void gpu_watch_end(void);

// --- probe_unit.c: the probes of a program that is linked are a unit of their own ---
// registers: by unit, n + 1 of them, as far as limits are known before the compiler is asked
void gpu_probe_unit_limits(PtxModule *const *units, uint32_t n, unsigned *registers);
void gpu_probe_unit_print(PtxModule *const *units, uint32_t n, const char *probe_prefix,
                          const unsigned *registers, GpuTexts *out);

// --- shared.c: what several loads of one image have in common ---
typedef struct GpuShared GpuShared;
GpuShared *gpu_shared(const GpuCode *code, GpuHash key);
SessionModule *gpu_shared_session(const GpuShared *s);
bool gpu_shared_tell(GpuShared *s, uint32_t piece, Woven *result);  // takes the result over

// --- piece.c ---
// our PTX of a piece, not compiled yet
typedef struct GpuMade {
  Arena arena;
  Str text;
  PtxModule **units;
  uint32_t n;
  Woven result;
  Interrupts interrupts;
  double ms;
} GpuMade;
typedef struct GpuPiece {
  pthread_mutex_t lock;
  GpuMade *made;              // made before it was known to be needed; NULL: it was not
  _Atomic int state;          // PIECE_…; set once
  GpuLoaded loaded;           // PIECE_OURS
  const char *reason, *cure;  // PIECE_ORIGINAL
  uint32_t index;
  const char **kernels;
  uint32_t nkernels;
  const char **vars;
  uint32_t nvars;
  Interrupts interrupts;  // PIECE_OURS: of its kernels that call interrupts
  bool unchanged;         // PIECE_ORIGINAL: since tools have put nothing into its kernels
} GpuPiece;
enum { PIECE_UNDECIDED, PIECE_ORIGINAL, PIECE_OURS };

struct GpuModule {
  CUmodule module;    // what the program holds: this …
  CUlibrary library;  // … or this
  CUcontext context;  // of a CUmodule
  unsigned sm;
  GpuCode code;
  GpuJit jit;  // the program's options
  GpuShared *shared;
  SessionModule *session;
  pthread_mutex_t lock;  // for what follows
  bool indexed;
  StrMap piece_of;  // kernels and variables: GpuPiece
  GpuPiece *pieces;
  uint32_t npieces;
  Arena text_arena;
  GpuSplit *split;  // made when first needed
  VEC(struct FunctionRecord *) functions;
  VEC(CUmodule) context_modules;  // of a library: handles from cuLibraryGetModule
  VEC(uint64_t) variables;        // told to the session
};
// The program's arguments: an image and n options of the compiler. size 0: the image says it
// itself; path: NULL if it comes from no file
typedef struct GpuImage {
  const void *image;
  size_t size;
  const char *path;
  unsigned n;
  const CUjit_option *options;
  void *const *values;
} GpuImage;
GpuModule *gpu_module_new(bool is_library, const GpuImage *image);
void gpu_module_delete(GpuModule *m);  // the program unloads it: our code goes too
GpuPiece *gpu_piece_of(GpuModule *m, const char *name);  // kernel or variable; NULL: not in our PTX
int gpu_piece_decide(GpuModule *m, GpuPiece *p, const char *name);
// The kernel's launch record and facts, before the piece is compiled: not all launches need our
// code. NULL: the piece is decided already, or this cannot be known.
const WovenKernel *gpu_piece_look(GpuModule *m, GpuPiece *p, SessionKernel *k);
unsigned gpu_device_sm(void);  // of the current context, else of the first device

// --- fit.c ---
// before compiling: limits registers to as many as the original has
void gpu_fit_registers(GpuModule *m, GpuPiece *p, const GpuMade *made);
// true: all kernels of the piece fit. Else err says why not, and *try_again whether registers were
// limited in the units.
unsigned gpu_fit_floor(void);
bool gpu_may_wait(PtxModule *const *units, uint32_t n);  // blocks of this code for other blocks
bool gpu_fit(GpuModule *m, GpuPiece *p, const GpuMade *made, bool *try_again, Error *err);

// --- variables.c: the session hears of variables as of other memory ---
// its code is loaded; the context is current
void gpu_variables_tell(GpuModule *m, const GpuPiece *p);
// Reports a variable of the original whose address the program has got: it may pass it to kernels.
void gpu_variable_asked(GpuModule *m, CUdeviceptr base, size_t size, const char *name);
void gpu_variables_gone(GpuModule *m);

// --- module.c ---
GpuModule *gpu_library_find(CUlibrary handle);
void gpu_module_register(GpuModule *m);
void gpu_module_alias(GpuModule *m, CUmodule handle);  // a library's module in one context
void gpu_module_collect(GpuModule *m);                 // before it is unloaded
void gpu_module_gone(GpuModule *m);                    // after
// decides the variable's piece; NULL: the program gets the original's variable. m may be NULL
const GpuPiece *gpu_piece_with(GpuModule *m, const char *name);

// --- function.c ---
typedef struct FunctionSetting {
  enum { SET_ATTRIBUTE, SET_CACHE, SET_SHARED } kind;
  int attribute, value;
  bool of_kernel;
  CUdevice device;
} FunctionSetting;
typedef struct FunctionRecord {
  GpuFunction base;
  CUcontext context;  // of a CUfunction
  CUfunction also;    // of a CUkernel: our code's CUfunction in the context it was first used in
  VEC(FunctionSetting) settings;  // what the program set, for the target
} FunctionRecord;
// the program got it; decides if modules load eagerly
void gpu_function_found(GpuModule *m, CUfunction handle, bool is_kernel, const char *name);
GpuFunction *gpu_function_register(GpuModule *m, CUfunction handle, bool is_kernel,
                                   const char *name);
void gpu_functions_forget(GpuModule *m, CUcontext ctx);  // ctx NULL: all
// remembers it and applies it to the target
void gpu_function_set(GpuFunction *f, FunctionSetting s);
// Applies everything that the program has set to another function with the same code.
void gpu_function_apply_all(GpuFunction *f, CUfunction copy);

// --- context switching for our own calls ---
typedef struct GpuPushed {
  bool pushed;
} GpuPushed;
GpuPushed gpu_push_context(CUcontext ctx);  // does nothing if it is NULL or current already
void gpu_pop_context(GpuPushed p);

// --- link.c ---
// Finds the PTX from which the program's cuLink* calls made this machine code; false: not known.
// size 0: not known.
bool gpu_linked_code(const void *cubin, size_t size, GpuCode *out);
#endif
