// What the parsed form says: definitions and uses, classes, locations, offsets, initial bytes.
#include "ptx/ptx.h"

static int failures;
#define EXPECT(name, cond) \
  do { \
    if (cond) printf("ok %s\n", name); \
    else printf("FAIL %s: line %d: %s\n", name, __LINE__, #cond), failures++; \
  } while (0)

static PtxModule *parse(const char *text) {
  Error err = {""};
  PtxModule *m = ptx_parse(text, strlen(text), "unit", &err);
  if (!m || !ptx_verify(m, &err)) {
    printf("FAIL parse: %s\n", err.text);
    exit(1);
  }
  return m;
}

// "d:a,b;u:c" for the registers an instruction writes and reads, in the order they are visited.
typedef struct Seen { char defs[200], uses[200]; } Seen;
static void see(void *ctx, PtxReg **reg, bool is_def) {
  Seen *s = ctx;
  char *list = is_def ? s->defs : s->uses;
  if (*list) strcat(list, " ");
  strcat(list, (*reg)->name);
}

static const char *const regs_head =
    ".version 9.0\n.target sm_90a\n.address_size 64\n.func (.reg .b32 res) f (.reg .b32 x) { "
    "mov.b32 res, x; ret; }\n.entry k(.param .u64 out) {\n"
    ".reg .pred p, q, g; .reg .b32 a, b, c, d, e; .reg .b64 l, m; .reg .f32 f0, f1, f2, f3; .reg "
    ".v2 .b32 v; .reg .b64 fn;\n";
static void check_regs(const char *instr, const char *defs, const char *uses) {
  Str text = {0};
  str_printf(&text, "%s%s\nret; }\n", regs_head, instr);
  PtxModule *m = parse(text.data);
  const PtxFunc *k = ptx_find_func(m, "k");
  Seen s = {"", ""};
  for (uint32_t i = 0; i < k->nstmts; i++)
    if (k->stmts[i].kind == STMT_INSTR) {
      ptx_visit_regs(k->stmts[i].instr, see, &s);
      break;
    }
  if (strcmp(s.defs, defs) || strcmp(s.uses, uses)) {
    printf("FAIL %s writes '%s', reads '%s'\n", instr, s.defs, s.uses);
    failures++;
  } else printf("ok regs %s\n", instr);
  ptx_free(m);
  str_free(&text);
}

static void test_regs(void) {
  check_regs("add.u32 a, b, c;", "a", "b c");
  check_regs("@!g add.u32 a, b, 1;", "a", "g b");
  check_regs("st.global.v2.b32 [l+4], {a, b};", "", "l a b");
  check_regs("ld.global.v2.b32 {a, _}, [l];", "a", "l");
  check_regs("setp.lt.and.s32 p|q, a, b, !g;", "p q", "a b g");
  check_regs("mov.b64 {a, b}, l;", "a b", "l");
  check_regs("atom.global.cas.b32 a, [l], b, c;", "a", "l b c");
  check_regs("red.global.add.u32 [l], a;", "", "l a");
  check_regs("shfl.sync.idx.b32 a|p, b, c, 31, d;", "a p", "b c d");
  check_regs("bar.red.popc.u32 a, 0, p;", "a", "p");
  check_regs("bar.sync a, b;", "", "a b");
  check_regs("tex.2d.v4.f32.f32 {f0, f1, f2, f3}, [l, {f0, f1}];", "f0 f1 f2 f3", "l f0 f1");
  check_regs("call (a), f, (b);", "a", "b");
  check_regs("mbarrier.arrive.shared.b64 m, [a];", "m", "a");
  check_regs("mbarrier.arrive.shared::cluster.b64 _, [a];", "", "a");
  check_regs("mov.b32 v.x, a;", "v", "a v");
  check_regs(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}, l, m, p, 1, 1, 0, 0;",
      "f0 f1 f2 f3", "l m p f0 f1 f2 f3");
  check_regs("elect.sync _|p, a;", "p", "a");
  check_regs("cp.async.ca.shared.global [a], [l], 8, b;", "", "a l b");
}

// Code of line 0: behind other code it is part of that line; at the beginning of a block, of the
// next line in it, if there is one.
static void test_line_0(void) {
  static const unsigned lines[] = {5, 5, 7, 8, 8, 9, 9};
  PtxModule *m = parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.entry k() {\n.reg .b32 "
      "r<2>; .reg .pred p;\n"
      ".loc 1 5 1\nadd.u32 r0, r1, 1;\n.loc 1 0 0\nadd.u32 r0, r1, 2;\n.loc 1 7 1\n@p bra JOIN;\n"
      "JOIN:\n.loc 1 0 0\nadd.u32 r0, r1, 4;\n.loc 1 8 1\nadd.u32 r0, r1, 5;\n.loc 1 9 1\nadd.u32 "
      "r0, r1, 6;\n"
      "LOOP:\n.loc 1 0 0\n@p bra LOOP;\n.loc 1 10 1\nret; }\n");
  const PtxFunc *k = ptx_find_func(m, "k");
  unsigned n = 0;
  for (uint32_t i = 0; i < k->nstmts && n < ARRAY_LEN(lines); i++)
    if (k->stmts[i].kind == STMT_INSTR && k->stmts[i].instr->loc->line != lines[n++])
      EXPECT("line 0", false);
  EXPECT("line 0, instructions", n == ARRAY_LEN(lines));
  ptx_free(m);
}

