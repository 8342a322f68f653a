// Proofs for the source files named in recorded code (--record=inputs). Such a run has no places of
// kernels. `expand` adds them, but by then the code's origin can no longer be proved.
#define _GNU_SOURCE
#include "run/internal.h"

#include <sqlite3.h>
#include <zstd.h>

#include "channel/channel.h"

enum { PIECE_MOST = 1 << 20 };

static void add_piece(sqlite3_stmt *s, Str *code) {
  size_t n = (size_t)sqlite3_column_int64(s, 2), len = (size_t)sqlite3_column_bytes(s, 3);
  const char *data = sqlite3_column_blob(s, 3);
  if (!data || n > PIECE_MOST) return;
  char *plain = mem_alloc(n + 1);
  if (len == n) str_addn(code, data, n);
  else if (ZSTD_decompress(plain, n, data, len) == n) str_addn(code, plain, n);
  free(plain);
}

// `.file 1 "path"`, as PTX has it. Quotes in names are not expected.
static void prove_files(Run *r, const Str *code) {
  static const char word[] = ".file";
  for (const char *p = code->data, *end = p + code->len;
       p && (p = memmem(p, (size_t)(end - p), word, sizeof word - 1));) {
    p += sizeof word - 1;
    p += strspn(p, " \t0123456789");
    size_t n = *p == '"' ? strcspn(p + 1, "\"\n") : 0;
    if (!n || p[n + 1] != '"') continue;
    char *file = mem_alloc(n + 1);
    memcpy(file, p + 1, n);
    run_prove_source(r, file);
    free(file);
  }
}

// All pieces of a module have the same process and the same upper half of the address.
void run_prove_code_sources(Run *r) {
  sqlite3 *db = run_file_database(r);
  sqlite3_stmt *s = NULL;
  static const char sql[] = "SELECT process, address, bytes, data FROM trace_contents WHERE step = "
                            "? ORDER BY process, address";
  if (!db || sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) return;
  sqlite3_bind_int64(s, 1, CHANNEL_CODE_STEP);
  Str code = {0};
  int64_t process = 0, module = 0;
  while (sqlite3_step(s) == SQLITE_ROW) {
    int64_t p = sqlite3_column_int64(s, 0), m = sqlite3_column_int64(s, 1) >> 32;
    if (p != process || m != module) {
      prove_files(r, &code);
      code.len = 0;
    }
    process = p;
    module = m;
    add_piece(s, &code);
  }
  prove_files(r, &code);
  sqlite3_finalize(s);
  str_free(&code);
}
