// Inside the compiler of the virtual device: from decoded code to LLVM text.
//
// The compiled form of a function is one function of C's calling convention, with several places to
// enter (heads). It runs for a warp of which all lanes stand together, and returns the instruction
// at which the interpreter goes on. Between entry and return registers are LLVM values; at both
// they are in their slots.
#ifndef WG_VGPU_REGION_H
#define WG_VGPU_REGION_H

#include "vgpu/core.h"
#include "vgpu/exec/memory.h"

// How a register varies over the lanes of a warp, as far as is known before the code runs. A
// compiled function tests that where it is entered, and refuses if it does not hold.
typedef enum {
  LANES_SAME,    // the same value
  LANES_ROWS,    // base + row * y: the same in each row
  LANES_LINEAR,  // base + column * x + row * y
  LANES_MIXED,   // computed from the number of the lane
  LANES_DATA     // anything
} LaneClass;

// How a value is held: one scalar, three, or a vector of 32.
typedef enum { FORM_SAME, FORM_LINEAR, FORM_VECTOR } Form;

// An LLVM value or constant, as text.
typedef struct Name {
  char text[24];
} Name;

typedef struct LaneValue {
  Form form;
  unsigned bits;  // 1 (predicates), 16, 32, 64
  Name base, x, y;
} LaneValue;

// The effect of an instruction on the three forms.
typedef enum {
  SHAPE_UNKNOWN,  // its execute functions are called, registers in their slots
  SHAPE_STOP,     // the interpreter runs it
  SHAPE_COPY,     // also cvta between global and generic addresses
  SHAPE_ADD,
  SHAPE_SUB,
  SHAPE_MUL,
  SHAPE_MAD,
  SHAPE_SHL,  // by a constant
  SHAPE_NEG,
  SHAPE_WIDEN,   // 32 to 64 bits
  SHAPE_NARROW,  // 64 to 32 bits
  SHAPE_LOW,     // 64 to 32 bits and back, without a sign
  SHAPE_MUL_WIDE,
  SHAPE_MAD_WIDE,
  SHAPE_ELEMENT,  // lane by lane
  SHAPE_PACK,     // mov of several registers into one
  SHAPE_UNPACK,   // and back
  SHAPE_SREG,
  SHAPE_VARIABLE,  // the address of a variable: what is in the constant slot
  SHAPE_PARAM,
  SHAPE_LOAD,
  SHAPE_STORE,
  SHAPE_LOCAL,    // a load or store of local memory
  SHAPE_SHUFFLE,  // shfl between lanes that are known now
  SHAPE_VOTE      // of all 32 lanes
} Shape;

// How lanes that have gone different ways wait at a block: to run it alone, or to meet there.
typedef enum { WAIT_NONE, WAIT_MASKED, WAIT_MEETING } RegionWait;

// Loads with the same base, between two places where the code can be entered: one test covers all
// that they read.
typedef struct AccessGroup {
  const PtxReg *base;
  bool shared;
  unsigned lane_bytes;
  uint32_t end;       // the first Inst after them
  int64_t low, high;  // the smallest and the greatest offset
  Name good, row[4];  // good: all are accessible. row: host address of the lowest, by row of lanes
} AccessGroup;

enum { LEFT_SETS = 256 };
enum { MOST_PREFETCHED = ARRAY_LEN(((BlockTurns *)0)->last) };

