// ptx: the PTX language, ISA 3.x to 9.0: lexer, parser, printer, verifier.
//
// A PtxModule is the parsed form of one PTX text and our only intermediate representation.
// Everything in it lives in the module's arena. Names are resolved while parsing: a register
// operand points at its PtxReg, a variable or function at its PtxVar or PtxFunc, a branch at its
// PtxLabel. Printing a parsed module gives PTX that assembles to the same machine code; renaming
// registers and labels (change .name) does too.
#ifndef WG_PTX_H
#define WG_PTX_H

#include "base/base.h"

// --- ops.def: every opcode and modifier, once. ---
// OP(enum, "name", ...) and MOD(enum, ".text") tables; see the head of ops.def. Opcodes of several
// words are one PtxOp: OP_MBARRIER_TRY_WAIT, OP_CP_ASYNC_BULK; what follows the name in ops.def is
// in PtxInstr.mods.
typedef enum PtxOp {
  OP_NONE,
#define OP(id, ...) OP_##id,
#include "ptx/ops.def"
  OP_COUNT
} PtxOp;

// every ".suffix" that can follow an opcode, types included (MOD_F32, MOD_FTZ, MOD_GLOBAL …)
typedef enum PtxMod {
  MOD_NONE,
#define MOD(id, ...) MOD_##id,
#include "ptx/mods.def"
  MOD_COUNT
} PtxMod;

typedef enum PtxType {  // scalar types of registers, variables and instruction suffixes
  TYPE_NONE,
#define TYPE(id, text, bytes, kind) TYPE_##id,
#include "ptx/types.def"
  TYPE_COUNT
} PtxType;

typedef enum {
  KIND_NONE,
  KIND_BITS,
  KIND_UNSIGNED,
  KIND_SIGNED,
  KIND_FLOAT,
  KIND_PRED,
  KIND_OPAQUE
} PtxKind;
// bytes; sub-byte packed types round up; pred and opaque 0 … see types.def
unsigned ptx_type_size(PtxType t);
PtxKind ptx_type_kind(PtxType t);
const char *ptx_type_name(PtxType t);  // "f32"
const char *ptx_mod_name(PtxMod m);    // ".ftz" with its dot
const char *ptx_op_name(PtxOp op);     // "add"
PtxType ptx_mod_type(PtxMod m);        // TYPE_F32 for MOD_F32, TYPE_NONE for others

typedef enum PtxSpace {
  SPACE_NONE,
  SPACE_REG,
  SPACE_SREG,
  SPACE_CONST,
  SPACE_GLOBAL,
  SPACE_LOCAL,
  SPACE_PARAM,
  SPACE_SHARED,
  SPACE_TEX,
  SPACE_GENERIC
} PtxSpace;
const char *ptx_space_name(PtxSpace s);  // ".global"; "" for none and generic

typedef struct PtxModule PtxModule;
typedef struct PtxFunc PtxFunc;
typedef struct PtxVar PtxVar;
typedef struct PtxReg PtxReg;
typedef struct PtxLabel PtxLabel;
typedef struct PtxInstr PtxInstr;
typedef struct PtxOperand PtxOperand;

// A source position that .loc gave.
typedef struct PtxLoc {
  uint32_t file, line, column;  // .loc file line column; file 0: none
  // inlined code: .loc … , function_name LABEL(+off), inlined_at file line col. Points at the .loc
  // of the call site.
  const struct PtxLoc *inlined_at;
  const char *function_label;  // label in .debug_str, NULL when not inlined
  int64_t function_offset;
  const char *function_name;  // resolved from .debug_str when present, else NULL
} PtxLoc;

struct PtxReg {
  const char *name;      // "%r12", unique in the function
  const char *original;  // … in the program, where it was renamed
  PtxType type;
  uint8_t vector;  // 0, 2 or 4 (.reg .v4 .f32)
  uint32_t id;     // index in PtxFunc.regs
};

typedef enum {
  LABEL_CODE,
  LABEL_BRANCHTARGETS,
  LABEL_CALLTARGETS,
  LABEL_CALLPROTOTYPE
} PtxLabelKind;
struct PtxLabel {
  const char *name;      // unique in the function
  const char *original;  // as in PtxReg
  PtxLabelKind kind;
  uint32_t id;    // index in PtxFunc.labels
  uint32_t stmt;  // index in PtxFunc.stmts of the statement that defines it
  PtxLabel **targets;
  uint32_t ntargets;  // LABEL_BRANCHTARGETS
  PtxFunc **call_targets;
  uint32_t ncall_targets;  // LABEL_CALLTARGETS
  PtxFunc *prototype;      // LABEL_CALLPROTOTYPE: params and returns only
};

