// How many bytes an instruction accesses, and which accesses it orders.
#include "weave/pass.h"

unsigned access_type_bits(PtxType t) {
  switch (t) {
    case TYPE_B1: return 1;
    case TYPE_U2:
    case TYPE_S2: return 2;
    case TYPE_U4:
    case TYPE_S4: return 4;
    default: return ptx_type_size(t) * 8;
  }
}

static unsigned vector_length(const PtxInstr *in) {
  return ptx_has(in, MOD_V8) ? 8 : ptx_has(in, MOD_V4) ? 4 : ptx_has(in, MOD_V2) ? 2 : 1;
}

static uint32_t immediate_size(const PtxInstr *in, unsigned operand) {
  return operand < in->nops && in->ops[operand].kind == OPD_INT ? (uint32_t)in->ops[operand].imm
                                                                : 0;
}

// ldmatrix, stmatrix: .x4 matrices of 8x8 (or 16x16) elements, shared by 32 lanes.
static uint32_t matrix_bytes(const PtxInstr *in) {
  unsigned count = ptx_has(in, MOD_X4) ? 4 : ptx_has(in, MOD_X2) ? 2 : 1;
  unsigned elements = ptx_has(in, MOD_M16N16)                            ? 256
                      : ptx_has(in, MOD_M8N16) || ptx_has(in, MOD_M16N8) ? 128
                                                                         : 64;
  return in->ntypes ? count * elements * access_type_bits(in->types[0]) / 8 / 32 : 0;
}

// wmma.load and wmma.store: the tile of the shape that .a, .b, .c or .d names.
static uint32_t tile_bytes(const PtxInstr *in) {
  unsigned m, n, k;
  for (unsigned i = 0; i < in->nmods; i++) {
    if (sscanf(ptx_mod_name(in->mods[i]), ".m%un%uk%u", &m, &n, &k) != 3 || !in->ntypes) continue;
    unsigned elements = ptx_has(in, MOD_A) ? m * k : ptx_has(in, MOD_B) ? k * n : m * n;
    return elements * access_type_bits(in->types[0]) / 8 / 32;
  }
  return 0;
}

uint32_t access_matrix_lanes(const PtxInstr *in) {
  uint32_t count = ptx_has(in, MOD_X4) ? 4 : ptx_has(in, MOD_X2) ? 2 : 1;
  return MIN(count * (ptx_has(in, MOD_M16N16) ? 16 : 8), 32u);
}

bool access_tile_shape(const PtxInstr *in, uint32_t *lines, uint32_t *elements) {
  unsigned m, n, k;
  for (unsigned i = 0; i < in->nmods; i++) {
    if (sscanf(ptx_mod_name(in->mods[i]), ".m%un%uk%u", &m, &n, &k) != 3 || !in->ntypes) continue;
    uint32_t rows = ptx_has(in, MOD_B) ? k : m, columns = ptx_has(in, MOD_A) ? k : n;
    *lines = ptx_has(in, MOD_ROW) ? rows : columns;
    *elements = ptx_has(in, MOD_ROW) ? columns : rows;
    return true;
  }
  return false;
}

uint32_t access_bytes(const PtxInstr *in) {
  unsigned classes = ptx_op_classes(in);
  if (!(classes & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC))) return 0;
  switch (ptx_op_memory(in->op)) {
    case MEMORY_COPY:
    case MEMORY_BULK: return immediate_size(in, 2);
    case MEMORY_MATRIX: return matrix_bytes(in);
    case MEMORY_TILE: return tile_bytes(in);
    case MEMORY_TEXTURE: return in->ntypes ? 4 * ptx_type_size(in->types[0]) : 0;
    case MEMORY_MBARRIER: return 8;
    default: return in->ntypes ? ptx_type_size(in->types[0]) * vector_length(in) : 0;
  }
}

const PtxVar *access_variable(const PtxInstr *in) {
  for (unsigned i = 0; i < in->nops; i++)
    if (in->ops[i].kind == OPD_ADDR && in->ops[i].nlist && in->ops[i].list[0].kind == OPD_VAR)
      return in->ops[i].list[0].var;
  return NULL;
}

void access_param_to_local(PtxInstr *in) {
  for (unsigned i = 0; i < in->nmods; i++)
    if (in->mods[i] == MOD_PARAM || in->mods[i] == MOD_PARAM_FUNC) in->mods[i] = MOD_LOCAL;
  in->space = SPACE_LOCAL;
  in->form = 0;
}

bool access_is_memory(const PtxInstr *in) {
  return ptx_op_classes(in) & (CLASS_LOAD | CLASS_STORE | CLASS_ATOMIC) && in->space != SPACE_PARAM;
}

// An address in shared memory may be in a register of 4 bytes.
void access_address(Code *c, PtxReg *to, const PtxOperand *address) {
  CHECK(address->kind == OPD_ADDR && address->nlist && ptx_type_size(to->type) == 8);
  const PtxOperand *base = &address->list[0];
  int64_t offset = address->imm;
  switch (base->kind) {
    case OPD_REG:
      if (ptx_type_size(base->reg->type) == 4) EMIT(c, "cvt.u64.u32", opd_reg(to), *base);
      else if (offset) {
        EMIT(c, "add.s64", opd_reg(to), *base, opd_imm(offset));
        offset = 0;
      } else EMIT(c, "mov.b64", opd_reg(to), *base);
      break;
    case OPD_VAR: EMIT(c, "mov.u64", opd_reg(to), opd_var(base->var)); break;
    default: EMIT(c, "mov.u64", opd_reg(to), *base); break;
  }
  if (offset) EMIT(c, "add.s64", opd_reg(to), opd_reg(to), opd_imm(offset));
}

PtxSpace access_bulk_space(const PtxInstr *in, unsigned operand, bool *cluster) {
  unsigned n = 0;
  for (unsigned i = 0; i < in->nmods; i++) {
    bool shared = in->mods[i] == MOD_SHARED || in->mods[i] == MOD_SHARED_CTA ||
                  in->mods[i] == MOD_SHARED_CLUSTER;
    if (!shared && in->mods[i] != MOD_GLOBAL) continue;
    if (n++ != operand) continue;
    *cluster = in->mods[i] == MOD_SHARED_CLUSTER;
    return shared ? SPACE_SHARED : SPACE_GLOBAL;
  }
  return SPACE_NONE;
}

// --- what it orders ---

static bool has_word(const void *instr, const char *word) {
  const PtxInstr *in = instr;
  for (unsigned i = 0; i < in->nmods; i++)
    if (!strcmp(ptx_mod_name(in->mods[i]), word)) return true;
  return false;
}

static WgWords words_of(const PtxInstr *in) {
  return (WgWords){ptx_op_name(in->op), in->nops, has_word, in};
}

WgOrders access_orders(const PtxInstr *in) {
  if (ptx_op_order(in->op) == ORDER_NONE) return WG_ORDERS_NOTHING;
  WgWords words = words_of(in);
  return wg_orders(&words);
}

unsigned access_order(const PtxInstr *in) {
  WgWords words = words_of(in);
  unsigned order = wg_access_order(&words);
  return in->op == OP_ATOM || in->op == OP_RED ? order | WG_ACCESS_STRONG : order;
}
