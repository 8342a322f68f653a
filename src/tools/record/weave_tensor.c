// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: copies of a tile of a tensor that a tensor
// map describes. The layout of a map is not documented, so the host describes it for each launch
// (tools/record/host_tensor_maps.c): a WgTraceTensor in the launch record for each parameter that
// is a map. Only tiles, and only maps that are parameters, are recorded.
//
// Like bulk copies they are recorded before they start, in pieces of 16 bytes. A piece that is not
// entirely inside the tensor is recorded byte by byte in global memory.
#include "tools/record/internal.h"

enum { RANK = 5, DEPTH = 8, WHOLE = WG_TRACE_PIECE << 8 };

typedef struct Tile {
  Recorder *t;
  const PtxInstr *in;
  Code *c;
  uint32_t record;  // where its WgTraceTensor is
  bool loads;       // to shared memory
  const PtxOperand *shared;
  PtxOperand at[RANK];
  bool from_global, to_shared;  // of a copy to shared memory: what is recorded this time
} Tile;

// --- which parameter it is ---

static const PtxVar *parameter_of(const Body *b, const PtxOperand *o, int64_t *offset) {
  for (unsigned depth = 0; depth < DEPTH && o->kind == OPD_REG; depth++) {
    const PtxInstr *in = constant_write(b, o->reg);
    if (!in) return NULL;
    if (in->op == OP_ADD && in->nops == 3 && in->ops[2].kind == OPD_INT) *offset += in->ops[2].imm;
    else if (!(in->op == OP_MOV && in->nops == 2) && !(in->op == OP_CVTA && !ptx_has(in, MOD_TO)))
      return NULL;
    o = &in->ops[1];
  }
  if (o->kind != OPD_VAR || o->var->space != SPACE_PARAM) return NULL;
  *offset += o->imm;
  return o->var;
}

// Finds where the launch record describes the map; 0: the map is not a parameter, or there is no
// room.
static uint32_t described_at(Recorder *t, const PtxOperand *map) {
  Body *b = t->body;
  int64_t offset = map->imm;
  const PtxVar *v = t->kept && record_can_point(b) ? parameter_of(b, &map->list[0], &offset) : NULL;
  uint32_t param = v ? facts_param(b, v) : UINT32_MAX;
  if (param == UINT32_MAX || offset < 0) return 0;
  for (unsigned i = 0; i < t->nmaps; i++)
    if (t->maps[i].param == param && t->maps[i].param_offset == (uint32_t)offset)
      return t->maps[i].record_offset;
  uint32_t at = t->nmaps < RECORDER_MAPS ? record_reserve(b, sizeof(WgTraceTensor)) : 0;
  if (at)
    t->maps[t->nmaps++] = (WeaveFact){.param = param,
                                      .param_at = (uint32_t)(v->param_offset + (uint64_t)offset),
                                      .param_offset = (uint32_t)offset,
                                      .record_offset = at};
  return at;
}

// --- pieces ---

static void ask(Tile *x, const char *name, PtxReg *result, const PtxOperand *args, unsigned n) {
  PtxOperand all[8] = {opd_reg(x->t->map)};
  for (unsigned i = 0; i < n; i++) all[1 + i] = args[i];
  code_call_value(x->c, probe_function(x->t->body->program, x->t->body->unit, name), result, all,
                  n + 1);
}
#define ASK(x, name, result, ...) \
  ask((x), (name), (result), (const PtxOperand[]){__VA_ARGS__}, \
      sizeof((const PtxOperand[]){__VA_ARGS__}) / sizeof(PtxOperand))

static void words(Tile *x) {
  for (unsigned i = 0; i < RECORDER_PLANES; i++)
    ASK(x, "wg_tensor_word", recorder_word(x->t, &x->t->values[i]), opd_reg(x->t->from),
        opd_reg(x->t->inside), opd_imm(i));
}

