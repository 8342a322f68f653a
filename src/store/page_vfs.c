// A layer between SQLite and the files of the system: pages of the database get their checksum when
// they are written to the file itself, and are compared with it when they are read from there. The
// -wal has SQLite's own checksums (wal_check.c); its pages have zeros in place of ours, so that a
// program without this layer may move them into the file: such pages count as bare, and are
// accepted while the file is not finished.
#include "store/internal.h"

#include <pthread.h>

typedef struct PageFile {
  sqlite3_file base;
  PageFormat format;
  uint64_t damaged;  // the first page, from 1; 0: none
  bool alone;        // no other process can write: locks are not taken
} PageFile;
enum { REAL_AT = (sizeof(PageFile) + 15) & ~15 };  // the system's own file follows

static sqlite3_vfs *system_vfs, page_vfs;

static sqlite3_file *real(sqlite3_file *f) { return (sqlite3_file *)((char *)f + REAL_AT); }

// The damage in the last file of this thread that could not even be opened.
static _Thread_local struct {
  uint64_t page;
  uint32_t bytes;
} last_damage;

static int found_damage(PageFile *p, uint64_t page) {
  last_damage.page = page;
  last_damage.bytes = p->format.bytes;
  if (!p->damaged) p->damaged = page;
  return SQLITE_IOERR_DATA;
}

static int check_page(PageFile *p, uint8_t *page, uint64_t number) {
  PageState state = page_check(page, p->format.bytes, number);
  if (state == PAGE_BAD || (state == PAGE_BARE && !p->format.is_wal))
    return found_damage(p, number);
  page_unseal(page, p->format.bytes);
  return SQLITE_OK;
}

// SQLite may read the first page in parts, before it knows how long pages are: all of it is
// compared then.
static int check_first(PageFile *p, uint8_t *data, int n) {
  uint8_t header[PAGE_HEADER];
  int code = real(&p->base)->pMethods->xRead(real(&p->base), header, PAGE_HEADER, 0);
  if (code != SQLITE_OK || !page_format(header, &p->format)) {
    p->format = (PageFormat){0};
    return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
  }
  if (!p->format.checked) return SQLITE_OK;
  if ((uint32_t)n == p->format.bytes) return check_page(p, data, 1);
  uint8_t *page = mem_alloc(p->format.bytes);
  code = real(&p->base)->pMethods->xRead(real(&p->base), page, (int)p->format.bytes, 0);
  if (code == SQLITE_OK) code = check_page(p, page, 1);
  else if (code == SQLITE_IOERR_SHORT_READ) code = found_damage(p, 1);
  free(page);
  return code;
}

static int page_read(sqlite3_file *f, void *data, int n, sqlite3_int64 at) {
  PageFile *p = (PageFile *)f;
  int code = real(f)->pMethods->xRead(real(f), data, n, at);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
  if (at == 0) {
    int found = check_first(p, data, n);
    return found == SQLITE_OK ? code : found;
  }
  if (!p->format.checked || (uint32_t)n != p->format.bytes || at % n) return code;
  uint64_t number = (uint64_t)(at / n) + 1;
  return code == SQLITE_OK ? check_page(p, data, number) : found_damage(p, number);
}

// Only this layer uses the reserved bytes: it sets them in SQLite's own memory while the page is
// written.
static int page_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
  PageFile *p = (PageFile *)f;
  if (at == 0 && n >= PAGE_HEADER) page_format(data, &p->format);
  bool whole = p->format.checked && (uint32_t)n == p->format.bytes && at % n == 0;
  uint8_t *page = (uint8_t *)(uintptr_t)data;
  if (whole) page_seal(page, p->format.bytes, (uint64_t)(at / n) + 1);
  int code = real(f)->pMethods->xWrite(real(f), data, n, at);
  if (whole) page_unseal(page, p->format.bytes);
  return code;
}

static int page_lock(sqlite3_file *f, int level) {
  return ((PageFile *)f)->alone ? SQLITE_OK : real(f)->pMethods->xLock(real(f), level);
}
static int page_unlock(sqlite3_file *f, int level) {
  return ((PageFile *)f)->alone ? SQLITE_OK : real(f)->pMethods->xUnlock(real(f), level);
}

