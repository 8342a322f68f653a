// store: the SQLite database of a run file, opened so that a damaged or hostile file does no harm. Every reader opens run files
// through it (src/run/open.c); nothing in the file is trusted, and statements end at a deadline.
#ifndef WG_STORE_H
#define WG_STORE_H

#ifdef WARPGRIND_SQLITE_EXTENSION           // loaded by a program with an SQLite of its own
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include "base/base.h"

typedef struct Store {
  sqlite3 *db;
  char *path;
  uint64_t deadline;                       // clock_ns at which statements are interrupted; UINT64_MAX: never
} Store;

// --- open.c ---
typedef enum { STORE_READ, STORE_WRITE } StoreMode;
Store *store_open(const char *path, StoreMode mode, Error *err);         // NULL: err says why
void store_close(Store *s);                // NULL is fine
void store_set_deadline(Store *s, uint64_t seconds);                     // from now on; 0: none
const char *store_message(sqlite3 *db);    // why the last call failed, for a user

#endif
