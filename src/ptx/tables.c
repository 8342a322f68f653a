// The .def tables as arrays, and the keyword hash that maps a word of the text to its row.
#include <pthread.h>

#include "ptx/parse.h"

static const char *const type_names[] = {
    "",
#define TYPE(id, text, bytes, kind) text,
#include "ptx/types.def"
};
static const uint8_t type_sizes[] = {
    0,
#define TYPE(id, text, bytes, kind) bytes,
#include "ptx/types.def"
};
static const uint8_t type_kinds[] = {
    KIND_NONE,
#define TYPE(id, text, bytes, kind) KIND_##kind,
#include "ptx/types.def"
};
static const char *const mod_names[] = {
    "",
#define MOD(id, text) text,
#include "ptx/mods.def"
};
static const char *const sreg_names[] = {
    "",
#define SREG(id, text, type, vector) text,
#include "ptx/sregs.def"
};
static const bool sreg_vectors[] = {
    false,
#define SREG(id, text, type, vector) vector,
#include "ptx/sregs.def"
};
_Static_assert((int)MOD_F32 == (int)TYPE_F32 && (int)MOD_SURFREF == (int)TYPE_SURFREF,
               "types come first in mods.def");

// The class names of ops.def, unprefixed there.
enum {
  C_LOAD = CLASS_LOAD,
  C_STORE = CLASS_STORE,
  C_ATOMIC = CLASS_ATOMIC,
  C_SYNC = CLASS_SYNC,
  C_BRANCH = CLASS_BRANCH,
  C_RETURN = CLASS_RETURN,
  C_CALL = CLASS_CALL,
  C_INT = CLASS_INT,
  C_FLOAT = CLASS_FLOAT,
  C_COMPARE = CLASS_COMPARE,
  C_SELECT = CLASS_SELECT,
  C_MOVE = CLASS_MOVE,
  C_CONVERT = CLASS_CONVERT,
  C_WARP = CLASS_WARP,
  C_TENSOR = CLASS_TENSOR,
  C_TEXTURE = CLASS_TEXTURE,
  C_SURFACE = CLASS_SURFACE,
  C_ASYNC = CLASS_ASYNC,
  C_MEMFENCE = CLASS_MEMFENCE,
  C_ADDRESS = CLASS_ADDRESS,
  C_HINT = CLASS_HINT
};
typedef struct OpRow {
  const char *name;
  uint32_t classes;
  uint8_t defs, family, memory, order, validity, result, exceptions, sm;
  uint8_t version;  // for readers of the table
} OpRow;
static const OpRow op_rows[] = {
    {"", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
#define LOAD C_LOAD
#define STORE C_STORE
#define ATOMIC C_ATOMIC
#define SYNC C_SYNC
#define BRANCH C_BRANCH
#define RETURN C_RETURN
#define CALL C_CALL
#define INT C_INT
#define FLOAT C_FLOAT
#define COMPARE C_COMPARE
#define SELECT C_SELECT
#define MOVE C_MOVE
#define CONVERT C_CONVERT
#define TENSOR C_TENSOR
#define SURFACE C_SURFACE
#define ASYNC C_ASYNC
#define MEMFENCE C_MEMFENCE
#define ADDRESS C_ADDRESS
#define HINT C_HINT
#define WARP C_WARP
#define TEXTURE C_TEXTURE
// The operator ## pastes a word before macros expand it: NAN may name a class and a column's value.
#undef NAN
#define NAN EXCEPTION_NAN
#define INF EXCEPTION_INF
#define SUBNORMAL EXCEPTION_SUBNORMAL
#define DIV0 EXCEPTION_DIV0
#define NONE 0
#define OP(id, name, defs, executes, classes, memory, order, validity, result, exceptions, ptx, \
           sm) \
  {name, \
   classes, \
   defs, \
   FAMILY_##executes, \
   MEMORY_##memory, \
   ORDER_##order, \
   VALIDITY_##validity, \
   RESULT_##result, \
   exceptions, \
   sm, \
   ptx},
#include "ptx/ops.def"
#undef WARP
#undef TEXTURE
};

unsigned ptx_type_size(PtxType t) { return type_sizes[t]; }
PtxKind ptx_type_kind(PtxType t) { return type_kinds[t]; }
const char *ptx_type_name(PtxType t) { return type_names[t]; }
const char *ptx_mod_name(PtxMod m) { return mod_names[m]; }
const char *ptx_op_name(PtxOp op) { return op_rows[op].name; }
PtxType ptx_mod_type(PtxMod m) { return (unsigned)m < TYPE_COUNT ? (PtxType)m : TYPE_NONE; }
const char *ptx_sreg_name(PtxSreg s) { return sreg_names[s]; }
bool ptx_sreg_is_vector(PtxSreg s) { return sreg_vectors[s]; }
PtxFamily ptx_op_family(PtxOp op) { return op_rows[op].family; }
bool ptx_op_is_arith(PtxOp op) {
  return op_rows[op].family >= FAMILY_ARITH_TYPED && op_rows[op].family <= FAMILY_ARITH_VIDEO;
}
PtxMemory ptx_op_memory(PtxOp op) { return op_rows[op].memory; }
PtxOrder ptx_op_order(PtxOp op) { return op_rows[op].order; }
PtxValidity ptx_op_validity(PtxOp op) { return op_rows[op].validity; }
PtxResult ptx_op_result(PtxOp op) { return op_rows[op].result; }
unsigned ptx_op_exceptions(PtxOp op) { return op_rows[op].exceptions; }
unsigned ptx_op_sm(PtxOp op) { return op_rows[op].sm; }
unsigned ptx_op_defs(PtxOp op) { return op_rows[op].defs; }

