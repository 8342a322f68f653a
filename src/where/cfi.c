// Reads one row of a function's call frame information (.eh_frame), reduced to the rules for the
// stack and the frame pointer. Reads the tables of loaded objects in place; every read is bounded
// by the length of its entry. The format: DWARF 5, 6.4, and "Exception Frames" of the Linux
// Standard Base.
#include "base/reading.h"
#include "where/internal.h"

#if defined(__x86_64__)
enum { REG_FP = 6, REG_SP = 7 };
#elif defined(__aarch64__)
enum { REG_FP = 29, REG_SP = 31 };
#endif

enum {
  PE_OMIT = 0xff,
  PE_SIZE = 0x0f,
  PE_APPLY = 0x70,
  PE_PCREL = 0x10,
  PE_DATAREL = 0x30,
  PE_INDIRECT = 0x80
};

static int64_t read_sleb(Reading *r) {
  uint64_t v = 0;
  for (unsigned shift = 0;;) {
    uint64_t b = reading_number(r, 1);
    if (shift < 64) v |= (b & 127) << shift;
    shift += 7;
    if (!(b & 128)) return (int64_t)(shift < 64 && (b & 64) ? v | ~0ull << shift : v);
  }
}

static uint64_t read_encoded(Reading *r, uint8_t enc) {
  uint64_t at = (uint64_t)(uintptr_t)r->at, v;
  switch (enc & PE_SIZE) {
    case 0x00:
    case 0x04:
    case 0x0c: v = reading_number(r, 8); break;
    case 0x01: v = reading_uleb(r); break;
    case 0x02: v = reading_number(r, 2); break;
    case 0x03: v = reading_number(r, 4); break;
    case 0x09: v = (uint64_t)read_sleb(r); break;
    case 0x0a: v = (uint64_t)(int64_t)(int16_t)reading_number(r, 2); break;
    case 0x0b: v = (uint64_t)(int64_t)(int32_t)reading_number(r, 4); break;
    default: r->bad = true; return 0;
  }
  if ((enc & PE_APPLY) == PE_PCREL) v += at;
  else if (enc & PE_APPLY) r->bad = true;
  return v;
}

typedef struct Cie {
  uint64_t code_align, ra_reg;
  int64_t data_align;
  uint8_t pc_encoding;
  bool sized, signal;
  Reading code;
} Cie;

// Opens the entry at `p`: its contents after the length, bounded.
static bool open_entry(const uint8_t *p, Reading *r) {
  uint32_t len;
  memcpy(&len, p, 4);
  if (len == 0 || len == 0xffffffff) return false;  // no 64-bit entries in any object we have met
  *r = (Reading){p + 4, p + 4 + len, false};
  return true;
}

static bool read_cie(const uint8_t *p, Cie *c) {
  Reading r;
  if (!open_entry(p, &r) || reading_number(&r, 4) != 0) return false;
  uint8_t version = (uint8_t)reading_number(&r, 1);
  const char *augmentation = (const char *)r.at;
  while (!r.bad && reading_number(&r, 1) != 0) continue;
  if (r.bad || (version != 1 && version != 3)) return false;
  *c = (Cie){.pc_encoding = 0};
  c->code_align = reading_uleb(&r);
  c->data_align = read_sleb(&r);
  c->ra_reg = version == 1 ? reading_number(&r, 1) : reading_uleb(&r);
  if (augmentation[0] == 'z') {
    c->sized = true;
    uint64_t n = reading_uleb(&r);
    const uint8_t *after = r.at + n;
    if (r.bad || n > (uint64_t)(r.end - r.at)) return false;
    for (const char *a = augmentation + 1; *a; a++) {
      if (*a == 'R') c->pc_encoding = (uint8_t)reading_number(&r, 1);
      else if (*a == 'P') {  // the personality routine: nothing to us
        uint8_t enc = (uint8_t)reading_number(&r, 1);
        read_encoded(&r, enc & PE_SIZE);
      } else if (*a == 'L') reading_skip(&r, 1);
      else if (*a == 'S') c->signal = true;
      else if (*a != 'B')
        break;  // B: return addresses are signed; the walk removes signatures always
    }
    r.at = after;
  } else if (augmentation[0]) return false;
  c->code = r;
  return !r.bad;
}

typedef enum { SAVED_NOT, SAVED_AT_CFA, SAVED_AT_FP, SAVED_UNDEFINED, SAVED_ODD } Saved;
typedef struct Row {
  CfaKind cfa;
  int64_t cfa_offset;
  Saved fp, ra;
  int64_t fp_offset, ra_offset;
} Row;

