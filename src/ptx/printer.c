// PTX text from the parsed form: instructions, statements, functions, modules.
#include "ptx/print.h"

static void print_uint(Str *out, uint64_t v) {
  char digits[24];
  int k = sizeof digits;
  do digits[--k] = (char)('0' + v % 10);
  while (v /= 10);
  str_addn(out, digits + k, sizeof digits - (size_t)k);
}

void print_int(Str *out, int64_t v, bool is_unsigned) {
  if (!is_unsigned && v < 0) {
    str_addc(out, '-');
    print_uint(out, -(uint64_t)v);
  } else {
    print_uint(out, (uint64_t)v);
  }
}

static void print_offset(Str *out, int64_t offset, bool given) {
  if (!offset && !given) return;
  if (offset >= 0) str_addc(out, '+');
  else str_add(out, "+-");
  print_uint(out, offset >= 0 ? (uint64_t)offset : -(uint64_t)offset);
}

void print_hex(Str *out, const char *prefix, uint64_t bits, int digits) {
  static const char hex[] = "0123456789ABCDEF";
  str_add(out, prefix);
  for (int i = digits - 1; i >= 0; i--) str_addc(out, hex[bits >> 4 * i & 15]);
}

typedef enum { NAMES_NOW, NAMES_ORIGINAL } Names;

static void operand(const PtxOperand *o, Names names, Str *out);
static void operands(const PtxOperand *list, unsigned n, Names names, Str *out) {
  for (unsigned i = 0; i < n; i++) {
    if (i) str_add(out, ", ");
    operand(&list[i], names, out);
  }
}

#define NAME(x) (names == NAMES_ORIGINAL && (x)->original ? (x)->original : (x)->name)

static void operand(const PtxOperand *o, Names names, Str *out) {
  static const char *const selectors[] = {"",    ".x",  ".y",  ".z",  ".w", ".b0",
                                          ".b1", ".b2", ".b3", ".h0", ".h1"};
  if (o->negated) str_addc(out, o->kind == OPD_REG && o->reg->type != TYPE_PRED ? '-' : '!');
  switch (o->kind) {
    case OPD_NONE: break;
    case OPD_REG: str_add(out, NAME(o->reg)); break;
    case OPD_INT:
      print_int(out, o->imm, o->is_unsigned);
      if (o->is_unsigned) str_addc(out, 'U');
      break;
    case OPD_FLOAT:
      if (o->is_double) print_hex(out, "0d", (uint64_t)o->imm, 16);
      else print_hex(out, "0f", (uint64_t)o->imm, 8);
      break;
    case OPD_SREG: str_add(out, ptx_sreg_name(o->sreg)); break;
    case OPD_VAR:
      str_add(out, NAME(o->var));
      print_offset(out, o->imm, o->offset_given);
      break;
    case OPD_FUNC: str_add(out, o->func->name); break;
    case OPD_LABEL: str_add(out, NAME(o->label)); break;
    case OPD_ADDR:
      str_addc(out, '[');
      if (o->nlist) {
        operand(&o->list[0], names, out);
        print_offset(out, o->imm, o->offset_given);
        if (o->nlist > 1) {
          str_add(out, ", ");
          operands(o->list + 1, o->nlist - 1u, names, out);
        }
      }
      str_addc(out, ']');
      break;
    case OPD_VECTOR:
      str_addc(out, '{');
      operands(o->list, o->nlist, names, out);
      str_addc(out, '}');
      break;
    case OPD_PAIR:
      operand(&o->list[0], names, out);
      str_addc(out, '|');
      operand(&o->list[1], names, out);
      break;
    case OPD_LIST:
      str_addc(out, '(');
      operands(o->list, o->nlist, names, out);
      str_addc(out, ')');
      break;
    case OPD_SINK: str_addc(out, '_'); break;
  }
  if (o->selector < ARRAY_LEN(selectors)) {
    str_add(out, selectors[o->selector]);
  } else {
    str_add(out, o->selector == SEL_B_LANES ? ".b" : ".h");
    for (unsigned i = 0; i < o->nlanes; i++) str_addc(out, (char)('0' + o->lanes[i]));
  }
}

