// The cache on disk: results that a later run of the same program can use. One file for each, named
// by a 128-bit hash of all that went into it; written beside its place and moved there, so that a
// reader never sees half of one. A cache that cannot be used costs time, never correctness: that is
// said with -v, once.
//
//   file_cache_folder() says where
//   $WARPGRIND_CACHE_LIMIT   in MiB, 1024 by default; the files used longest ago go first
#define _GNU_SOURCE
#include "gpu/modules/modules.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct Header {
  char magic[8];
  uint64_t size;
  GpuHash hash;
} Header;
static const char magic[8] = "WGCACHE1";
enum { TOUCH_AFTER = 3600 };  // a file's time is renewed at most once an hour

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char folder[3072];  // "": no cache
static uint64_t limit;

static void set_up(void) {
  const char *mib = getenv("WARPGRIND_CACHE_LIMIT");
  Str path = {0};
  limit = (mib && *mib ? strtoull(mib, NULL, 10) : 1024) << 20;
  if (limit && file_cache_folder(&path) && path.len < sizeof folder)
    memcpy(folder, path.data, path.len + 1);
  str_free(&path);
}

static bool is_off(void) {
  pthread_once(&once, set_up);
  return !folder[0];
}

static void complain(const char *what, const char *path, const char *why) {
  static _Atomic bool said;
  if (!atomic_exchange(&said, true))
    log_verbose("the cache is not used: cannot %s %s: %s", what, path, why);
}

static void file_path(GpuHash key, const char *kind, char *path, size_t size) {
  snprintf(path, size, "%s/%02x/%016llx%016llx.%s", folder, (unsigned)(key.high >> 56),
           (unsigned long long)key.high, (unsigned long long)key.low, kind);
}

static bool write_all(int fd, const void *from, size_t n) {
  for (const char *p = from; n;) {
    ssize_t put = write(fd, p, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    p += put;
    n -= (size_t)put;
  }
  return true;
}

bool gpu_cache_get(GpuHash key, const char *kind, Str *out) {
  if (is_off()) return false;
  char path[4096];
  file_path(key, kind, path, sizeof path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno != ENOENT && errno != ENOTDIR) complain("read", path, strerror(errno));
    return false;
  }
  Header h;
  struct stat st;
  bool ok = !fstat(fd, &st) && file_read_all(fd, &h, sizeof h) &&
            !memcmp(h.magic, magic, sizeof magic) && (uint64_t)st.st_size == sizeof h + h.size;
  if (ok) {
    out->len = 0;
    char *data = mem_alloc(h.size + 1);
    ok = file_read_all(fd, data, h.size);
    GpuHash hash = gpu_hash(data, h.size, (GpuHash){0, 0});
    ok = ok && hash.low == h.hash.low && hash.high == h.hash.high;
    if (ok) {
      str_free(out);
      *out = (Str){data, h.size, h.size + 1};
      if (time(NULL) - st.st_mtime > TOUCH_AFTER) futimens(fd, NULL);
    } else {
      free(data);
    }
  }
  close(fd);
  if (!ok) unlink(path);  // damaged: it is made again
  return ok;
}

void gpu_cache_drop(GpuHash key, const char *kind) {
  if (is_off()) return;
  char path[4096];
  file_path(key, kind, path, sizeof path);
  unlink(path);
}

// --- keeping the size ---

typedef struct CacheFile {
  char *path;
  uint64_t size;
  int64_t when;
} CacheFile;

static int by_age(const void *a, const void *b) {
  const CacheFile *x = a, *y = b;
  return x->when < y->when ? -1 : x->when > y->when;
}

static void trim(void) {
  VEC(CacheFile) files = {0};
  uint64_t total = 0;
  for (unsigned i = 0; i < 256; i++) {
    char sub[3200];
    snprintf(sub, sizeof sub, "%s/%02x", folder, i);
    DIR *d = opendir(sub);
    if (!d) continue;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
      struct stat st;
      if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
          !S_ISREG(st.st_mode))
        continue;
      Str path = {0};
      str_printf(&path, "%s/%s", sub, e->d_name);
      total += (uint64_t)st.st_blocks * 512;
      vec_push(&files, (CacheFile){path.data, (uint64_t)st.st_blocks * 512, st.st_mtime});
    }
    closedir(d);
  }
  if (total > limit) {
    qsort(files.data, files.len, sizeof *files.data, by_age);
    for (uint32_t i = 0; i < files.len && total > limit / 10 * 9; i++)
      if (!unlink(files.data[i].path)) total -= MIN(total, files.data[i].size);
  }
  for (uint32_t i = 0; i < files.len; i++) free(files.data[i].path);
  vec_free(&files);
}

// At the first file of a process, and again after each sixteenth of the limit.
static void trim_sometimes(size_t written) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static uint64_t since = UINT64_MAX;
  pthread_mutex_lock(&lock);
  if (since != UINT64_MAX) since += written;
  if (since > limit / 16) {
    since = 0;
    trim();
  }
  pthread_mutex_unlock(&lock);
}

void gpu_cache_put(GpuHash key, const char *kind, const void *data, size_t n) {
  static _Atomic unsigned serial;
  if (is_off() || n > limit / 4) return;
  char path[4096], temporary[4096 + 64];
  file_path(key, kind, path, sizeof path);
  if (!file_make_folders(path, (size_t)(strrchr(path, '/') - path))) {
    complain("make a folder for", path, strerror(errno));
    return;
  }
  snprintf(temporary, sizeof temporary, "%s/.new.%ld.%u", folder, (long)getpid(),
           atomic_fetch_add(&serial, 1));
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    complain("write", temporary, strerror(errno));
    return;
  }
  Header h = {.size = n, .hash = gpu_hash(data, n, (GpuHash){0, 0})};
  memcpy(h.magic, magic, sizeof magic);
  bool ok = write_all(fd, &h, sizeof h) && write_all(fd, data, n);
  int why = errno;
  if (close(fd) && ok) {
    ok = false;
    why = errno;
  }
  if (ok && rename(temporary, path)) {
    ok = false;
    why = errno;
  }
  if (!ok) {
    unlink(temporary);
    complain("write", path, strerror(why));
    return;
  }
  trim_sometimes(n);
}

// --- what every key begins with ---

static GpuHash hash_file_of(void *address, GpuHash seed) {
  Dl_info info;
  struct stat st;
  if (!address || !dladdr(address, &info) || !info.dli_fname || stat(info.dli_fname, &st))
    return seed;
  int64_t facts[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
  return gpu_hash(facts, sizeof facts, seed);
}

static GpuHash seed;
static void make_seed(void) {
  int driver = 0;
  if (gpu_real.cuDriverGetVersion) gpu_real.cuDriverGetVersion(&driver);
  seed = gpu_hash_text("warpgrind " WARPGRIND_VERSION, (GpuHash){0, 0});
  // another build of Warpgrind, another driver of the same version
  seed = hash_file_of((void *)make_seed, seed);
  seed = hash_file_of((void *)gpu_real.cuInit, seed);
  const WeavePlan *plan = session_plan();
  // Everything of the plan that code depends on.
  uint32_t facts[] = {(uint32_t)driver, session_tools(), gpu_fit_floor(), plan->find_writes};
  seed = gpu_hash(facts, sizeof facts, seed);
  seed = gpu_hash(plan->tool_options, sizeof plan->tool_options, seed);
}

GpuHash gpu_cache_seed(void) {
  static pthread_once_t seed_once = PTHREAD_ONCE_INIT;
  pthread_once(&seed_once, make_seed);
  return seed;
}
