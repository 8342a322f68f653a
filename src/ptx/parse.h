// Internals of the parser, shared by lexer.c, symbols.c and parse_*.c.
#ifndef WG_PTX_PARSE_H
#define WG_PTX_PARSE_H

#include <setjmp.h>

#include "ptx/ptx.h"

// --- tables.c ---
typedef enum { KEYWORD_OP, KEYWORD_MOD, KEYWORD_SREG } PtxKeywordKind;
// 0: none
unsigned ptx_keyword(PtxKeywordKind kind, const char *text, uint32_t len, uint32_t hash,
                     bool *longer);
PtxSpace ptx_mod_space(PtxMod m);

#define PTX_HASH_SEED 2166136261u
#define PTX_HASH_STEP(h, c) (((h) ^ (unsigned char)(c)) * 16777619u)
static inline uint32_t ptx_hash_word(const char *s, size_t n) {
  uint32_t h = PTX_HASH_SEED;
  for (size_t i = 0; i < n; i++) h = PTX_HASH_STEP(h, s[i]);
  return h;
}

// --- lexer.c ---
typedef enum { TOK_EOF, TOK_IDENT, TOK_DOT, TOK_NUMBER, TOK_STRING, TOK_PUNCT } TokenKind;
enum { P_SHL = 256, P_SHR, P_LE, P_GE, P_EQ, P_NE, P_AND, P_OR };  // punctuation of two characters
typedef enum { NUM_S64, NUM_U64, NUM_F32, NUM_F64 } NumberKind;
typedef struct Token {
  TokenKind kind;
  int punct;  // TOK_PUNCT: the character, or P_…
  const char *at;
  uint32_t len;  // TOK_DOT: the dot included; TOK_STRING: without quotes
  uint32_t line;
  uint32_t hash;  // TOK_IDENT, TOK_DOT
  // TOK_IDENT: the name without the digits it ends in, and the number they make: "%r12" is
  // "%r", 12.
  uint32_t prefix_len, prefix_hash, suffix;
  bool has_suffix;
  NumberKind number;
  uint64_t bits;
} Token;

// --- symbols.c: names of one function body, with scopes ---
typedef enum { SYM_REG, SYM_RANGE, SYM_VAR, SYM_LABEL } SymKind;
typedef struct Sym {
  SymKind kind;
  uint32_t scope, name, count;  // count: SYM_RANGE, registers first[0..count)
  int32_t outer;                // the symbol of that name it hides, -1: none
  union {
    PtxReg *reg;
    PtxVar *var;
    PtxLabel *label;
  };
} Sym;
typedef struct Name {
  const char *text;
  uint32_t len, hash;
  int32_t top;
  uint32_t taken;
  uint64_t range_count;
} Name;
typedef struct Symbols {
  VEC(Name) names;            // every identifier declared or asked for in this function
  VEC(Sym) syms;              // the symbols of the open scopes, as a stack
  uint32_t *slots, nslots;    // hash of names, index + 1
  VEC(uint32_t) scope_start;  // syms.len at the beginning of each open scope
  uint32_t digit_prefixes;    // ranges like x1<4>, whose names can be cut in two ways
  // registers like %r5 declared one by one: then prefix lookup alone is not enough
  uint32_t single_numbered;
} Symbols;
#define RANGE_HASH(h) \
  ((h) ^ 0x5bd1e995u)  // the prefix "%r" of %r<9> and the single name "%r" are different Names
void symbols_reset(Symbols *s);
void symbols_free(Symbols *s);
void symbols_open(Symbols *s);
void symbols_close(Symbols *s);
uint32_t symbols_depth(const Symbols *s);
uint32_t symbols_name(Symbols *s, const char *text, uint32_t len, uint32_t hash);
// The innermost symbol of that name; *index: the register's place in a range.
Sym *symbols_find(Symbols *s, const Token *t, uint32_t *index);
// count: registers of a range, 0 for others. NULL: already declared in this scope.
Sym *symbols_declare(Symbols *s, SymKind kind, uint32_t name, uint32_t count);
// A spelling no register or label of this function has had yet: `text` itself, or with a number
// appended.
const char *symbols_unique(Symbols *s, Arena *a, uint32_t name);
const char *symbols_unique_prefix(Symbols *s, Arena *a, uint32_t name, uint64_t count);

// module scope, in PtxModule.symbols
typedef struct Symbol {
  PtxVar *var;
  PtxFunc *func;
  uint32_t item;
} Symbol;