typedef enum { LINK_NONE, LINK_VISIBLE, LINK_EXTERN, LINK_WEAK, LINK_COMMON } PtxLinkage;

// One initializer, flattened: bytes with relocations (addresses of variables and functions).
typedef struct PtxReloc {
  uint64_t offset;  // byte offset in the variable
  uint8_t size;     // 4 or 8; 1 for mask(sym) bytes
  PtxVar *var;
  PtxFunc *func;  // one of the two
  int64_t addend;
  bool generic;   // generic(sym)
  uint64_t mask;  // 0, or 0xff<<n as in 0xff00(sym)
} PtxReloc;

struct PtxVar {
  const char *name;
  const char *original;  // as in PtxReg
  PtxSpace space;
  PtxType type;
  uint8_t vector;  // 0, 2, 4, 8
  uint32_t align;  // effective alignment, never 0
  bool align_given;
  uint64_t dims[4];
  uint8_t ndims;  // dims[0]==0 with ndims>0: unsized ([])
  uint64_t size;  // bytes; 0 for unsized extern arrays
  PtxLinkage linkage;
  bool managed;  // .attribute(.managed)
  bool unified;
  uint64_t unified_ids[2];  // .attribute(.unified(a, b))
  // parameters only
  bool is_ptr;
  PtxSpace ptr_space;
  uint32_t ptr_align;     // .ptr .global .align 4
  PtxReg *reg;            // .reg parameters and returns (space SPACE_REG) of old code: the register
  uint64_t param_offset;  // byte offset in the parameter list, by the ABI's alignment rules
  // initializer; data NULL when there is none. data has `size` bytes, relocated words zero.
  uint8_t *init;
  PtxReloc *relocs;
  uint32_t nrelocs;
  // as written, for printing opaque objects (.texref {…}, .samplerref); else NULL
  const char *init_text;
  uint32_t id;    // index in PtxModule.vars, or PtxFunc.locals/params/returns
  PtxFunc *func;  // the function it is local to; NULL: module scope
  uint32_t ptx_line;
  void *user;  // for the pass that owns the module now
};

typedef enum PtxOperandKind {
  OPD_NONE,
  OPD_REG,    // reg
  OPD_INT,    // imm: decimal, hex, octal, binary, 0U; also constant expressions, folded
  OPD_FLOAT,  // imm: 0f… (is_double false, 32 bits) or 0d… / decimal float (is_double, 64 bits)
  OPD_SREG,   // sreg: special register, e.g. %tid.x; WARP_SZ is OPD_INT 32
  OPD_VAR,    // var (+ offset): address of a variable, or its name as operand of ld/st/tex/call
  OPD_FUNC,   // func
  OPD_LABEL,  // label: branch target, .branchtargets list, prototype …
  // [base + offset]: list[0] is the base (REG, VAR, INT); `imm` the offset; if nlist>1 the rest are
  // further bracket members, as in [tex, {x,y}] or [map, {c0,c1}]; reg_neg: [a + -b] kept as imm
  OPD_ADDR,
  OPD_VECTOR,  // {a, b, …}: list
  // a|b as in setp p|q and shfl d|p: list[0], list[1] (either may be OPD_SINK; list[0] a vector in
  // tex)
  OPD_PAIR,
  OPD_LIST,  // (a, b, …): call arguments or returns: list
  OPD_SINK,  // _
} PtxOperandKind;

typedef enum {
  SEL_NONE,
  SEL_X,
  SEL_Y,
  SEL_Z,
  SEL_W,
  SEL_B0,
  SEL_B1,
  SEL_B2,
  SEL_B3,
  SEL_H0,
  SEL_H1,
  // video: .b7654, .h10; the digits are in PtxOperand.lanes
  SEL_B_LANES,
  SEL_H_LANES
} PtxSelector;

