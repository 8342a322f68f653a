// Virtual tables for `warpgrind sql` and, as a loadable extension, for sqlite3: what they have in
// common.
#include "trace/sql/vtab.h"

#ifdef WARPGRIND_SQLITE_EXTENSION
SQLITE_EXTENSION_INIT1
#endif

const char *const trace_kind_names[] = {"load", "store", "atomic", "sync", "value", "copy", "set"};

int vtab_fail(Table *t, const Error *err) {
  sqlite3_free(t->base.zErrMsg);
  t->base.zErrMsg = sqlite3_mprintf("%s", err->text);
  return SQLITE_ERROR;
}

// The program that loads the extension has opened the file without our checks.
static bool open_own(Connection *c, Error *err) {
#ifdef WARPGRIND_SQLITE_EXTENSION
  const char *path = sqlite3_db_filename(c->db, "main");
  if (!c->store && path && *path) {
    c->store = store_open(path, STORE_READ, err);
    if (!c->store) return false;
    store_set_deadline(c->store, 0);
    c->db = c->store->db;
  }
#else
  (void)c;
  (void)err;
#endif
  return true;
}

bool vtab_open(Table *t) {
  Connection *c = t->connection;
  Error err = {{0}};
  if (!c->reader && open_own(c, &err)) c->reader = trace_open(c->db, &err);
  if (c->store && !store_is_whole(c->store, &err)) {
    vtab_fail(t, &err);
    return false;
  }
  if (!c->reader) {
    vtab_fail(t, &err);
    return false;
  }
  c->cursors++;
  return true;
}

static void finalize(Connection *c) {
  sqlite3_stmt **all[] = {&c->place, &c->name, &c->variable};
  for (size_t i = 0; i < ARRAY_LEN(all); i++) {
    sqlite3_finalize(*all[i]);
    *all[i] = NULL;
  }
}

void vtab_close(Table *t) {
  Connection *c = t->connection;
  if (!c->cursors || --c->cursors) return;
  reader_idle(c->reader);
  finalize(c);
}

static void destroy(void *aux) {
  Connection *c = aux;
  if (--c->users) return;
  finalize(c);
  free(c->buffer.name);
  trace_close(c->reader);
  store_close(c->store);
  free(c->file);
  free(c);
}

int vtab_connect(sqlite3 *db, void *aux, const char *columns, int kind, sqlite3_vtab **out,
                 char **message) {
  int code = sqlite3_declare_vtab(db, columns);
  if (code != SQLITE_OK) {
    *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    return code;
  }
  Table *t = mem_alloc(sizeof *t);
  t->connection = aux;
  t->kind = kind;
  *out = &t->base;
  return SQLITE_OK;
}

int vtab_disconnect(sqlite3_vtab *v) {
  free(v);
  return SQLITE_OK;
}

void vtab_place(Connection *c, uint32_t site) {
  if (c->place_of == site && site) return;
  free(c->file);
  c->file = NULL;
  c->line = 0;
  c->place_of = site;
  if (!c->place &&
      sqlite3_prepare_v2(c->db, "SELECT file, line FROM place WHERE site=? AND depth=0", -1,
                         &c->place, NULL) != SQLITE_OK)
    return;
  sqlite3_bind_int64(c->place, 1, site);
  if (sqlite3_step(c->place) == SQLITE_ROW) {
    const char *file = (const char *)sqlite3_column_text(c->place, 0);
    if (file) c->file = mem_strdup(file);
    c->line = sqlite3_column_int64(c->place, 1);
  }
  sqlite3_reset(c->place);
}

uint32_t vtab_launch_number(const TraceReader *t, uint32_t id) {
  const ReaderLaunch *l = reader_launch(t, id);
  return l ? l->number : 0;
}

const ReaderLaunch *vtab_launch(const TraceReader *t, int64_t number, int64_t process,
                                bool *several) {
  const ReaderLaunch *found = NULL;
  for (uint32_t i = 0; i < t->nlaunches; i++) {
    const ReaderLaunch *l = &t->launches[i];
    if (l->number != number || (process && l->process != process)) continue;
    *several = found != NULL;
    if (*several) return NULL;
    found = l;
  }
  return found;
}

// A row of a prepared question; NULL: none.
static sqlite3_stmt *ask(Connection *c, sqlite3_stmt **s, const char *sql, int64_t first,
                         int64_t second) {
  if (!*s && sqlite3_prepare_v2(c->db, sql, -1, s, NULL) != SQLITE_OK) return NULL;
  sqlite3_reset(*s);
  sqlite3_bind_int64(*s, 1, first);
  if (second) sqlite3_bind_int64(*s, 2, second);
  return sqlite3_step(*s) == SQLITE_ROW ? *s : NULL;
}

static char *text_of(sqlite3_stmt *s, int column) {
  const char *text = s ? (const char *)sqlite3_column_text(s, column) : NULL;
  return text ? mem_strdup(text) : NULL;
}