typedef struct PendingLabel {
  PtxLabel **slot;
  uint32_t name;
  Token tok;
  bool is_branch;
} PendingLabel;
typedef struct Parser {
  PtxModule *m;
  Arena *arena;
  const char *p, *end;
  uint32_t line;         // the next character
  const char *bol;       // where its line begins
  const char *last_end;  // where the token before the current one ends
  Token tok;             // the current token
  Error *err;
  jmp_buf fail;
  Symbols syms;
  PtxFunc *func;
  const PtxLoc *loc;
  bool in_line_0;
  VEC(PendingLabel) pending;
  VEC(uint32_t) pending_start;
  VEC(PtxStmt) stmts;
  VEC(PtxReg *) regs;
  VEC(PtxLabel *) labels;
  VEC(PtxVar *) locals;
  VEC(PtxItem) items;
  VEC(PtxVar *) vars;
  VEC(PtxFunc *) funcs;
  VEC(PtxFile *) files;
  VEC(PtxLoc *) inlined_locs;  // those whose function_name waits for .debug_str
  U64Map locs;                 // file, line, column -> last PtxLoc
  // place and inlined function -> the PtxLoc of the place that the function's .loc last followed
  U64Map chains;
  const PtxLoc *last_loc;
  VEC(PtxReloc) relocs;
  VEC(const char *) texts;  // the directives of the function being read
  VEC(PtxVar *) list;       // the parameter list being read
  // the .calltargets being read; kept here because parse_fail jumps past its reader
  VEC(PtxFunc *) callees;
  uint64_t reg_budget, init_budget;  // what hostile input may still make us allocate
  unsigned depth;                    // nesting of expressions and braces
} Parser;

void ptx_lex(Parser *ps);  // moves to the next token
_Noreturn void parse_fail(Parser *ps, const Token *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
const char *token_describe(Parser *ps, const Token *t);  // for messages: "'add'" or "end of file"
static inline bool is_punct(const Parser *ps, int c) {
  return ps->tok.kind == TOK_PUNCT && ps->tok.punct == c;
}
static inline bool accept(Parser *ps, int c) {
  if (!is_punct(ps, c)) return false;
  ptx_lex(ps);
  return true;
}
void expect(Parser *ps, int c, const char *where);
bool is_word(const Token *t, const char *text);  // an identifier or .word with this spelling
bool accept_word(Parser *ps, const char *text);
const char *token_text(Parser *ps, const Token *t);  // a copy in the arena
const char *expect_ident(Parser *ps, const char *what);
const char *text_between(Parser *ps, const char *from, const char *to);  // trimmed copy
#define VEC_TO_ARENA(ps, v) \
  ((v)->len ? memcpy(arena_alloc((ps)->arena, (v)->len * sizeof *(v)->data), (v)->data, \
                     (v)->len * sizeof *(v)->data) \
            : NULL)
void parse_enter(Parser *ps);  // counts nesting, fails when it is absurd
static inline void parse_leave(Parser *ps) { ps->depth--; }

// --- parse_expr.c ---
typedef struct Number {
  NumberKind kind;
  uint64_t bits;
} Number;
Number parse_constant(Parser *ps);  // a constant expression
int64_t parse_int_constant(Parser *ps, const char *what);
uint64_t parse_bounded(Parser *ps, const char *what, uint64_t max);
uint64_t number_as(Parser *ps, Number n, PtxType t);  // the bits of n as a value of type t

// --- parse_operand.c ---
void parse_operand(Parser *ps, PtxOp op, PtxOperand *o);
void parse_call_operands(Parser *ps, PtxOperand *ops, uint8_t *nops);
void pend_label(Parser *ps, const Token *t, PtxLabel **slot, bool is_branch);
Symbol *find_module_symbol(Parser *ps, const Token *t);

// --- parse_instr.c ---
PtxInstr *parse_instr(Parser *ps);

// --- parse_var.c, parse_init.c ---
typedef struct Decl {
  PtxSpace space;
  PtxType type;
  PtxVar proto;
} Decl;
void parse_decl_head(Parser *ps, Decl *d);                              // .space .align … .type
PtxVar *parse_declarator(Parser *ps, const Decl *d, const char *name);  // [dims]
void parse_initializer(Parser *ps, PtxVar *v);                          // after '='
void parse_reg_decl(Parser *ps);

// --- parse_function.c ---
void parse_function(Parser *ps, PtxLinkage linkage);

// --- parse_debug.c ---
const PtxLoc *parse_loc(Parser *ps);
void parse_file(Parser *ps);
void parse_section(Parser *ps);
void resolve_debug(Parser *ps);  // function names and label references, at the end

#endif