unsigned ptx_op_classes(const PtxInstr *in) {
  unsigned c = op_rows[in->op].classes;
  if ((c & (CLASS_INT | CLASS_FLOAT)) == (CLASS_INT | CLASS_FLOAT)) {
    bool is_float = false, is_int = false;
    for (unsigned i = 0; i < in->ntypes; i++) {
      if (ptx_type_kind(in->types[i]) == KIND_FLOAT) is_float = true;
      else is_int = true;
    }
    if (!is_float) c &= ~(unsigned)CLASS_FLOAT;
    if (!is_int) c &= ~(unsigned)CLASS_INT;
  }
  return c;
}

bool ptx_has(const PtxInstr *in, PtxMod m) {
  for (unsigned i = 0; i < in->nmods; i++)
    if (in->mods[i] == m) return true;
  return false;
}

PtxSpace ptx_mod_space(PtxMod m) {
  switch (m) {
    case MOD_CONST: return SPACE_CONST;
    case MOD_GLOBAL: return SPACE_GLOBAL;
    case MOD_LOCAL: return SPACE_LOCAL;
    case MOD_PARAM:
    case MOD_PARAM_ENTRY:
    case MOD_PARAM_FUNC: return SPACE_PARAM;
    case MOD_SHARED:
    case MOD_SHARED_CTA:
    case MOD_SHARED_CLUSTER: return SPACE_SHARED;
    case MOD_TEX: return SPACE_TEX;
    case MOD_REG: return SPACE_REG;
    case MOD_SREG: return SPACE_SREG;
    default: return SPACE_NONE;
  }
}

// --- the keyword hash: opcodes, modifiers and special registers in one open-addressing table ---
typedef struct Keyword {
  const char *text;
  uint32_t len, hash;
  uint16_t value;
  uint8_t kind;
  bool longer;
} Keyword;
enum { KEYWORD_SLOTS = 4096 };
static Keyword keywords[KEYWORD_SLOTS];
static pthread_once_t keywords_once = PTHREAD_ONCE_INIT;

static Keyword *keyword_slot(int kind, const char *text, uint32_t len, uint32_t hash) {
  for (uint32_t i = (hash + (uint32_t)kind) & (KEYWORD_SLOTS - 1);;
       i = (i + 1) & (KEYWORD_SLOTS - 1)) {
    Keyword *k = &keywords[i];
    if (!k->text ||
        (k->hash == hash && k->kind == kind && k->len == len && !memcmp(k->text, text, len)))
      return k;
  }
}

static void keyword_add(int kind, const char *text, unsigned value) {
  uint32_t len = (uint32_t)strlen(text), hash = ptx_hash_word(text, len);
  Keyword *k = keyword_slot(kind, text, len, hash);
  bool longer = k->longer;
  *k = (Keyword){text, len, hash, (uint16_t)value, (uint8_t)kind, longer};
}

static void keywords_fill(void) {
  for (unsigned i = 1; i < OP_COUNT; i++) keyword_add(KEYWORD_OP, op_rows[i].name, i);
  for (unsigned i = 1; i < MOD_COUNT; i++) keyword_add(KEYWORD_MOD, mod_names[i], i);
  for (unsigned i = 1; i < SREG_COUNT; i++) keyword_add(KEYWORD_SREG, sreg_names[i], i);
  // Mark every beginning of a name of several words, adding beginnings that are no opcode
  // themselves with value 0.
  for (unsigned i = 1; i < OP_COUNT; i++) {
    const char *name = op_rows[i].name;
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
      uint32_t len = (uint32_t)(dot - name), hash = ptx_hash_word(name, len);
      Keyword *k = keyword_slot(KEYWORD_OP, name, len, hash);
      if (!k->text) *k = (Keyword){name, len, hash, 0, KEYWORD_OP, true};
      k->longer = true;
    }
  }
}

unsigned ptx_keyword(PtxKeywordKind kind, const char *text, uint32_t len, uint32_t hash,
                     bool *longer) {
  pthread_once(&keywords_once, keywords_fill);
  const Keyword *k = keyword_slot(kind, text, len, hash);
  if (longer) *longer = k->text && k->longer;
  return k->text ? k->value : 0;
}
