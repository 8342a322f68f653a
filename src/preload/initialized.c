// The function that include/warpgrind.h calls on the host, which finds it by name.
#include "cuda/abi.h"
#include "session/session.h"

// as in warpgrind.h
enum {
  MARK = 1,
  UNMARK = 2,
  ASK = 3,
  BENIGN = 4,
  RECORD_BEGIN = 5,
  RECORD_END = 6,
  // used by cli/replay.c only. POOL: p is memory that is handed out in pieces. PIECE: one piece
  POOL = 100,
  PIECE = 101
};

__attribute__((visibility("default"))) int wg_host_initialized(int what, const void *p, size_t n) {
  if (what == RECORD_BEGIN || what == RECORD_END) {
    session_annotated(what == RECORD_BEGIN ? SESSION_RECORD_BEGIN : SESSION_RECORD_END, 0, 0);
    return 1;
  }
  if (what == POOL || what == PIECE) {
    static uint64_t pool;
    if (what == POOL) pool = session_pool_begin((uintptr_t)p, n);
    else session_pool_piece(pool, (uintptr_t)p, n);
    return 1;
  }
  if (what == BENIGN && session_wants(SESSION_WANTS_BENIGN_RACES)) cuCtxSynchronize();
  if (what == BENIGN) session_annotated(SESSION_BENIGN_RACE, (uintptr_t)p, n);
  if (what == BENIGN || !session_wants(SESSION_WANTS_CONTENTS)) return 1;
  cuCtxSynchronize();  // through our own table: work that was submitted before has ended then
  if (what == MARK) session_annotated(SESSION_INITIALISED, (uintptr_t)p, n);
  if (what == UNMARK) session_annotated(SESSION_UNINITIALISED, (uintptr_t)p, n);
  return what == ASK ? session_is_initialised((uintptr_t)p, n) : 1;
}
