// Virtual tables over a recording: shared by the files that make them.
#ifndef WG_TRACE_VTAB_H
#define WG_TRACE_VTAB_H

#include "trace/reader.h"

// The object that contains an address: an allocation, or a variable in shared or local memory.
typedef struct VtabBuffer {
  uint64_t record;  // of the operation; 0: none yet
  uint32_t lane, allocation;
  char *name;  // NULL: not known
  uint64_t offset;
} VtabBuffer;
// Of one connection. store: the extension's own connection, whose pages are compared with their
// checksums; NULL: db is such a one. The recording is opened when it is first asked for; while no
// query runs, no statement stays open, so that the connection can be closed.
typedef struct Connection {
  sqlite3 *db;
  Store *store;
  TraceReader *reader;
  sqlite3_stmt *place;
  uint32_t cursors, users;
  uint32_t place_of;
  char *file;
  int64_t line;
  sqlite3_stmt *name, *variable;
  VtabBuffer buffer;  // that of the last operation that was asked for
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
const VtabBuffer *vtab_buffer(Connection *c, const TraceOp *o);
// The number of a launch in its process, by its id; 0: none.
uint32_t vtab_launch_number(const TraceReader *t, uint32_t id);
// The launch of this number; NULL: none, or of several processes. process 0: any
const ReaderLaunch *vtab_launch(const TraceReader *t, int64_t number, int64_t process,
                                bool *several);
void vtab_hex(sqlite3_context *ctx, const uint8_t *value, uint32_t bytes);
void vtab_number(sqlite3_context *ctx, const uint8_t *value, uint32_t bytes, bool real);

extern const sqlite3_module vtab_access, vtab_thread, vtab_list;
#endif
