// Operations of a whole warp, or of more than a register: matrices, wmma tiles, copies to shared
// memory. Each is recorded in pieces of up to 16 bytes, as loads and stores, with the contents of
// memory after the instruction, because it is not documented which lane's registers hold which
// element.
//
// If memcheck skips such an instruction, its memory must not be read here either. memcheck skips
// the code before the instruction, too, so a register set there tells whether it executes.
#include "tools/record/internal.h"

enum { PIECE = 16, LANES = 32 };

typedef struct Wide {
  Recorder *t;
  const PtxInstr *in;
  Code *c;
  PtxReg *at;  // the address of the piece, without its space
  PtxLabel *over;
} Wide;

PtxReg *recorder_reg(Recorder *t, PtxReg **place, PtxType type) {
  if (!*place) *place = body_reg(t->body, type);
  return *place;
}

static void set_made(Recorder *t, Code *c, bool made) {
  PtxReg *zero = body_temp(t->body, TYPE_B32, 0);
  EMIT(c, "mov.u32", opd_reg(zero), opd_imm(0));
  if (made) EMIT(c, "setp.eq.u32", opd_reg(t->made), opd_reg(zero), opd_imm(0));
  else EMIT(c, "setp.ne.u32", opd_reg(t->made), opd_reg(zero), opd_imm(0));
}

// After the instruction, for lanes that record and have executed it.
static Wide begin(Recorder *t, uint32_t i, const PtxInstr *in, bool together) {
  if (!t->made) {
    t->made = body_reg(t->body, TYPE_PRED);
    set_made(t, body_entry(t->body), false);
  }
  set_made(t, body_before(t->body, i), true);
  Wide w = {
      .t = t, .in = in, .c = body_after(t->body, i), .at = recorder_reg(t, &t->piece, TYPE_B64)};
  if (together) EMIT(w.c, "bar.warp.sync", opd_imm(-1));  // makes the stores of other lanes visible
  w.over = recorder_guard(t, w.c, in);
  code_branch(w.c, t->made, true, w.over);
  return w;
}

static void end(Wide *w) {
  code_label(w->c, w->over);
  set_made(w->t, w->c, false);
}

void recorder_read_memory(Recorder *t, Code *c, PtxReg *at, PtxSpace space, unsigned bytes) {
  static const char *const forms[3][3] = {{"ld.global.b32", "ld.global.v2.b32", "ld.global.v4.b32"},
                                          {"ld.shared.b32", "ld.shared.v2.b32", "ld.shared.v4.b32"},
                                          {"ld.b32", "ld.v2.b32", "ld.v4.b32"}};
  PtxOperand words[RECORDER_PLANES];
  unsigned n = bytes / 4;
  for (unsigned i = 0; i < n; i++) words[i] = opd_reg(recorder_word(t, &t->values[i]));
  EMIT(c,
       forms[space == SPACE_GLOBAL   ? 0
             : space == SPACE_SHARED ? 1
                                     : 2][n / 2],
       n == 1 ? words[0] : opd_vector(c, words, n), opd_at(c, opd_reg(at), 0));
}

void recorder_piece(Recorder *t, Code *c, const RecorderPiece *p) {
  uint32_t site = recorder_site(t, p->in, p->address, p->classes, p->space, p->bytes);
  EMIT(c, "mov.b64", opd_reg(recorder_reg(t, &t->address, TYPE_B64)), opd_reg(p->at));
  if (p->address) recorder_tag_space(t, c, p->address, p->space);
  recorder_emit(t, c,
                &(RecorderRecord){p->classes == CLASS_LOAD ? RECORDER_OF_LOAD : RECORDER_OF_STORE,
                                  site, MAX(p->bytes / 4, 1u)});
}

static void look(Wide *w, PtxSpace space, unsigned bytes) {
  recorder_read_memory(w->t, w->c, w->at, space, bytes);
}
static void put(Wide *w, const PtxOperand *address, unsigned classes, PtxSpace space,
                unsigned bytes) {
  recorder_piece(w->t, w->c, &(RecorderPiece){w->in, address, w->at, classes, space, bytes});
}

// --- wmma tiles: lines at a constant distance, dealt out to the lanes in pieces ---