// The bytes that are inside, one at a time: the load, and the store of what was loaded.
static void bytes(Tile *x) {
  Recorder *t = x->t;
  Code *c = x->c;
  PtxReg *end = body_temp(t->body, TYPE_B32, 0), *done = body_temp(t->body, TYPE_PRED, 0),
         *wide = body_temp(t->body, TYPE_B64, 0), *at = recorder_reg(t, &t->piece, TYPE_B64);
  PtxReg *value = recorder_word(t, &t->values[0]), *byte = recorder_reg(t, &t->rest, TYPE_B32);
  PtxLabel *next = body_label(t->body), *over = body_label(t->body);
  EMIT(c, "and.b32", opd_reg(byte), opd_reg(t->inside), opd_imm(255));
  code_label(c, next);
  EMIT(c, "shr.u32", opd_reg(end), opd_reg(t->inside), opd_imm(8));
  EMIT(c, "setp.ge.u32", opd_reg(done), opd_reg(byte), opd_reg(end));
  code_branch(c, done, false, over);
  EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(byte));
  EMIT(c, "add.u64", opd_reg(at), opd_reg(x->loads ? t->from : t->to), opd_reg(wide));
  if (x->loads) EMIT(c, "ld.global.u8", opd_reg(value), opd_at(c, opd_reg(at), 0));
  else EMIT(c, "ld.shared.u8", opd_reg(value), opd_at(c, opd_reg(at), 0));
  recorder_piece(t, c,
                 &(RecorderPiece){x->in, x->loads ? NULL : x->shared, at, CLASS_LOAD,
                                  x->loads ? SPACE_GLOBAL : SPACE_SHARED, 1});
  if (!x->loads) {
    EMIT(c, "cvt.u64.u32", opd_reg(wide), opd_reg(byte));
    EMIT(c, "add.u64", opd_reg(at), opd_reg(t->from), opd_reg(wide));
    recorder_piece(
        t, c,
        &(RecorderPiece){x->in, NULL, at,
                         ptx_op_classes(x->in) & CLASS_ATOMIC ? CLASS_ATOMIC : CLASS_STORE,
                         SPACE_GLOBAL, 1});
  }
  EMIT(c, "add.u32", opd_reg(byte), opd_reg(byte), opd_imm(1));
  EMIT(c, "bra", opd_label(next));
  code_label(c, over);
}

// From the tensor to shared memory, where elements outside of the tensor are written, too.
static void piece_in(Tile *x) {
  Recorder *t = x->t;
  Code *c = x->c;
  PtxReg *p = body_temp(t->body, TYPE_PRED, 0), *low = body_temp(t->body, TYPE_B64, 0);
  PtxLabel *some = body_label(t->body), *crooked = body_label(t->body), *have = body_label(t->body),
           *write = body_label(t->body);
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(t->inside), opd_imm(WHOLE));
  code_branch(c, p, false, some);
  EMIT(c, "and.b64", opd_reg(low), opd_reg(t->from), opd_imm(WG_TRACE_PIECE - 1));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(low), opd_imm(0));
  code_branch(c, p, false, crooked);
  recorder_read_memory(t, c, t->from, SPACE_GLOBAL, WG_TRACE_PIECE);
  EMIT(c, "bra", opd_label(have));
  code_label(c, crooked);
  words(x);
  code_label(c, have);
  if (x->from_global)
    recorder_piece(
        t, c, &(RecorderPiece){x->in, NULL, t->from, CLASS_LOAD, SPACE_GLOBAL, WG_TRACE_PIECE});
  EMIT(c, "bra", opd_label(write));
  code_label(c, some);
  if (x->from_global) bytes(x);
  words(x);
  code_label(c, write);
  if (x->to_shared)
    recorder_piece(
        t, c, &(RecorderPiece){x->in, x->shared, t->to, CLASS_STORE, SPACE_SHARED, WG_TRACE_PIECE});
}

static void piece_out(Tile *x) {
  Recorder *t = x->t;
  Code *c = x->c;
  PtxReg *p = body_temp(t->body, TYPE_PRED, 0);
  PtxLabel *some = body_label(t->body), *over = body_label(t->body);
  EMIT(c, "setp.ne.u32", opd_reg(p), opd_reg(t->inside), opd_imm(WHOLE));
  code_branch(c, p, false, some);
  recorder_read_memory(t, c, t->to, SPACE_SHARED, WG_TRACE_PIECE);
  recorder_piece(
      t, c, &(RecorderPiece){x->in, x->shared, t->to, CLASS_LOAD, SPACE_SHARED, WG_TRACE_PIECE});
  recorder_piece(t, c,
                 &(RecorderPiece){x->in, NULL, t->from,
                                  ptx_op_classes(x->in) & CLASS_ATOMIC ? CLASS_ATOMIC : CLASS_STORE,
                                  SPACE_GLOBAL, WG_TRACE_PIECE});
  EMIT(c, "bra", opd_label(over));
  code_label(c, some);
  bytes(x);
  code_label(c, over);
}