static void instruction(const PtxInstr *in, Names names, Str *out) {
  if (in->guard) {
    str_add(out, in->guard_negated ? "@!" : "@");
    str_add(out, NAME(in->guard));
    str_addc(out, ' ');
  }
  str_add(out, ptx_op_name(in->op));
  for (unsigned i = 0; i < in->nmods; i++) str_add(out, ptx_mod_name(in->mods[i]));
  if (in->op == OP_CALL) {
    const char *separator = " ";
    for (unsigned i = 0; i < in->nops; i++) {
      // An empty list of results is left out; an empty list of arguments only where nothing
      // follows.
      if (in->ops[i].kind == OPD_LIST && !in->ops[i].nlist && (i == 0 || in->nops == 3)) continue;
      str_add(out, separator);
      operand(&in->ops[i], names, out);
      separator = ", ";
    }
  } else if (in->nops) {
    str_addc(out, ' ');
    operands(in->ops, in->nops, names, out);
  }
  str_addc(out, ';');
}

void ptx_print_instr(const PtxInstr *in, Str *out) { instruction(in, NAMES_NOW, out); }
void ptx_show_instr(const PtxInstr *in, Str *out) { instruction(in, NAMES_ORIGINAL, out); }

// Are these registers called prefix0, prefix1, …, so that prefix<count> declares them?
static bool is_range(const PtxReg *regs, uint32_t count, size_t *prefix_len) {
  const char *name = regs[0].name;
  size_t n = strlen(name);
  if (!n || name[n - 1] != '0') return false;
  n--;
  if (!n) return false;
  for (uint32_t i = 1; i < count; i++) {
    if (strncmp(regs[i].name, name, n)) return false;
    uint32_t v = 0;
    const char *p = regs[i].name + n;
    if (*p < '1' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) v = v * 10 + (uint32_t)(*p - '0');
    if (*p || v != i) return false;
  }
  *prefix_len = n;
  return true;
}

static void print_regs(const PtxReg *regs, uint32_t count, Str *out) {
  if (!count) return;
  str_add(out, "\t.reg ");
  if (regs->vector) str_printf(out, ".v%u ", regs->vector);
  str_printf(out, ".%s ", ptx_type_name(regs->type));
  size_t prefix;
  if (count > 1 && is_range(regs, count, &prefix)) {
    str_addn(out, regs->name, prefix);
    str_printf(out, "<%u>", count);
  } else {
    for (uint32_t i = 0; i < count; i++) {
      if (i) str_add(out, i % 8 ? ", " : ",\n\t\t");
      str_add(out, regs[i].name);
    }
  }
  str_add(out, ";\n");
}

static void print_loc(const PtxLoc *l, Str *out) {
  str_printf(out, "\t.loc %u %u %u", l->file, l->line, l->column);
  if (l->function_label) {
    str_printf(out, ", function_name %s", l->function_label);
    if (l->function_offset) str_printf(out, "+%lld", (long long)l->function_offset);
  }
  if (l->inlined_at)
    str_printf(out, ", inlined_at %u %u %u", l->inlined_at->file, l->inlined_at->line,
               l->inlined_at->column);
  str_addc(out, '\n');
}

static void print_label(const PtxLabel *l, Str *out) {
  str_add(out, l->name);
  str_addc(out, ':');
  switch (l->kind) {
    case LABEL_CODE: break;
    case LABEL_BRANCHTARGETS:
      str_add(out, " .branchtargets");
      for (uint32_t i = 0; i < l->ntargets; i++) {
        str_add(out, i ? ",\n\t\t" : "\n\t\t");
        str_add(out, l->targets[i]->name);
      }
      str_addc(out, ';');
      break;
    case LABEL_CALLTARGETS:
      str_add(out, " .calltargets");
      for (uint32_t i = 0; i < l->ncall_targets; i++) {
        str_add(out, i ? ", " : " ");
        str_add(out, l->call_targets[i]->name);
      }
      str_addc(out, ';');
      break;
    case LABEL_CALLPROTOTYPE:
      str_add(out, " .callprototype ");
      print_signature(l->prototype, out);
      for (uint32_t i = 0; i < l->prototype->ndirectives; i++)
        str_printf(out, " %s", l->prototype->directives[i]);
      str_addc(out, ';');
      break;
  }
  str_addc(out, '\n');
}

