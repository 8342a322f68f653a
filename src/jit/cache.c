// Compiled code of earlier runs, one file for each function: the folder jit of Warpgrind's cache,
// which only its owner can read and write. A file is used if the hash in it is right; it is written
// beside its place and moved there. When the files are too many, the oldest go.
//
// Code from here is executed, so the folder must belong to the user and to nobody else.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/jit.h"
#include "jit/protocol.h"

enum { MOST_FILES = 4096, KEPT_FILES = 3072 };
static const uint64_t MOST_BYTES = 256ull << 20, KEPT_BYTES = 192ull << 20;

typedef struct Header {
  char magic[8];
  JitKey key;
  uint64_t bytes, sum_low, sum_high;
} Header;
static const char magic[8] = "WGJIT001";

// Two hashes of 64 bits; the second covers the first hash and the second half of the data. They
// find a damaged or mistaken file, but not a forged one.
static JitKey hash_of(const void *data, size_t n) {
  uint64_t low = base_hash(data, n), parts[3] = {low, n, 0};
  parts[2] = base_hash((const char *)data + n / 2, n - n / 2);
  return (JitKey){low, base_hash(parts, sizeof parts)};
}

JitKey jit_key(const Str *text, const char *maker) {
  JitKey t = hash_of(text->data, text->len), m = hash_of(maker, strlen(maker));
  uint64_t all[4] = {t.low, t.high, m.low, m.high};
  return hash_of(all, sizeof all);
}

// A folder of the user's own that nobody else can enter.
static bool open_folder(Str *path) {
  struct stat st;
  if (!file_cache_folder(path)) return false;
  str_add(path, "/jit");
  file_make_folders(path->data, path->len);
  return !lstat(path->data, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
         !(st.st_mode & 077);
}

static void add_name(Str *path, JitKey key) {
  str_printf(path, "/%016llx%016llx", (unsigned long long)key.high, (unsigned long long)key.low);
}

static bool read_file(int fd, JitKey key, Str *bytes) {
  Header h;
  struct stat st;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) ||
      !file_read_all(fd, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) ||
      h.key.low != key.low || h.key.high != key.high || h.bytes > JIT_MOST_CODE || h.bytes < 5 ||
      (uint64_t)st.st_size != sizeof h + h.bytes)
    return false;
  char *data = mem_alloc(h.bytes + 1);
  bool ok = file_read_all(fd, data, h.bytes);
  JitKey sum = hash_of(data, h.bytes);
  uint32_t entry;
  memcpy(&entry, data, sizeof entry);
  ok = ok && sum.low == h.sum_low && sum.high == h.sum_high && entry < h.bytes - sizeof entry;
  if (ok) str_addn(bytes, data, h.bytes);
  free(data);
  return ok;
}

bool jit_cache_get(JitKey key, Str *bytes) {
  Str path = {0};
  bool ok = false;
  if (open_folder(&path)) {
    add_name(&path, key);
    int fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) {
      ok = read_file(fd, key, bytes);
      if (ok) futimens(fd, NULL);  // used just now
      else unlink(path.data);      // damaged: it is made again
      close(fd);
    }
  }
  str_free(&path);
  return ok;
}

// --- keeping the size ---
typedef struct File {
  char name[40];
  uint64_t bytes;
  struct timespec when;
} File;

static int by_age(const void *a, const void *b) {
  const File *x = a, *y = b;
  if (x->when.tv_sec != y->when.tv_sec) return x->when.tv_sec < y->when.tv_sec ? -1 : 1;
  return x->when.tv_nsec < y->when.tv_nsec ? -1 : x->when.tv_nsec > y->when.tv_nsec;
}

static void trim(const char *folder) {
  DIR *d = opendir(folder);
  VEC(File) files = {0};
  uint64_t bytes = 0;
  struct stat st;
  for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
    if (strlen(e->d_name) >= sizeof files.data->name || e->d_name[0] == '.' ||
        fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
      continue;
    File f = {.bytes = (uint64_t)st.st_size, .when = st.st_mtim};
    snprintf(f.name, sizeof f.name, "%s", e->d_name);
    vec_push(&files, f);
    bytes += f.bytes;
  }
  if (files.len > MOST_FILES || bytes > MOST_BYTES) {
    qsort(files.data, files.len, sizeof *files.data, by_age);
    uint32_t left = files.len;
    for (uint32_t i = 0; i < files.len && (left > KEPT_FILES || bytes > KEPT_BYTES); i++, left--) {
      unlinkat(dirfd(d), files.data[i].name, 0);
      bytes -= files.data[i].bytes;
    }
  }
  if (d) closedir(d);
  vec_free(&files);
}

void jit_cache_put(JitKey key, const Str *bytes) {
  Str path = {0}, new = {0};
  if (!open_folder(&path)) {
    str_free(&path);
    return;
  }
  trim(path.data);
  str_printf(&new, "%s/new.%d.XXXXXX", path.data, (int)getpid());
  add_name(&path, key);
  JitKey sum = hash_of(bytes->data, bytes->len);
  Header h = {.key = key, .bytes = bytes->len, .sum_low = sum.low, .sum_high = sum.high};
  memcpy(h.magic, magic, sizeof magic);
  int fd = mkostemp(new.data, O_CLOEXEC);
  if (fd >= 0) {
    bool ok = !file_write_all(fd, &h, sizeof h) && !file_write_all(fd, bytes->data, bytes->len);
    ok = !close(fd) && ok;
    if (!ok || rename(new.data, path.data)) unlink(new.data);
  }
  str_free(&path);
  str_free(&new);
}