typedef enum PtxSreg {
  SREG_NONE,
#define SREG(id, text, ...) SREG_##id,
#include "ptx/sregs.def"
  SREG_COUNT
} PtxSreg;
const char *ptx_sreg_name(PtxSreg s);  // "%tid"; .x/.y/.z/.w is the operand's selector
bool ptx_sreg_is_vector(PtxSreg s);    // %tid and its like: .x .y .z follow

struct PtxOperand {
  PtxOperandKind kind;
  PtxSelector selector;      // %v.x, %r.b0, %tid.x
  bool negated;              // !%p, and -%r in vmad
  bool is_double;            // OPD_FLOAT
  bool is_unsigned;          // OPD_INT written with U or too large for int64
  bool offset_given;         // OPD_VAR, OPD_ADDR: written [x+0]; ptxas -g makes other code of [x]
  uint8_t nlanes, lanes[4];  // SEL_B_LANES, SEL_H_LANES: the digits as written
  uint8_t nlist;             // up to 255; call lists too
  PtxSreg sreg;
  union {
    PtxReg *reg;
    PtxVar *var;
    PtxFunc *func;
    PtxLabel *label;
  };
  int64_t imm;  // OPD_INT value, OPD_FLOAT bits, OPD_VAR/OPD_ADDR byte offset
  PtxOperand *list;
};

// One instruction. Operands in the order written; destinations first as the manual has it.
// call is normalised: operands[0] = OPD_LIST returns (maybe empty), [1] = callee (FUNC or REG), [2]
// = OPD_LIST args (maybe empty), [3] = prototype/targets LABEL if given.
struct PtxInstr {
  PtxOp op;
  uint16_t form;  // index of the matching form in the table, set by ptx_verify; 0: not verified
  uint8_t nmods, nops;
  PtxMod *mods;  // in the order written, types included
  PtxOperand *ops;
  PtxReg *guard;
  bool guard_negated;  // @p / @!p; NULL: none
  // the type modifiers among mods, in order (cvt.rn.f32.s32: F32, S32)
  PtxType types[6];
  uint8_t ntypes;
  PtxSpace space;  // first state-space modifier; SPACE_GENERIC for ld/st/atom without one
  uint32_t ptx_line, ptx_column;  // of the opcode, 1-based
  const PtxLoc *loc;              // NULL without -lineinfo
};
bool ptx_has(const PtxInstr *in, PtxMod m);

