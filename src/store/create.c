// Creates a run file, or gives the pages of a changed one new checksums.
#define _GNU_SOURCE
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

sqlite3 *store_create(const char *path, Error *err) {
  sqlite3 *db = NULL;
  int reserved = PAGE_RESERVED, fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    error_set(err, "%s", strerror(errno));
    return NULL;
  }
  close(fd);
  if (page_vfs_register() &&
      sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, PAGE_VFS) ==
          SQLITE_OK &&
      sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved) == SQLITE_OK)
    return db;
  error_set(err, "%s", db ? sqlite3_errmsg(db) : "SQLite cannot be used");
  sqlite3_close(db);
  return NULL;
}

bool store_seal(const char *path, Error *err) {
  uint8_t header[PAGE_HEADER];
  PageFormat format;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  bool ok = fd >= 0 && pread(fd, header, sizeof header, 0) == (ssize_t)sizeof header &&
            page_format(header, &format);
  if (!ok) error_set(err, "%s is no database.", path);
  uint8_t *page = ok ? mem_alloc(format.bytes) : NULL;
  ssize_t n = (ssize_t)(ok ? format.bytes : 0);
  for (uint64_t i = 0;
       ok && format.checked && pread(fd, page, (size_t)n, (off_t)(i * format.bytes)) == n; i++) {
    page_seal(page, format.bytes, i + 1);
    ok = pwrite(fd, page, (size_t)n, (off_t)(i * format.bytes)) == n ||
         error_set(err, "%s: %s.", path, strerror(errno));
  }
  free(page);
  if (fd >= 0) close(fd);
  return ok;
}
