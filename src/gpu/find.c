#define _GNU_SOURCE

#include "gpu/find.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define SONAME "libcuda.so.1"

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
static const char *const system_folders[] = {"/lib/x86_64-linux-gnu",
                                             "/usr/lib/x86_64-linux-gnu",
                                             "/lib64",
                                             "/usr/lib64",
                                             "/lib",
                                             "/usr/lib",
                                             "/usr/lib/wsl/lib"};
#else
enum { OWN_MACHINE = EM_AARCH64 };
static const char *const system_folders[] = {"/lib/aarch64-linux-gnu",
                                             "/usr/lib/aarch64-linux-gnu",
                                             "/lib64",
                                             "/usr/lib64",
                                             "/lib",
                                             "/usr/lib"};
#endif

// Names of exported functions stand near the start of a library; this one only we export.
static bool is_usable(const char *path) {
  enum { LOOK_AT = 256 << 10 };
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char *head = mem_alloc(LOOK_AT);
  ssize_t n = read(fd, head, LOOK_AT);
  close(fd);
  const Elf64_Ehdr *eh = (const Elf64_Ehdr *)head;
  bool usable = n >= (ssize_t)sizeof *eh && !memcmp(eh->e_ident, ELFMAG, SELFMAG) &&
                eh->e_ident[EI_CLASS] == ELFCLASS64 && eh->e_machine == OWN_MACHINE &&
                !memmem(head, (size_t)n, "warpgrind_runtime_13", sizeof "warpgrind_runtime_13");
  free(head);
  return usable;
}

static bool take(const char *candidate, Str *path) {
  char real[PATH_MAX];
  if (!is_usable(candidate) || !realpath(candidate, real)) return false;
  str_add(path, real);
  return true;
}

static bool in_folder(const char *folder, size_t n, Str *path) {
  Str file = {0};
  str_printf(&file, "%.*s/" SONAME, (int)(n ? n : 1), n ? folder : ".");
  bool found = take(file.data, path);
  str_free(&file);
  return found;
}

static bool in_search_path(const char *folders, Str *path) {
  while (folders && *folders) {
    size_t n = strcspn(folders, ":;");
    if (in_folder(folders, n, path)) return true;
    folders += n + (folders[n] != 0);
  }
  return false;
}

// The cache's layout: a header of 48 bytes, then entries; names are counted from the start of the
// header. An older table may stand before it.
typedef struct CacheHeader {
  char magic[20];
  uint32_t count, strings;
  uint32_t rest[5];
} CacheHeader;
typedef struct CacheEntry {
  int32_t flags;
  uint32_t name, file, os;
  uint64_t capabilities;
} CacheEntry;
_Static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24,
               "as the dynamic linker writes them");

static bool in_cache(Str *path) {
  static const char magic[] = "glibc-ld.so.cache1.1";
  Str text = {0};
  bool found = false;
  const char *start = file_read("/etc/ld.so.cache", &text, NULL)
                          ? memmem(text.data, text.len, magic, sizeof magic - 1)
                          : NULL;
  size_t size = start ? text.len - (size_t)(start - text.data) : 0;
  CacheHeader header;
  if (size >= sizeof header) {
    memcpy(&header, start, sizeof header);
    size_t count = MIN(header.count, (size - sizeof header) / sizeof(CacheEntry));
    for (size_t i = 0; i < count && !found; i++) {
      CacheEntry e;
      memcpy(&e, start + sizeof header + i * sizeof e, sizeof e);
      found = e.name < size && e.file < size && !strcmp(start + e.name, SONAME) &&
              take(start + e.file, path);
    }
  }
  str_free(&text);
  return found;
}

bool gpu_find_driver(Str *path, Error *err) {
  const char *named = getenv(GPU_DRIVER_VARIABLE);
  if (named && *named) {
    char real[PATH_MAX];
    if (!realpath(named, real))
      return error_set(err, GPU_DRIVER_VARIABLE "=%s: %s.", named, strerror(errno));
    str_add(path, real);
    return true;
  }
  const char *before = getenv("WARPGRIND_SAVED_LD_LIBRARY_PATH");
  if (in_search_path(before ? before : getenv("LD_LIBRARY_PATH"), path) || in_cache(path))
    return true;
  for (size_t i = 0; i < ARRAY_LEN(system_folders); i++)
    if (in_folder(system_folders[i], strlen(system_folders[i]), path)) return true;
  return error_set(err,
                   "no NVIDIA driver library (" SONAME
                   ") was found in LD_LIBRARY_PATH, the dynamic linker's cache and the system's "
                   "library folders. " GPU_DRIVER_VARIABLE "=FILE names one that lies elsewhere.");
}