// --- tables.c: the columns of ops.def ---
typedef enum PtxClass {
  CLASS_LOAD = 1 << 0,
  CLASS_STORE = 1 << 1,
  CLASS_ATOMIC = 1 << 2,
  CLASS_SYNC = 1 << 3,
  CLASS_BRANCH = 1 << 4,
  CLASS_RETURN = 1 << 5,
  CLASS_CALL = 1 << 6,
  CLASS_INT = 1 << 7,
  CLASS_FLOAT = 1 << 8,
  CLASS_COMPARE = 1 << 9,
  CLASS_SELECT = 1 << 10,
  CLASS_MOVE = 1 << 11,
  CLASS_CONVERT = 1 << 12,
  CLASS_WARP = 1 << 13,
  CLASS_TENSOR = 1 << 14,
  CLASS_TEXTURE = 1 << 15,
  CLASS_SURFACE = 1 << 16,
  CLASS_ASYNC = 1 << 17,
  CLASS_MEMFENCE = 1 << 18,
  CLASS_ADDRESS = 1 << 19,
  CLASS_HINT = 1 << 20
} PtxClass;
// Which file of the virtual device executes it. NONE: it is not executed.
typedef enum PtxFamily {
  FAMILY_NONE,
  FAMILY_ARITH_TYPED,  // the types choose: integers, f32, f64, halves
  FAMILY_ARITH_CARRY,
  FAMILY_ARITH_SPECIAL,
  FAMILY_ARITH_BITS,
  FAMILY_ARITH_LOGIC,
  FAMILY_ARITH_SETP,
  FAMILY_ARITH_SET,
  FAMILY_ARITH_SELECT,
  FAMILY_ARITH_MOV,
  FAMILY_ARITH_CVT,
  FAMILY_ARITH_CVT_PACK,
  FAMILY_ARITH_VIDEO,
  FAMILY_MEMORY,
  FAMILY_TEXTURE,
  FAMILY_WARP,
  FAMILY_MMA,
  FAMILY_CONTROL
} PtxFamily;
// How an instruction addresses memory. CLASS_LOAD, CLASS_STORE and CLASS_ATOMIC say what it does
// there.
typedef enum PtxMemory {
  MEMORY_NONE,
  MEMORY_SCALAR,      // each thread its own address, a scalar or a vector
  MEMORY_MATRIX,      // a warp: lanes give the addresses of rows
  MEMORY_TILE,        // a warp: one address and a stride
  MEMORY_COPY,        // global to shared, a few bytes, by an asynchronous copy
  MEMORY_BULK,        // a contiguous range, by the asynchronous proxy
  MEMORY_TENSOR,      // a box of a tensor map, by the asynchronous proxy
  MEMORY_DESCRIPTOR,  // operands of a matrix product, by a descriptor
  MEMORY_REMOTE,      // shared memory of another block, completed by an mbarrier there
  MEMORY_FILL,        // a contiguous range, set to a value
  MEMORY_MBARRIER,    // the 8 bytes of an mbarrier
  MEMORY_MULTIMEM,    // the same address on several devices
  MEMORY_TEXTURE,
  MEMORY_SURFACE,
  MEMORY_OTHER
} PtxMemory;
// Which accesses an opcode orders.
typedef enum PtxOrder {
  ORDER_NONE,
  ORDER_BLOCK,    // a barrier of a block
  ORDER_WARP,     // a barrier of lanes
  ORDER_LANES,    // lanes exchange values, which synchronises them
  ORDER_CLUSTER,  // a barrier of a cluster
  ORDER_GRID,     // between dependent grids
  ORDER_FENCE,
  ORDER_MBARRIER,    // initialisation, arrival, waiting
  ORDER_COMMIT,      // closes a group of asynchronous copies
  ORDER_WAIT,        // waits for such groups
  ORDER_WGMMA_WAIT,  // waits for matrix products
  ORDER_TCGEN05
} PtxOrder;
// Which bits of the result are uninitialised, given those of the operands.
typedef enum PtxValidity {
  VALIDITY_GOOD,     // none, whatever the operands are
  VALIDITY_NONE,     // there is no result in registers
  VALIDITY_MEMORY,   // those of the memory that is read
  VALIDITY_ALL,      // all, if one bit of an operand is
  VALIDITY_SUM,      // those of the operands and every bit above
  VALIDITY_COPY,     // those of the operand, also in parts
  VALIDITY_AND,      // not where one operand has an initialised 0
  VALIDITY_OR,       // not where one operand has an initialised 1
  VALIDITY_XOR,      // those of all operands
  VALIDITY_TABLE,    // lop3: not where the initialised operands alone decide
  VALIDITY_COMPARE,  // of integers: not where the initialised bits alone decide
  VALIDITY_SHIFT,
  VALIDITY_CONVERT,
  VALIDITY_SELECT,
  VALIDITY_PERMUTE,  // the instruction itself, applied to the shadows of its operands
  VALIDITY_SHUFFLE,  // those of another lane
  VALIDITY_VOTE,
  VALIDITY_REDUCE,
  VALIDITY_TRANSPOSE  // movmatrix: those of other lanes' halves
} PtxValidity;
// What the integer forms compute. A value computed from an address may itself be an address.
typedef enum PtxResult {
  RESULT_NONE,
  RESULT_COPY,     // the operand
  RESULT_ADDRESS,  // cvta: the operand, as an address of another space
  RESULT_CONVERT,  // the operand in another type
  RESULT_LOAD,     // from memory
  RESULT_ADD,
  RESULT_SUB,
  RESULT_MUL,
  RESULT_MAD,
  RESULT_MUL24,
  RESULT_MAD24,
  RESULT_DIV,
  RESULT_REM,
  RESULT_MIN,
  RESULT_MAX,
  RESULT_NEG,
  RESULT_AND,
  RESULT_OR,
  RESULT_XOR,
  RESULT_NOT,
  RESULT_SHL,
  RESULT_SHR,
  RESULT_SELECT,  // one of the two operands
  RESULT_COUNT,   // of bits: from 0 to 64
  RESULT_FIELD,   // bfe: bits of the operand
  RESULT_NUMBER   // some other number, and no address
} PtxResult;
typedef enum PtxException {
  EXCEPTION_NONE = 0,
  EXCEPTION_NAN = 1 << 0,
  EXCEPTION_INF = 1 << 1,
  EXCEPTION_SUBNORMAL = 1 << 2,
  EXCEPTION_DIV0 = 1 << 3
} PtxException;
// INT or FLOAT by the instruction's type where the opcode has both
unsigned ptx_op_classes(const PtxInstr *in);
PtxFamily ptx_op_family(PtxOp op);
bool ptx_op_is_arith(PtxOp op);  // one of the families ARITH_…
PtxMemory ptx_op_memory(PtxOp op);
PtxOrder ptx_op_order(PtxOp op);
PtxValidity ptx_op_validity(PtxOp op);
PtxResult ptx_op_result(PtxOp op);
unsigned ptx_op_defs(PtxOp op);        // how many of the first operands are written
unsigned ptx_op_exceptions(PtxOp op);  // PtxException, of the floating-point forms
unsigned ptx_op_sm(PtxOp op);          // first architecture: 80; 0: all
// --- forms.c: the lines of forms.def, from 1 on as in PtxInstr.form; NULL past the end ---
typedef struct PtxForm {
  PtxOp op;
  const char *mods, *operands;
} PtxForm;
const PtxForm *ptx_form(uint32_t index);