static void print_stmt(const PtxStmt *s, Str *out) {
  switch (s->kind) {
    case STMT_INSTR:
      str_addc(out, '\t');
      ptx_print_instr(s->instr, out);
      str_addc(out, '\n');
      break;
    case STMT_LABEL: print_label(s->label, out); break;
    case STMT_VAR:
      str_addc(out, '\t');
      print_var(s->var, out);
      str_add(out, ";\n");
      break;
    case STMT_REGS: print_regs(s->regs.first, s->regs.count, out); break;
    case STMT_SCOPE_BEGIN: str_add(out, "\t{\n"); break;
    case STMT_SCOPE_END: str_add(out, "\t}\n"); break;
    case STMT_LOC: print_loc(s->loc, out); break;
    case STMT_PRAGMA: str_printf(out, "\t.pragma \"%s\";\n", s->text); break;
    case STMT_DIRECTIVE: str_printf(out, "\t%s\n", s->text); break;
  }
}

static const char *linkage_text(PtxLinkage l) {
  static const char *const texts[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
  return texts[l];
}

void print_linkage(PtxLinkage l, Str *out) { str_add(out, linkage_text(l)); }

static void print_func(const PtxFunc *f, Str *out) {
  print_linkage(f->linkage, out);
  str_add(out, f->is_entry ? ".entry " : ".func ");
  if (f->attribute) str_printf(out, "%s ", f->attribute);
  print_signature(f, out);
  for (uint32_t i = 0; i < f->ndirectives; i++) str_printf(out, "\n%s", f->directives[i]);
  if (f->is_declaration) {
    str_add(out, ";\n");
    return;
  }
  str_add(out, "\n{\n");
  for (uint32_t i = 0; i < f->nstmts; i++) print_stmt(&f->stmts[i], out);
  str_add(out, "}\n");
}

// A register's name as a DWARF number: its characters, read as one big number, in LEB128.
static void print_encoded_name(const char *name, Str *out) {
  size_t n = strlen(name);
  uint64_t bits = 0;
  unsigned have = 0;
  for (bool more = true, first = true; more; first = false) {
    while (have < 7 && n) {
      bits |= (uint64_t)(unsigned char)name[--n] << have;
      have += 8;
    }
    unsigned byte = bits & 127;
    bits >>= 7;
    have = have > 7 ? have - 7 : 0;
    more = n || bits;
    str_printf(out, first ? ".b8 %u" : "\n.b8 %u", byte | (more ? 128u : 0u));
  }
}

static void print_section(const PtxItem *it, Str *out) {
  uint32_t at = 0;
  str_addc(out, '\t');
  for (uint32_t i = 0; i < it->nrefs; i++) {
    str_addn(out, it->text + at, it->refs[i].offset - at);
    if (it->refs[i].reg) print_encoded_name(it->refs[i].reg->name, out);
    else str_add(out, it->refs[i].label->name);
    at = it->refs[i].offset + it->refs[i].length;
  }
  str_add(out, it->text + at);
  str_addc(out, '\n');
}

static void print_item(const PtxItem *it, Str *out) {
  switch (it->kind) {
    case ITEM_VAR:
      print_var(it->var, out);
      str_add(out, ";\n");
      break;
    case ITEM_FUNC:
      str_addc(out, '\n');
      print_func(it->func, out);
      break;
    case ITEM_FILE:
      str_printf(out, "\t.file %u \"%s\"", it->file->index, it->file->path);
      if (it->file->has_stamp)
        str_printf(out, ", %llu, %llu", (unsigned long long)it->file->mtime,
                   (unsigned long long)it->file->size);
      str_addc(out, '\n');
      break;
    case ITEM_SECTION: print_section(it, out); break;
    case ITEM_ALIAS: str_printf(out, ".alias %s, %s;\n", it->alias.alias, it->alias.target); break;
    case ITEM_PRAGMA:
    case ITEM_DIRECTIVE: str_printf(out, "%s\n", it->text); break;
    case ITEM_LOC: break;
  }
}

void ptx_print(const PtxModule *m, Str *out) {
  str_printf(out, ".version %u.%u\n", m->version_major, m->version_minor);
  if (m->target) str_printf(out, ".target %s\n", m->target);
  if (m->address_size_given) str_printf(out, ".address_size %u\n", m->address_size);
  str_addc(out, '\n');
  for (uint32_t i = 0; i < m->nitems; i++) print_item(&m->items[i], out);
}
