// image: code that a CUDA program passes to the driver: fatbins, cubins, PTX text, and the host
// files that contain them.
//
// An image is only listed, never copied: entries point into the caller's memory, which must outlive
// the Image. Every read is checked against the image's end. Where the driver API gives a pointer
// and no size, the end comes from the image's own headers, and is then limited to memory that is
// mapped. docs/image.md describes the layouts.
#ifndef WG_IMAGE_H
#define WG_IMAGE_H

#include "base/base.h"

typedef enum ImageKind {
  IMAGE_UNKNOWN,
  IMAGE_PTX,     // text that starts with .version
  IMAGE_CUBIN,   // ELF for the GPU
  IMAGE_FATBIN,  // one or more PTX, cubin, LTO entries
  // what __cudaRegisterFatBinary and cuLibraryLoadData get: pointers, only valid in a process
  IMAGE_FATBIN_WRAPPER,
  IMAGE_HOST_ELF,  // executable, shared library or object file with fatbins in its sections
  IMAGE_ARCHIVE,   // static library of such object files
} ImageKind;

typedef enum ImageEntryKind {
  IMAGE_ENTRY_PTX,
  IMAGE_ENTRY_ELF,
  IMAGE_ENTRY_LTO,
  IMAGE_ENTRY_OTHER
} ImageEntryKind;
typedef enum ImagePacking { IMAGE_RAW, IMAGE_LZ4, IMAGE_ZSTD, IMAGE_PACKED_UNKNOWN } ImagePacking;

typedef struct ImageEntry {
  ImageEntryKind kind;
  unsigned kind_number;   // as stored: 1 PTX, 2 ELF, 8 LTO-IR
  unsigned object;        // index into Image.objects: the fatbin it is in
  unsigned arch;          // 90 for sm_90 / compute_90; 0 where the image does not say
  char suffix;            // 'a' or 'f' target, else 0
  unsigned major, minor;  // PTX: the ISA version; others: as stored
  uint64_t flags;         // as stored
  bool is_64bit, debug;   // debug: compiled with -G
  // PTX: ptxas options that are not in the text, such as " -maxrregcount=32 "; never NULL
  const char *options;
  const char *source;  // name of the source file where it is stored; never NULL
  ImagePacking packing;
  const void *raw;  // as stored, without padding
  size_t raw_size;
  size_t size;  // unpacked
  // PTX kept as debug text inside a cubin (raw is that cubin): the code, but no source lines
  bool recovered;
} ImageEntry;

typedef struct ImageObject {
  const char *name;    // of an archive member, or ""
  const void *fatbin;  // where it is, or NULL for plain PTX and cubins
  size_t offset;       // of the fatbin in a host file, else 0
  // compiled with -rdc=true: the PTX of all relocatable objects is one program, linked by symbol
  bool relocatable;
  bool linked;       // what the linker made of the relocatable objects: machine code only
  uint32_t entries;  // how many
} ImageObject;

typedef struct Image {
  ImageKind kind;
  const void *data;
  size_t size;
  VEC(ImageEntry) entries;
  VEC(ImageObject) objects;
  Arena arena;
} Image;

// --- open.c ---
// of an image without a size; looks no further than it has to
ImageKind image_identify(const void *data);
const char *image_kind_name(ImageKind kind);  // "fatbin", "PTX text", ...
// size 0: not known. On failure nothing has to be closed.
bool image_open(const void *data, size_t size, Image *out, Error *e);
void image_close(Image *image);

// --- unpack.c ---
// The entry's bytes, unpacked (LTO-IR: as stored); for a raw entry its own memory, else arena
// memory.
bool image_entry_data(const ImageEntry *entry, Arena *arena, const void **data, size_t *size,
                      Error *e);
// The PTX text, NUL-terminated, *len without it. Fails unless the entry is PTX.
bool image_entry_text(const ImageEntry *entry, Arena *arena, const char **ptx, size_t *len,
                      Error *e);

// --- choose.c ---
enum {
  IMAGE_ANY_ARCH = 1,      // virtual device: if nothing fits, take the PTX that is nearest
  IMAGE_PREFER_PLAIN = 2,  // virtual device: compute_90 before compute_90a
  // where there is no PTX entry, recover it from a cubin built with -lineinfo or -G
  IMAGE_USE_DEBUG_PTX = 4,
};
typedef VEC(ImageEntry) ImageEntryList;
// The PTX to load for a device of compute capability sm (90 for 9.0): one entry per object that has
// code. Several are an -rdc program and must be linked. If there is none, the error says which code
// exists and which nvcc flag to add.
bool image_choose_ptx(const Image *image, unsigned sm, int flags, ImageEntryList *out, Error *e);
bool image_entry_fits(const ImageEntry *entry, unsigned sm);
// "compute_90a" for PTX and LTO, "sm_90a" for cubins
const char *image_entry_target(const ImageEntry *entry, char text[24]);

// --- cubin.c ---
typedef struct CubinParam {
  uint32_t ordinal, offset, size;
} CubinParam;
typedef struct CubinKernel {
  const char *name;
  uint64_t code_size;
  uint32_t regs, max_regs;          // used; allowed (255: no limit)
  uint32_t frame_size, stack_size;  // local memory per thread
  uint32_t shared_size;             // static, without what the system reserves
  uint32_t param_size;
  uint32_t max_threads[3];       // __launch_bounds__, 0 if not given
  uint32_t required_threads[3];  // .reqntid, 0 if not given
  uint32_t cluster[3];           // 0 if not given
  CubinParam *params;            // by ordinal
  uint32_t n_params;
} CubinKernel;

typedef enum CubinSpace { CUBIN_GLOBAL, CUBIN_CONSTANT, CUBIN_OTHER_SPACE } CubinSpace;
typedef struct CubinVariable {
  const char *name;
  CubinSpace space;
  uint64_t size;
  bool managed, initialised;
} CubinVariable;
// .nv.constantN[.kernel]
typedef struct CubinBank {
  const char *name;
  unsigned bank;
  uint64_t size;
} CubinBank;

typedef struct Cubin {
  unsigned arch;
  char suffix;
  unsigned abi_version;
  const char *built_by;       // "ptxas, Cuda compilation tools, release 13.0, V13.0.88", or ""
  const char *build_options;  // "-arch sm_90 -m 64 ", or ""
  bool relocatable;
  bool has_source_lines;  // .debug_line
  bool has_ptx_lines;     // .nv_debug_line_sass: machine code to PTX lines
  bool has_debug_info;    // .debug_info
  const char *ptx;        // .nv_debug_ptx_txt made into text again, or NULL
  size_t ptx_len;
  CubinKernel *kernels;
  uint32_t n_kernels;
  CubinVariable *variables;
  uint32_t n_variables;
  CubinBank *banks;
  uint32_t n_banks;
  const char **externs;  // functions it calls that are elsewhere: vprintf, malloc, ...
  uint32_t n_externs;
} Cubin;
bool image_read_cubin(Arena *arena, const void *data, size_t size, Cubin *out, Error *e);

// --- cubin_code.c ---
typedef struct CubinCode {  // the machine code of one kernel
  const void *code;
  size_t bytes;
  unsigned arch;                     // 90
  uint32_t param_base, param_bytes;  // where its parameters are in constant bank 0
} CubinCode;
bool image_cubin_code(const void *cubin, size_t size, const char *kernel, CubinCode *out);

// --- print.c: `warpgrind image FILE` ---
bool image_print_file(const char *path, FILE *out, Error *e);
void image_print(const Image *image, FILE *out);

#endif