// The expressions compilers write for realigned stacks: a register plus an offset, perhaps what is
// stored there.
static bool simple_expression(Reading *r, uint64_t *reg, int64_t *offset, bool *deref) {
  uint64_t n = reading_uleb(r);
  if (r->bad || n > (uint64_t)(r->end - r->at)) {
    r->bad = true;
    return false;
  }
  Reading e = {r->at, r->at + n, false};
  r->at += n;
  uint64_t op = reading_number(&e, 1);
  if (op < 0x70 || op > 0x8f) return false;  // DW_OP_breg0…31
  *reg = op - 0x70;
  *offset = read_sleb(&e);
  *deref = e.at < e.end && *e.at == 0x06;  // DW_OP_deref
  if (*deref) e.at++;
  return !e.bad && e.at == e.end;
}

static void set_cfa_register(Row *row, uint64_t reg) {
  row->cfa = reg == REG_SP ? CFA_SP : reg == REG_FP ? CFA_FP : CFA_UNKNOWN;
}

static void set_saved(Row *row, const Cie *c, uint64_t reg, Saved how, int64_t offset) {
  if (reg == REG_FP) {
    row->fp = how;
    row->fp_offset = offset;
  }
  if (reg == c->ra_reg) {
    row->ra = how;
    row->ra_offset = offset;
  }
}

static void restore(Row *row, const Cie *c, uint64_t reg, const Row *initial) {
  if (reg == REG_FP) {
    row->fp = initial->fp;
    row->fp_offset = initial->fp_offset;
  }
  if (reg == c->ra_reg) {
    row->ra = initial->ra;
    row->ra_offset = initial->ra_offset;
  }
}

// Instructions that define the CFA. false: it is none of them.
static bool define_cfa(uint8_t op, const Cie *c, Reading *r, Row *row) {
  uint64_t reg;
  int64_t offset;
  bool deref;
  switch (op) {
    case 0x0c:  // def_cfa
      set_cfa_register(row, reading_uleb(r));
      row->cfa_offset = (int64_t)reading_uleb(r);
      return true;
    case 0x0d: set_cfa_register(row, reading_uleb(r)); return true;      // def_cfa_register
    case 0x0e: row->cfa_offset = (int64_t)reading_uleb(r); return true;  // def_cfa_offset
    case 0x0f:                                                           // def_cfa_expression
      row->cfa = CFA_UNKNOWN;
      if (simple_expression(r, &reg, &offset, &deref) && (reg == REG_FP || !deref)) {
        set_cfa_register(row, reg);
        if (deref) row->cfa = CFA_AT_FP;
        row->cfa_offset = offset;
      }
      return true;
    case 0x12:  // def_cfa_sf
      set_cfa_register(row, reading_uleb(r));
      row->cfa_offset = read_sleb(r) * c->data_align;
      return true;
    case 0x13: row->cfa_offset = read_sleb(r) * c->data_align; return true;  // def_cfa_offset_sf
    default: return false;
  }
}

// Instructions that say where a register was saved. false: it is none of them.
static bool define_saved(uint8_t op, const Cie *c, Reading *r, Row *row, const Row *initial) {
  uint64_t reg, base;
  int64_t offset;
  bool deref;
  if (op < 0x05 || (op > 0x09 && op < 0x10) || op > 0x16 || op == 0x12 || op == 0x13) return false;
  reg = reading_uleb(r);
  switch (op) {
    case 0x05:  // offset_extended
      set_saved(row, c, reg, SAVED_AT_CFA, (int64_t)reading_uleb(r) * c->data_align);
      return true;
    case 0x06: restore(row, c, reg, initial); return true;               // restore_extended
    case 0x07: set_saved(row, c, reg, SAVED_UNDEFINED, 0); return true;  // undefined
    case 0x08: set_saved(row, c, reg, SAVED_NOT, 0); return true;        // same_value
    case 0x10:                                                           // expression
      if (simple_expression(r, &base, &offset, &deref) && base == REG_FP && !deref)
        set_saved(row, c, reg, SAVED_AT_FP, offset);
      else set_saved(row, c, reg, SAVED_ODD, 0);
      return true;
    case 0x11:  // offset_extended_sf
      set_saved(row, c, reg, SAVED_AT_CFA, read_sleb(r) * c->data_align);
      return true;
    case 0x16: reading_skip(r, reading_uleb(r)); break;  // val_expression
    default: reading_uleb(r);                            // register, val_offset, val_offset_sf
  }
  set_saved(row, c, reg, SAVED_ODD, 0);
  return true;
}

// Instructions that advance the location; false: it is none of them.
static bool advance_location(uint8_t op, const Cie *c, Reading *r, uint64_t *loc) {
  if ((op & 0xc0) == 0x40) *loc += (op & 63) * c->code_align;
  else if (op == 0x01) *loc = read_encoded(r, c->pc_encoding);  // set_loc
  else if (op == 0x02) *loc += reading_number(r, 1) * c->code_align;
  else if (op == 0x03) *loc += reading_number(r, 2) * c->code_align;
  else if (op == 0x04) *loc += reading_number(r, 4) * c->code_align;
  else return false;
  return true;
}

