// Virtual tables over a recording: shared by the files that make them.
#ifndef WG_TRACE_VTAB_H
#define WG_TRACE_VTAB_H

#include "trace/reader.h"

// Of one connection. store: the extension's own connection, whose pages are compared with their
// checksums; NULL: db is such a one. The recording is opened when it is first asked for; while
// no query runs, no statement stays open, so that the connection can be closed.
typedef struct Connection {
  sqlite3 *db;
  Store *store;
  TraceReader *reader;
  sqlite3_stmt *place;
  uint32_t cursors, users;
  uint32_t place_of;
  char *file;
  int64_t line;
} Connection;
typedef struct Table {
  sqlite3_vtab base;
  Connection *connection;
  int kind;
} Table;

bool vtab_open(Table *t);  // false: the table's message says why
void vtab_close(Table *t);
int vtab_fail(Table *t, const Error *err);
int vtab_connect(sqlite3 *db, void *aux, const char *columns, int kind, sqlite3_vtab **out,
                 char **message);
int vtab_disconnect(sqlite3_vtab *v);
extern const char *const trace_kind_names[];
void vtab_place(Connection *c, uint32_t site);  // fills file and line
void vtab_hex(sqlite3_context *ctx, const uint8_t *value, uint32_t bytes);
void vtab_number(sqlite3_context *ctx, const uint8_t *value, uint32_t bytes, bool real);

extern const sqlite3_module vtab_access, vtab_thread, vtab_list;
#endif