// t->base: the address of the tile in shared memory.
static void pieces(void *user) {
  Tile *x = user;
  Recorder *t = x->t;
  Code *c = x->c;
  PtxReg *n = body_temp(t->body, TYPE_B32, 0), *p = body_temp(t->body, TYPE_PRED, 0);
  PtxLabel *next = body_label(t->body), *end = body_label(t->body);
  EMIT(c, "cvt.u32.u64", opd_reg(t->base), opd_reg(t->to));
  EMIT(c, "mov.u32", opd_reg(t->left), opd_imm(0));
  code_label(c, next);
  record_load(c, n, x->record + offsetof(WgTraceTensor, pieces));
  EMIT(c, "setp.ge.u32", opd_reg(p), opd_reg(t->left), opd_reg(n));
  code_branch(c, p, false, end);
  record_address(c, t->map, x->record);
  ASK(x, "wg_tensor_at", t->from, x->at[0], x->at[1], x->at[2], x->at[3], x->at[4],
      opd_reg(t->left));
  ASK(x, "wg_tensor_inside", t->inside, x->at[0], opd_reg(t->left));
  EMIT(c, "setp.ne.u64", opd_reg(p), opd_reg(t->from), opd_imm(0));
  EMIT(c, "selp.u32", opd_reg(t->inside), opd_reg(t->inside), opd_imm(0), opd_reg(p));
  ASK(x, "wg_tensor_shared", n, opd_reg(t->base), opd_reg(t->left));
  EMIT(c, "cvt.u64.u32", opd_reg(t->to), opd_reg(n));
  if (x->loads) piece_in(x);
  else piece_out(x);
  EMIT(c, "add.u32", opd_reg(t->left), opd_reg(t->left), opd_imm(1));
  EMIT(c, "bra", opd_label(next));
  code_label(c, end);
}

// --- the instruction ---

static bool is_other_than_tile(const PtxInstr *in) {
  static const PtxMod others[] = {MOD_IM2COL,         MOD_IM2COL_W,     MOD_IM2COL_W_128,
                                  MOD_IM2COL_NO_OFFS, MOD_TILE_GATHER4, MOD_TILE_SCATTER4};
  for (unsigned i = 0; i < ARRAY_LEN(others); i++)
    if (ptx_has(in, others[i])) return true;
  return false;
}

static bool coordinates(Tile *x, const PtxOperand *tensor) {
  const PtxOperand *list = &tensor->list[1];
  unsigned n = list->kind == OPD_VECTOR ? list->nlist : 1;
  for (unsigned i = 0; i < RANK; i++)
    x->at[i] = i >= n ? opd_imm(0) : list->kind == OPD_VECTOR ? list->list[i] : *list;
  return n <= RANK;
}

bool recorder_tensor_copy(Recorder *t, uint32_t i, const PtxInstr *in) {
  Tile x = {.t = t,
            .in = in,
            .loads = ptx_has(in, MOD_COMPLETE_TX_BYTES),
            .from_global = true,
            .to_shared = true};
  const PtxOperand *tensor = &in->ops[x.loads ? 1 : 0];
  x.shared = &in->ops[x.loads ? 0 : 1];
  if (is_other_than_tile(in) || tensor->kind != OPD_ADDR || tensor->nlist != 2 ||
      !coordinates(&x, tensor))
    return false;
  x.record = described_at(t, tensor);
  if (!x.record) return false;
  recorder_reg(t, &t->from, TYPE_B64);
  recorder_reg(t, &t->to, TYPE_B64);
  recorder_reg(t, &t->map, TYPE_B64);
  recorder_reg(t, &t->left, TYPE_B32);
  recorder_reg(t, &t->rank, TYPE_B32);
  recorder_reg(t, &t->base, TYPE_B32);
  recorder_reg(t, &t->inside, TYPE_B32);
  x.c = body_before(t->body, i);
  PtxLabel *over = recorder_guard(t, x.c, in);
  access_address(x.c, t->to, x.shared);
  if (ptx_has(in, MOD_MULTICAST_CLUSTER)) {
    x.to_shared = false;
    pieces(&x);
    x.to_shared = true;
    x.from_global = false;
    recorder_each_rank(t, x.c, &in->ops[3], x.shared, pieces, &x);
  } else {
    pieces(&x);
  }
  if (x.loads) recorder_completes_at(t, x.c, in, &in->ops[2]);
  code_label(x.c, over);
  return true;
}

void recorder_tensor_end(Recorder *t) {
  Woven *out = t->body->program->out;
  if (!t->nmaps) return;
  WeaveFact *all = ARENA_ARRAY(&out->arena, WeaveFact, t->nmaps);
  memcpy(all, t->maps, sizeof *all * t->nmaps);
  recorder_kernel(t->body)->maps = all;
  recorder_kernel(t->body)->nmaps = t->nmaps;
}