// --- passed on to the system's file ---
static int page_close(sqlite3_file *f) { return real(f)->pMethods->xClose(real(f)); }
static int page_truncate(sqlite3_file *f, sqlite3_int64 n) {
  return real(f)->pMethods->xTruncate(real(f), n);
}
static int page_sync(sqlite3_file *f, int flags) {
  return real(f)->pMethods->xSync(real(f), flags);
}
static int page_size(sqlite3_file *f, sqlite3_int64 *n) {
  return real(f)->pMethods->xFileSize(real(f), n);
}
static int page_reserved(sqlite3_file *f, int *out) {
  return real(f)->pMethods->xCheckReservedLock(real(f), out);
}
static int page_control(sqlite3_file *f, int op, void *arg) {
  return real(f)->pMethods->xFileControl(real(f), op, arg);
}
static int page_sector(sqlite3_file *f) { return real(f)->pMethods->xSectorSize(real(f)); }
static int page_features(sqlite3_file *f) {
  return real(f)->pMethods->xDeviceCharacteristics(real(f));
}
static int page_shm_map(sqlite3_file *f, int i, int n, int extend, void volatile **out) {
  return real(f)->pMethods->xShmMap(real(f), i, n, extend, out);
}
static int page_shm_lock(sqlite3_file *f, int at, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), at, n, flags);
}
static void page_shm_barrier(sqlite3_file *f) { real(f)->pMethods->xShmBarrier(real(f)); }
static int page_shm_unmap(sqlite3_file *f, int remove) {
  return real(f)->pMethods->xShmUnmap(real(f), remove);
}

// Version 2: without the functions that map the file into memory, where nothing would be checked.
static const sqlite3_io_methods page_methods = {2,
                                                page_close,
                                                page_read,
                                                page_write,
                                                page_truncate,
                                                page_sync,
                                                page_size,
                                                page_lock,
                                                page_unlock,
                                                page_reserved,
                                                page_control,
                                                page_sector,
                                                page_features,
                                                page_shm_map,
                                                page_shm_lock,
                                                page_shm_barrier,
                                                page_shm_unmap,
                                                NULL,
                                                NULL};

static int page_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out) {
  (void)v;
  if (!(flags & SQLITE_OPEN_MAIN_DB)) return system_vfs->xOpen(system_vfs, name, f, flags, out);
  PageFile *p = (PageFile *)f;
  *p = (PageFile){.alone = sqlite3_uri_boolean(name, "alone", 0)};
  int code = system_vfs->xOpen(system_vfs, name, real(f), flags, out);
  if (real(f)->pMethods) p->base.pMethods = &page_methods;
  return code;
}

static void make_vfs(void) {
  system_vfs = sqlite3_vfs_find(NULL);
  if (!system_vfs) return;
  page_vfs = *system_vfs;
  page_vfs.szOsFile = REAL_AT + system_vfs->szOsFile;
  page_vfs.zName = PAGE_VFS;
  page_vfs.pNext = NULL;
  page_vfs.xOpen = page_open;
  if (sqlite3_vfs_register(&page_vfs, 0) != SQLITE_OK) system_vfs = NULL;
}

bool page_vfs_register(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_vfs);
  return system_vfs != NULL;
}

static const PageFile *file_of(sqlite3 *db) {
  sqlite3_file *f = NULL;
  bool ours = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f) == SQLITE_OK && f &&
              f->pMethods == &page_methods;
  return ours ? (const PageFile *)f : NULL;
}

uint64_t page_vfs_damage(sqlite3 *db, uint32_t *bytes) {
  const PageFile *p = file_of(db);
  if (!p && sqlite3_extended_errcode(db) != SQLITE_IOERR_DATA) return 0;
  *bytes = p ? p->format.bytes : last_damage.bytes;
  return p ? p->damaged : last_damage.page;
}

bool page_vfs_is_unfinished(sqlite3 *db) {
  const PageFile *p = file_of(db);
  return p && p->format.is_wal;
}