int main(void) {
  test_regs();
  test_line_0();

  PtxModule *m = parse(
      ".version 9.0\n.target sm_90a, debug\n.address_size 64\n.global .u32 x = 5;\n.global .u64 "
      "y[2] = {generic(x)+4, 3};\n"
      ".file 1 \"a.cu\"\n.visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 "
      "s[20], .param .u32 n) .maxntid 32, 2 {\n"
      ".reg .b32 r<2>; .reg .f32 f; .reg .b64 l; .reg .pred p; .shared .align 8 .b64 bar;\n"
      ".loc 1 5 1\nadd.u32 r0, r1, r1;\n.loc 1 9 2, function_name $S, inlined_at 1 5 1\nadd.f32 f, "
      "f, 0f3F800000;\n"
      "ld.u32 r0, [l+-8]; atom.shared.add.u32 r0, [r1], 1; cvt.rn.f32.u32 f, r0;\n"
      "mbarrier.try_wait.parity.shared.b64 p, [bar], r1; @p bra END;\nEND: ret; }\n.section "
      ".debug_str { $S: .b8 97,98,99,0 }\n");
  EXPECT("target", m->sm == 90 && m->sm_suffix == 'a' && m->debug && m->version_major == 9 &&
                       m->version_minor == 0 && m->address_size == 64);
  const PtxFunc *k = ptx_find_func(m, "k");
  EXPECT("parameters", k->nparams == 4 && k->params[1]->param_offset == 8 &&
                           k->params[2]->param_offset == 16 && k->params[3]->param_offset == 36 &&
                           k->param_bytes == 40);
  EXPECT("directives", k->maxntid.given && k->maxntid.x == 32 && k->maxntid.y == 2 &&
                           k->maxntid.z == 1 && k->ndirectives == 1);
  const PtxVar *y = ptx_find_var(m, "y");
  EXPECT("initializer", y->size == 16 && y->nrelocs == 1 && y->relocs[0].generic &&
                            y->relocs[0].addend == 4 && y->relocs[0].var == ptx_find_var(m, "x") &&
                            y->init[8] == 3);
  PtxInstr *in[16] = {NULL};
  unsigned n = 0;
  for (uint32_t i = 0; i < k->nstmts; i++)
    if (k->stmts[i].kind == STMT_INSTR) in[n++] = k->stmts[i].instr;
  EXPECT("instructions", n == 8);
  EXPECT("location", in[0]->loc->line == 5 && in[1]->loc->line == 9 &&
                         in[1]->loc->inlined_at == in[0]->loc &&
                         !strcmp(in[1]->loc->function_name, "abc"));
  EXPECT("file", !strcmp(ptx_file_path(m, 1), "a.cu") && !ptx_file_path(m, 2));
  EXPECT("classes",
         ptx_op_classes(in[0]) == CLASS_INT && ptx_op_classes(in[1]) == CLASS_FLOAT &&
             ptx_op_classes(in[2]) == CLASS_LOAD &&
             (ptx_op_classes(in[4]) & (CLASS_INT | CLASS_FLOAT)) == (CLASS_INT | CLASS_FLOAT));
  EXPECT("families", ptx_op_family(OP_ADD) == FAMILY_ARITH_TYPED && ptx_op_is_arith(OP_VSET4) &&
                         !ptx_op_is_arith(OP_LD) && ptx_op_family(OP_LD) == FAMILY_MEMORY &&
                         ptx_op_family(OP_SHFL) == FAMILY_WARP &&
                         ptx_op_family(OP_TEX) == FAMILY_TEXTURE &&
                         ptx_op_family(OP_TCGEN05_MMA) == FAMILY_NONE);
  EXPECT("spaces",
         in[2]->space == SPACE_GENERIC && in[3]->space == SPACE_SHARED && in[2]->ops[1].imm == -8);
  EXPECT("types", in[4]->ntypes == 2 && in[4]->types[0] == TYPE_F32 && in[4]->types[1] == TYPE_U32);
  EXPECT("several words",
         in[5]->op == OP_MBARRIER_TRY_WAIT && in[5]->nmods == 3 && in[5]->mods[0] == MOD_PARITY);
  EXPECT("label", in[6]->ops[0].label->kind == LABEL_CODE &&
                      k->stmts[in[6]->ops[0].label->stmt].label == in[6]->ops[0].label);
  EXPECT("forms",
         in[0]->form && ptx_form(in[0]->form)->op == OP_ADD && !ptx_form(0) && !ptx_form(60000));
  ptx_free(m);

  // One object for a declaration and its definition: a call before the definition reaches the body.
  m = parse(".version 9.0\n.target sm_90\n.address_size 64\n.func f();\n.func f();\n.entry k() { "
            "call f; ret; }\n.func f() { ret; }\n");
  const PtxFunc *f = ptx_find_func(m, "f"), *caller = ptx_find_func(m, "k");
  EXPECT("declaration", m->nfuncs == 2 && m->nitems == 4 && !f->is_declaration &&
                            caller->stmts[0].instr->ops[1].func == f &&
                            m->items[0].func->is_declaration && m->items[3].func == f);
  ptx_free(m);

  Error err = {""};
  EXPECT("NUL bytes at the end",
         (m = ptx_parse(".version 9.0\n.target sm_90\n\0\0", 30, "nul", &err)) != NULL);
  ptx_free(m);
  EXPECT("NUL byte inside", !ptx_parse(".version 9.0\n\0.target", 22, "nul", &err) &&
                                strstr(err.text, "nul:2:1: error: a zero byte"));
  return failures != 0;
}