// Runs instructions up to the row of `pc`. initial NULL: these are the CIE's own.
static bool run_instructions(const Cie *c, Reading r, uint64_t loc, uint64_t pc, Row *row,
                             const Row *initial) {
  enum { DEPTH = 8 };
  Row stack[DEPTH];
  unsigned depth = 0;
  Row none = {.cfa = CFA_UNKNOWN};
  if (!initial) initial = &none;
  while (r.at < r.end && !r.bad) {
    uint8_t op = (uint8_t)reading_number(&r, 1);
    if (advance_location(op, c, &r, &loc)) {
      if (loc > pc) return !r.bad;
    } else if ((op & 0xc0) == 0x80) {  // offset
      set_saved(row, c, op & 63, SAVED_AT_CFA, (int64_t)reading_uleb(&r) * c->data_align);
    } else if ((op & 0xc0) == 0xc0) {
      restore(row, c, op & 63, initial);
    } else if (op == 0x0a) {  // remember_state
      if (depth == DEPTH) return false;
      stack[depth++] = *row;
    } else if (op == 0x0b) {  // restore_state
      if (depth == 0) return false;
      *row = stack[--depth];
    } else if (op == 0x2e) {  // GNU_args_size
      reading_uleb(&r);
    } else if (op != 0x00 && op != 0x2d && !define_cfa(op, c, &r, row) &&  // nop, negate_ra_state
               !define_saved(op, c, &r, row, initial)) {
      return false;
    }
  }
  return !r.bad;
}

// Finds the entry of the function that holds pc, in the sorted table that every linker writes
// (offsets of 4 bytes).
static const uint8_t *find_fde(const UnwindObject *o, uint64_t pc) {
  const uint8_t *hdr = o->eh_frame_hdr;
  enum { HDR_TABLE = PE_DATAREL | 0x0b };
  if (!hdr || hdr[0] != 1 || hdr[2] != 0x03 || hdr[3] != HDR_TABLE || (hdr[1] & PE_SIZE) != 0x0b)
    return NULL;
  uint32_t n;
  memcpy(&n, hdr + 8, 4);
  const uint8_t *table = hdr + 12;
  int64_t want = (int64_t)(pc - (uint64_t)(uintptr_t)hdr);
  uint32_t lo = 0, hi = n;  // the last entry that starts at or below pc
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    int32_t start;
    memcpy(&start, table + (size_t)mid * 8, 4);
    if (start <= want) lo = mid + 1;
    else hi = mid;
  }
  if (lo == 0) return NULL;
  int32_t at;
  memcpy(&at, table + (size_t)(lo - 1) * 8 + 4, 4);
  const uint8_t *fde = hdr + at;
  return (uint64_t)(uintptr_t)fde >= o->start && (uint64_t)(uintptr_t)fde < o->end ? fde : NULL;
}

static bool fits(int64_t v) { return v > INT32_MIN && v < INT32_MAX; }

bool cfi_find_rule(const UnwindObject *o, uint64_t pc, UnwindRule *out) {
  const uint8_t *fde = find_fde(o, pc);
  Reading r;
  Cie c;
  if (!fde || !open_entry(fde, &r)) return false;
  const uint8_t *id = r.at;
  uint64_t back = reading_number(&r, 4);
  if (back == 0 || back > (uint64_t)((uintptr_t)id - o->start) || !read_cie(id - back, &c) ||
      c.signal)
    return false;
  uint64_t start = read_encoded(&r, c.pc_encoding);
  uint64_t length = read_encoded(&r, c.pc_encoding & PE_SIZE);
  if (r.bad || (c.pc_encoding & PE_INDIRECT) || pc < start || pc - start >= length) return false;
  if (c.sized) reading_skip(&r, reading_uleb(&r));
  Row row = {.cfa = CFA_UNKNOWN}, initial;
  if (r.bad || !run_instructions(&c, c.code, 0, UINT64_MAX, &row, NULL)) return false;
  initial = row;
  if (!run_instructions(&c, r, start, pc, &row, &initial)) return false;
  *out = (UnwindRule){.cfa = row.cfa, .ra = RA_AT_CFA};
  if (row.ra == SAVED_UNDEFINED) {
    out->ra = RA_NONE;
    return true;
  }
  // Every function on a walk has made a call, and so has saved its return address: otherwise the
  // row is unusable.
  if (row.ra != SAVED_AT_CFA || row.cfa == CFA_UNKNOWN || !fits(row.cfa_offset) ||
      !fits(row.ra_offset) || !fits(row.fp_offset))
    return false;
  out->cfa_offset = (int32_t)row.cfa_offset;
  out->ra_offset = (int32_t)row.ra_offset;
  out->fp_offset = (int32_t)row.fp_offset;
  out->fp = row.fp == SAVED_AT_CFA ? FP_AT_CFA : row.fp == SAVED_AT_FP ? FP_AT_FP : FP_SAME;
  return true;
}