static void distance(Wide *w, PtxReg *to, unsigned bits, unsigned elements) {
  const PtxOperand *stride = w->in->nops > 2 ? &w->in->ops[2] : NULL;
  if (stride) EMIT(w->c, "mul.lo.u32", opd_reg(to), *stride, opd_imm(bits));
  else EMIT(w->c, "mov.u32", opd_reg(to), opd_imm(elements * bits));
  EMIT(w->c, "shr.u32", opd_reg(to), opd_reg(to), opd_imm(3));
}

bool recorder_tile(Recorder *t, uint32_t i, const PtxInstr *in) {
  bool loads = in->op == OP_WMMA_LOAD;
  const PtxOperand *address = &in->ops[loads ? 1 : 0];
  uint32_t lines, elements, bits = in->ntypes ? access_type_bits(in->types[0]) : 0;
  if (!access_tile_shape(in, &lines, &elements) || elements * bits % 32) return false;
  uint32_t line = elements * bits / 8, piece = line % PIECE ? line % 8 ? 4 : 8 : PIECE,
           in_line = line / piece, pieces = lines * in_line;
  Wide w = begin(t, i, in, !loads);
  PtxReg *lane = body_temp(t->body, TYPE_B32, 0), *number = body_temp(t->body, TYPE_B32, 1),
         *step = body_temp(t->body, TYPE_B32, 2), *offset = body_temp(t->body, TYPE_B64, 0);
  for (uint32_t first = 0; first < pieces; first += LANES) {
    recorder_only_lanes(t, w.c, pieces - first, w.over);
    EMIT(w.c, "mov.u32", opd_reg(lane), opd_sreg(SREG_LANEID, SEL_NONE));
    EMIT(w.c, "add.u32", opd_reg(lane), opd_reg(lane), opd_imm(first));
    EMIT(w.c, "div.u32", opd_reg(number), opd_reg(lane), opd_imm(in_line));
    distance(&w, step, bits, elements);
    access_address(w.c, w.at, address);
    EMIT(w.c, "mad.wide.u32", opd_reg(w.at), opd_reg(number), opd_reg(step), opd_reg(w.at));
    EMIT(w.c, "rem.u32", opd_reg(number), opd_reg(lane), opd_imm(in_line));
    EMIT(w.c, "mul.wide.u32", opd_reg(offset), opd_reg(number), opd_imm(piece));
    EMIT(w.c, "add.u64", opd_reg(w.at), opd_reg(w.at), opd_reg(offset));
    look(&w, in->space, piece);
    put(&w, address, loads ? CLASS_LOAD : CLASS_STORE, in->space, piece);
  }
  end(&w);
  return true;
}

// --- ldmatrix, stmatrix: the first 8, 16 or 32 lanes each name a row ---

bool recorder_matrix(Recorder *t, uint32_t i, const PtxInstr *in) {
  bool loads = in->op == OP_LDMATRIX;
  const PtxOperand *address = &in->ops[loads ? 1 : 0];
  if (!ptx_has(in, MOD_M8N8)) return false;
  Wide w = begin(t, i, in, !loads);
  recorder_only_lanes(t, w.c, access_matrix_lanes(in), w.over);
  access_address(w.c, w.at, address);
  look(&w, SPACE_SHARED, PIECE);
  put(&w, address, loads ? CLASS_LOAD : CLASS_STORE, SPACE_SHARED, PIECE);
  end(&w);
  return true;
}

// --- copies: the value read is the value written ---

// cp.async; one with a source size fills the rest with zeros.
bool recorder_small_copy(Recorder *t, uint32_t i, const PtxInstr *in) {
  uint32_t bytes = access_bytes(in);
  if ((bytes != 4 && bytes != 8 && bytes != PIECE) || in->nops > 3) return false;
  Wide w = begin(t, i, in, false);
  access_address(w.c, w.at, &in->ops[1]);
  look(&w, SPACE_GLOBAL, bytes);
  put(&w, &in->ops[1], CLASS_LOAD, SPACE_GLOBAL, bytes);
  access_address(w.c, w.at, &in->ops[0]);
  put(&w, &in->ops[0], CLASS_STORE, SPACE_SHARED, bytes);
  end(&w);
  return true;
}