typedef struct Region {
  const Code *code;
  PtxFunc *func;
  IrCfg *cfg;
  IrLiveness *live;
  U64Map number;      // PtxInstr* -> its number in the IrCfg + 1
  uint64_t **before;  // by instruction: registers that live before it
  uint32_t columns;   // lanes of a warp in one row of its block: 32, 16 or 8
  uint8_t *lanes;     // LaneClass by PtxReg.id
  bool *kept;         // by PtxReg.id: a value of the compiled code
  bool *written;
  const PtxInstr **constant;  // by PtxReg.id: the mov of a number that alone writes it, or NULL
  bool *lazy_nan;  // by PtxReg.id: results of f32 arithmetic only, NaN made canonical on leaving
  uint8_t *shape;  // by Inst: Shape of the PTX instruction that begins there
  uint32_t *group_end;  // by Inst that begins a PTX instruction: one past its last Inst
  bool *divergent;      // by block: lanes may have diverged here, because of data
  bool *cold;           // by block: the interpreter's, see cold.c
  bool *exits;          // by Inst: an exit was asked for
  bool *label;          // by Inst: code can come here from elsewhere
  AccessGroup groups[8];
  unsigned ngroups;
  Str *to;
  uint32_t next;
  bool failed;           // something does not fit: no code
  uint32_t nprefetched;  // loads whose last address is kept: in BlockTurns.last or a variable
  // predicated.c
  uint32_t *predicated_end;  // by Inst of a branch: where its lanes meet; 0: not predicated
  bool *inside;              // by Inst: a part of predicated code
  bool *closed;              // by Inst: predicated code ends here, and nothing else comes here
  // masked.c
  bool has_masked;
  uint8_t *waits;                   // by Inst: RegionWait of the block that begins there
  bool *crosses;                    // by PtxReg.id: lives where a block begins
  const uint64_t *left[LEFT_SETS];  // sets of registers that live where masked code is left
  uint32_t nleft;
  bool masked;           // code is for some lanes
  Name mask, lanes_now;  // these, as <32 x i1> and as i32
  // block.c
  bool block;      // the form that runs whole blocks
  uint8_t *stops;  // by Inst, of heads: why a warp's turn ends there
  bool *apart;     // by Inst: a store of masked code before which a turn ends
  bool has_barrier;
  uint32_t barrier;      // the number of its barriers
  size_t waiting_bytes;  // of a warp's registers while it waits
} Region;

static inline uint32_t region_rows(const Region *r) { return LANES / r->columns; }
static inline unsigned region_bits(const PtxReg *reg) {
  unsigned w = slot_width(reg->type);
  return w ? 8 * w : 1;
}
static inline bool region_is_native(Shape s) { return s >= SHAPE_COPY; }

// Data that a compiled function needs beside its warp.
typedef struct RegionEnv {
  uint64_t window;
  void (*split)(Warp *w, const Inst *at, uint32_t lanes);  // warp_split_lanes
} RegionEnv;

// --- shapes.c ---
Shape region_shape(const Region *r, const Inst *first, uint32_t ninsts);
PtxType region_type(const PtxInstr *in);  // the type it computes in
bool region_is_f32_arithmetic(const PtxInstr *in);
bool region_is_approximation(const PtxInstr *in);  // of f32: approx.c
bool region_is_bit_op(const PtxInstr *in);         // bits.c
bool region_is_collective(const PtxInstr *in);     // lanes of a warp execute it together
bool region_is_head(const Inst *in);               // region_join or region_enter
bool region_is_control(const Inst *in);            // heads, jumps, branches

// --- cold.c ---
void region_find_cold(Region *r);
bool region_is_cold(const Region *r, const Inst *in);
uint32_t region_number(const Region *r, const PtxInstr *in);  // in the IrCfg; IR_NONE: not of it

// --- classes.c ---
void region_classify(Region *r);

