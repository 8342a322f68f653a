// store: the SQLite database of a run file, opened so that a damaged or hostile file does no harm.
// Every reader opens run files through it (src/run/open.c); nothing in the file is trusted, and
// statements end at a deadline.
#ifndef WG_STORE_H
#define WG_STORE_H

#ifdef WARPGRIND_SQLITE_EXTENSION  // loaded by a program with an SQLite of its own
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include "base/base.h"

typedef struct Store {
  sqlite3 *db;
  char *path;
  uint64_t deadline;   // clock_ns at which statements are interrupted; UINT64_MAX: never
  uint64_t wal_bytes;  // of the -wal beside it when it was opened
  bool wal_is_cut;     // the last transaction of the -wal is not complete
  bool lacks_wal;      // the file was not finished, and its -wal is not there
} Store;

// --- open.c ---
typedef enum { STORE_READ, STORE_WRITE } StoreMode;
Store *store_open(const char *path, StoreMode mode, Error *err);  // NULL: err says why
void store_close(Store *s);                                       // NULL is fine
void store_set_deadline(Store *s, uint64_t seconds);              // from now on; 0: none
const char *store_message(sqlite3 *db);  // why the last call failed, for a user
// false: a damaged page was read since it was opened
bool store_is_whole(const Store *s, Error *err);
// false: the -wal is damaged. No process may be writing to it
bool store_wal_is_whole(Store *s, Error *err);

// --- create.c ---
// an empty database whose pages will have checksums, for its owner only (0600)
sqlite3 *store_create(const char *path, Error *err);
// gives every page the checksum of what it holds: for tests that change files
bool store_seal(const char *path, Error *err);

// --- page.c ---
enum { STORE_HEADER = 100 };
bool store_is_run_file(const uint8_t header[STORE_HEADER]);  // the first bytes of a file

#endif