// --- visit.c ---
// How an instruction uses its registers: calls f for every register operand, addresses, vectors and
// the guard included.
typedef void PtxRegVisitor(void *ctx, PtxReg **reg, bool is_def);
void ptx_visit_regs(PtxInstr *in, PtxRegVisitor *f, void *ctx);
// Sets PtxLabel.stmt of all labels, after the statements of f have changed.
void ptx_number_labels(PtxFunc *f);

typedef enum PtxStmtKind {
  STMT_INSTR,
  STMT_LABEL,
  STMT_VAR,
  STMT_REGS,
  STMT_SCOPE_BEGIN,
  STMT_SCOPE_END,
  STMT_LOC,
  STMT_PRAGMA,
  STMT_DIRECTIVE  // any other directive inside a body, kept as text
} PtxStmtKind;
typedef struct PtxStmt {
  PtxStmtKind kind;
  union {
    PtxInstr *instr;
    PtxLabel *label;  // code labels, and .branchtargets/.calltargets/.callprototype definitions
    PtxVar *var;      // .local, .shared, .param, … declared in the body
    // .reg declarations: `count` consecutive PtxRegs of one type
    struct {
      PtxReg *first;
      uint32_t count;
    } regs;
    const PtxLoc *loc;
    const char *text;  // STMT_PRAGMA: the string; STMT_DIRECTIVE
  };
} PtxStmt;

typedef struct PtxDim3 {
  uint32_t x, y, z;
  bool given;
} PtxDim3;

struct PtxFunc {
  const char *name;
  bool is_entry, is_declaration;  // declaration: no body
  PtxLinkage linkage;
  // .func (.param .b32 r) name; may be .reg in old code: then space SPACE_REG
  PtxVar **returns;
  uint32_t nreturns;
  PtxVar **params;
  uint32_t nparams;
  uint32_t param_bytes;  // kernels: size of the whole parameter buffer
  bool noreturn;
  PtxDim3 maxntid, reqntid, reqnctapercluster;
  uint32_t minnctapersm, maxnctapersm, maxnreg, maxclusterrank;
  bool explicitcluster, blocksareclusters;
  // performance directives as written, in order, for printing
  const char **directives;
  uint32_t ndirectives;
  const char **pragmas;
  uint32_t npragmas;
  const char *attribute;  // .attribute(…) as written, or NULL
  const char *alias_of;
  PtxStmt *stmts;
  uint32_t nstmts;  // the body, in order
  PtxReg **regs;
  uint32_t nregs;  // every register of the body, all scopes
  PtxLabel **labels;
  uint32_t nlabels;
  PtxVar **locals;
  uint32_t nlocals;  // variables declared in the body, all scopes
  uint32_t id;       // index in PtxModule.funcs
  uint32_t ptx_line, ptx_end_line;
  PtxModule *module;
  void *user;
};

typedef struct PtxFile {
  uint32_t index;
  const char *path;
  uint64_t mtime, size;
  bool has_stamp;
} PtxFile;