// --- values.c: LLVM text for values ---
Name region_emit(Region *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
void region_line(Region *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
Name region_name(const char *fmt, ...) PRINTF_LIKE(1, 2);
Name region_label(Region *r);              // a new one
void region_place(Region *r, Name label);  // begins a block; the last one has ended
void region_expect(Region *r, Name condition, Name yes, Name no);  // branches, hardly ever to `no`
const char *region_int(Form f, unsigned bits);
const char *region_float(Form f, unsigned bits);
Name region_vector(Region *r, const LaneValue *v);
Name region_as(Region *r, const LaneValue *v, Form f);  // SAME or VECTOR
LaneValue region_constant(uint64_t value, unsigned bits);
LaneValue region_value(Form f, unsigned bits, Name base);
// raw: a NaN need not be canonical
LaneValue region_read(Region *r, const PtxReg *reg, bool raw);
void region_write(Region *r, const PtxReg *reg, LaneValue v);
LaneValue region_operand(Region *r, const PtxOperand *o, PtxType t, bool raw);
Name region_field(Region *r, const char *base, size_t offset);  // address of a member
Name region_slot(Region *r, uint32_t slot);
void region_spill(Region *r, const PtxReg *reg);
void region_spill_lanes(Region *r, const PtxReg *reg, Name lanes);  // lanes: i32
void region_reload(Region *r, const PtxReg *reg);                   // as a vector
Name region_inst(Region *r, const Inst *in);
// the label of a block that leaves to the interpreter at this Inst
Name region_exit(Region *r, const Inst *in);

// --- warp.c: shfl and vote ---
Shape region_warp_shape(const Region *r, const PtxInstr *in);
void region_warp(Region *r, const PtxInstr *in, Shape s);

// --- calls.c ---
void region_declare_calls(Region *r);

// --- gather.c: each lane at its own address. mask: <32 x i1>, "" for all lanes ---
bool region_can_gather(const Inst *in);
void region_gather(Region *r, const Inst *in, Name mask);
void region_scatter(Region *r, const Inst *in, Name mask);

// --- bits.c ---
void region_pack(Region *r, const PtxInstr *in);
void region_unpack(Region *r, const PtxInstr *in);

// --- ops.c, access.c, text.c ---
void region_op(Region *r, const Inst *first, Shape s);
void region_access(Region *r, const Inst *in, Shape s);
void region_access_masked(Region *r, const Inst *in);
void region_set_access(Region *r, const Inst *in);  // for faults: this one is next
void region_count_store(Region *r, bool shared);
void region_sreg(Region *r, const PtxInstr *in);
// Calls the execute functions of a PTX instruction.
void region_call(Region *r, const Inst *first, uint32_t n);
// The LLVM text of a function. false: there is nothing to gain, or it is too large. rest: what is
// called or left to the interpreter, for -v.
bool region_text(const Code *code, uint32_t columns, Str *out, Str *rest);
// The form that runs whole blocks. waiting_bytes: what a warp needs in BlockTurns.memory.
bool region_block_text(const Code *code, uint32_t columns, Str *out, size_t *waiting_bytes);
const uint64_t *region_live_at(const Region *r, const Inst *in);  // registers that live before it
bool region_is_live(const uint64_t *set, const PtxReg *reg);
bool region_is_entry(const Region *r, uint32_t i);  // a head that is compiled
void region_declare(Region *r);                     // the variables that hold registers

void region_instruction(Region *r, uint32_t i);  // one PTX instruction, with its guard

// The Inst after the PTX instruction that begins there.
static inline uint32_t region_after(const Region *r, uint32_t i) {
  return r->group_end[i] ? r->group_end[i] : i + 1;
}

// --- predicated.c ---
void region_find_predicated(Region *r);
uint32_t region_predicated(Region *r, uint32_t i);  // the text for a branch; the Inst after it

// --- masked.c ---
void region_masked_find(Region *r);
void region_masked_declare(Region *r);
void region_masked_code(Region *r);
bool region_masked_can(const Region *r, uint32_t i);         // a branch whose ways have masked code
void region_masked_enter(Region *r, uint32_t i, Name mask);  // i32: lanes whose predicate is true

// --- apart.c ---
typedef void RegionLeave(Region *r, const Inst *in, Name lanes);  // to the engine, from masked code
void region_apart_declare(Region *r);
void region_apart_stop(Region *r, const Inst *store, RegionLeave *leave);
void region_apart_end(Region *r, Str *cases);

// --- block.c ---
// Keeps a register or word of a warp that waits, at *end of its memory, or takes it back.
void region_move_register(Region *r, const PtxReg *reg, size_t *end, bool keep);
void region_move_word(Region *r, const char *variable, size_t *end, bool keep);
void region_block_start(Region *r);
void region_block_end(Region *r);
bool region_block_stop(Region *r, uint32_t i);  // emits the end of a turn; false: not one
void region_block_wait(Region *r, const Inst *store, bool shared);
void region_block_leave(Region *r, Name at);  // returns; the engine goes on at this Inst
bool region_block_is_worth(const Region *r);

// --- rest.c ---
void region_list_rest(const Region *r, Str *out);

#endif