static void find_buffer(Connection *c, const TraceOp *o, VtabBuffer *b) {
  const ReaderLaunch *l = reader_launch(c->reader, o->launch);
  if (!o->has_address || !l) return;
  if (o->space) {
    sqlite3_stmt *s = ask(c, &c->variable,
                          "SELECT v.name, v.address, v.bytes FROM kernel_variable v JOIN launch "
                          "l ON l.kernel = v.kernel JOIN site s ON s.object = v.object WHERE "
                          "l.id = ? AND s.id = ? AND v.address IS NOT NULL",
                          o->launch, o->site);
    // a frame of local memory may have several
    while (s && sqlite3_column_int64(s, 2) &&
           o->address - (uint64_t)sqlite3_column_int64(s, 1) >=
               (uint64_t)sqlite3_column_int64(s, 2))
      if (sqlite3_step(s) != SQLITE_ROW) {
        sqlite3_reset(s);
        s = NULL;
      }
    b->name = text_of(s, 0);
    b->offset = s ? o->address - (uint64_t)sqlite3_column_int64(s, 1) : 0;
    if (s) sqlite3_reset(s);
    return;
  }
  b->allocation = reader_allocation_at(c->reader, l->process, o->address, o->step);
  sqlite3_stmt *s = b->allocation ? ask(c, &c->name,
                                        "SELECT coalesce(name, pointer, 'buf' || id), base FROM "
                                        "allocation WHERE id = ?",
                                        b->allocation, 0)
                                  : NULL;
  b->name = text_of(s, 0);
  b->offset = s ? o->address - (uint64_t)sqlite3_column_int64(s, 1) : 0;
  if (s) sqlite3_reset(s);
}

const VtabBuffer *vtab_buffer(Connection *c, const TraceOp *o) {
  if (c->buffer.record == o->record && c->buffer.lane == o->lane) return &c->buffer;
  free(c->buffer.name);
  c->buffer = (VtabBuffer){.record = o->record, .lane = o->lane};
  find_buffer(c, o, &c->buffer);
  return &c->buffer;
}

// Memory is little-endian; people read the most significant digit first.
void vtab_hex(sqlite3_context *ctx, const uint8_t *value, uint32_t bytes) {
  char text[2 + 32 + 1] = "0x";
  uint32_t n = MIN(bytes, 16u);
  for (uint32_t i = 0; i < n; i++) snprintf(text + 2 + 2 * i, 3, "%02x", value[n - 1 - i]);
  sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

static double half(uint16_t h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  double v = exponent == 0    ? fraction / 16777216.0
             : exponent == 31 ? (fraction ? __builtin_nan("") : __builtin_inf())
                              : __builtin_ldexp(1024 + fraction, exponent - 25);
  return h >> 15 ? -v : v;
}

void vtab_number(sqlite3_context *ctx, const uint8_t *value, uint32_t bytes, bool real) {
  uint64_t bits = 0;
  if (!bytes || bytes > 8) return;
  memcpy(&bits, value, bytes);
  if (!real) {
    unsigned unused = 64 - 8 * bytes;
    sqlite3_result_int64(ctx, (int64_t)(bits << unused) >> unused);
    return;
  }
  float single;
  double v;
  memcpy(&single, value, 4);
  memcpy(&v, &bits, 8);
  if (bytes == 4) v = (double)single;
  else if (bytes == 2) v = half((uint16_t)bits);
  else if (bytes != 8) return;
  if (v != v) sqlite3_result_text(ctx, "nan", -1, SQLITE_STATIC);  // a NaN would become NULL
  else sqlite3_result_double(ctx, v);
}

const char *const trace_virtual_tables[] = {"access", "thread",    "writer",  "reader",
                                            "race",   "unwritten", "contents"};
const unsigned trace_nvirtual_tables = ARRAY_LEN(trace_virtual_tables);

bool trace_register(sqlite3 *db, Error *err) {
  static const sqlite3_module *const modules[] = {
      &vtab_access, &vtab_thread, &vtab_list, &vtab_list, &vtab_list, &vtab_list, &vtab_list};
  Connection *c = mem_alloc(sizeof *c);
  c->db = db;
  c->users = ARRAY_LEN(modules);
  // a module that could not be made has been destroyed
  for (size_t i = 0; i < ARRAY_LEN(modules); i++)
    if (sqlite3_create_module_v2(db, trace_virtual_tables[i], modules[i], c, destroy) !=
        SQLITE_OK) {
      bool failed = sql_fail(db, err, "the tables of recorded operations cannot be made");
      for (size_t k = i + 1; k < ARRAY_LEN(modules); k++) destroy(c);
      return failed;
    }
  return true;
}

#ifdef WARPGRIND_SQLITE_EXTENSION
__attribute__((visibility("default"))) int sqlite3_warpgrindsqlite_init(
    sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_warpgrindsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  Error err = {{0}};
  // SQLite keeps functions of ours: page_vfs.c
  if (trace_register(db, &err)) return SQLITE_OK_LOAD_PERMANENTLY;
  *message = sqlite3_mprintf("%s", err.text);
  return SQLITE_ERROR;
}
#endif