typedef enum {
  ITEM_VAR,
  ITEM_FUNC,
  ITEM_FILE,
  ITEM_SECTION,
  ITEM_PRAGMA,
  ITEM_ALIAS,
  ITEM_LOC,
  ITEM_DIRECTIVE
} PtxItemKind;
typedef struct PtxItem {  // module-level things in the order written
  PtxItemKind kind;
  union {
    PtxVar *var;
    PtxFunc *func;
    PtxFile *file;
    const char *text;  // ITEM_SECTION, ITEM_PRAGMA, ITEM_DIRECTIVE: whole text as written
    struct {
      const char *alias, *target;
    } alias;
  };
  // ITEM_SECTION: words of the text that name code labels, and bytes that encode the name of a
  // register (its letters as a DWARF register number); the printer writes their present names. A
  // register's must keep its length.
  struct PtxSectionRef {
    uint32_t offset, length;
    PtxLabel *label;
    PtxReg *reg;
  } * refs;
  uint32_t nrefs;
} PtxItem;

struct PtxModule {
  Arena arena;
  const char *name;  // for messages: file name or image name
  const char *text;
  size_t text_len;  // the text parsed (a copy in the arena)
  uint32_t version_major, version_minor;
  const char *target;  // "sm_90a, debug" as written
  uint32_t sm;         // 90
  char sm_suffix;      // 0, 'a' or 'f'
  bool debug, texmode_independent;
  uint32_t address_size;  // 64 or 32
  bool address_size_given;
  PtxItem *items;
  uint32_t nitems;
  PtxVar **vars;
  uint32_t nvars;  // module scope
  PtxFunc **funcs;
  uint32_t nfuncs;  // one per name: a definition replaces its declaration
  PtxFile **files;
  uint32_t nfiles;
  StrMap symbols;  // name -> PtxItem-like: use ptx_find_var / ptx_find_func
  struct PtxFramePart *parts;
  uint32_t nparts;
  bool knows_parts;  // parts is filled; read it by ptx_frame_part
};

// --- parse_module.c: returns NULL and a message with line, column, the line's text and a caret on
// error. ---
PtxModule *ptx_parse(const char *text, size_t len, const char *name, Error *err);
void ptx_free(PtxModule *m);
PtxVar *ptx_find_var(const PtxModule *m, const char *name);
PtxFunc *ptx_find_func(const PtxModule *m, const char *name);
const char *ptx_file_path(const PtxModule *m, uint32_t index);  // NULL if unknown

// --- frames.c: finds the variable that begins at an offset of a frame of local memory. Needs the
// debug information of unoptimised code; NULL: no variable is known to begin there. ---
typedef struct PtxFramePart {
  const char *frame;
  uint64_t offset;
  PtxVar *var;
} PtxFramePart;
const PtxVar *ptx_frame_part(PtxModule *m, const PtxVar *frame, uint64_t offset);

// All variables in frames, from the text of a module. type: of an element, "": not known; dims: of
// an array, "4,8". Variables that overlap others are left out.
typedef struct PtxFrameVariable {
  char frame[128], name[128], type[160], dims[64];
  uint64_t offset, bytes;
} PtxFrameVariable;
typedef VEC(PtxFrameVariable) PtxFrameVariables;
void ptx_frame_variables(const char *text, PtxFrameVariables *out);

// --- verifier.c: every instruction matches a form of the table; operands, types, labels, scopes
// agree. ---
bool ptx_verify(PtxModule *m, Error *err);
// Verifies only instructions that have no form yet: those that passes added or changed since.
bool ptx_verify_new(PtxModule *m, Error *err);
// Puts "name:line:column: error: …", the source line and a caret into err.
bool ptx_error_at(Error *err, const PtxModule *m, uint32_t line, uint32_t column, const char *fmt,
                  ...) PRINTF_LIKE(5, 6);

// --- printer.c ---
void ptx_print(const PtxModule *m, Str *out);
void ptx_print_instr(const PtxInstr *in, Str *out);  // one line, no newline
void ptx_show_instr(const PtxInstr *in, Str *out);  // … with the names of the program: for messages
// Gives a register, label or variable another name.
#define PTX_RENAME(x, new_name) \
  ((x)->original = (x)->original ? (x)->original : (x)->name, (x)->name = (new_name))

// --- rename.c: gives every register and label a new name (the fidelity test). ---
void ptx_rename_all(PtxModule *m);

#endif
