// count against the simplest counting there is: before every instruction every thread adds 1 to
// that instruction's own counter, under the instruction's guard. Over random programs with all
// kinds of control flow: branches, indexed branches, guarded instructions, early exits, calls,
// calls through pointers, recursion. For every line both must agree to the last thread.
#include "host.h"

// A test of the pass interface on the way: threads that leave a kernel are those that entered it.
// --- the simple pass ---
static struct { const char *kernel; uint32_t line; } simple_lines[65536];
static uint32_t nsimple;

enum { LEFT = 65535 };                     // the counter of threads that leave the kernel
static void count_leaving(Code *c, void *base) {
  EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(base), LEFT * 8ll), opd_imm(1));
}

static void simple_weave(Body *b) {
  Code *c = body_entry(b);
  PtxReg *base = body_reg(b, TYPE_B64);
  record_load(c, base, offsetof(WgLaunch, counters));
  if (b->func->is_entry) body_at_exits(b, count_leaving, base);
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    PtxInstr *in = b->cfg->instrs[i];
    c = body_before(b, i);
    code_guard(c, in->guard, in->guard_negated);
    EMIT(c, "red.global.add.u64", opd_at(c, opd_reg(base), nsimple * 8ll), opd_imm(1));
    simple_lines[nsimple].line = in->ptx_line;
    nsimple++;
  }
}
static bool simple_end(Program *p, Error *err) {
  p->out->ncounters = LEFT + 1;
  return true;
}
const Pass pass_test = {.weave = simple_weave, .end = simple_end};

// --- random programs: one statement on a line, so that a line is an instruction ---
static uint64_t state;
static uint32_t rnd(uint32_t n) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(state >> 33) % n;
}

static void gen_condition(Str *s, int p) {
  str_printf(s,
             "mad.lo.u32 %%r1, %%r1, 1664525, 1013904223;\nshr.u32 %%r3, %%r1, %u;\nand.b32 %%r3, "
             "%%r3, %u;\nsetp.%s.u32 %%p%d, %%r3, 0;\n",
             16 + rnd(8), rnd(2) ? 3 : 1, rnd(2) ? "eq" : "ne", p);
}

static void gen_guard(Str *s) {
  if (rnd(3) == 0) str_printf(s, "@%s%%p%u ", rnd(2) ? "!" : "", rnd(3));
}

static void gen_plain(Str *s) {
  static const char *const lines[] = {
      "add.u32 %r4, %r4, %r1;\n",        "xor.b32 %r4, %r4, %r3;\n",
      "ld.global.u32 %r0, [%rd2];\n",    "st.global.u32 [%rd2], %r4;\n",
      "red.global.add.u32 [%rd1], 1;\n", "mov.u32 %r5, %tid.x;\n",
      "setp.lt.u32 %p1, %r5, 16;\n",     "not.pred %p2, %p2;\n"};
  gen_guard(s);
  str_add(s, lines[rnd(ARRAY_LEN(lines))]);
}

static uint32_t nfuncs;
static void gen_call(Str *s, bool in_function) {
  uint32_t f = rnd(nfuncs);
  bool indirect = rnd(3) == 0;
  // depth in %r6 bounds recursion
  str_printf(s, "setp.lt.u32 %%p3, %%r6, 4;\n");
  str_add(s, "{\n.param .b32 a;\n.param .b32 b;\n.param .b64 c;\n.param .b32 r;\nadd.u32 %r7, %r6, "
             "1;\nst.param.b32 [a], %r1;\nst.param.b32 [b], %r7;\nst.param.b64 [c], %rd1;\n");
  if (indirect)
    str_printf(s, "ld.global.u64 %%rd3, [table+%u];\n@%%p3 call (r), %%rd3, (a, b, c), proto;\n",
               8 * f);
  else str_printf(s, "@%%p3 call (r), f%u, (a, b, c);\n", f);
  str_add(s, "@%p3 ld.param.b32 %r1, [r];\n}\n");
}

static void gen_blocks(Str *s, bool in_function) {
  uint32_t n = 2 + rnd(9);
  const char *leave = in_function ? (rnd(2) ? "exit" : "ret") : rnd(2) ? "exit" : "ret";
  for (uint32_t b = 0; b < n; b++) {
    str_printf(s, "B%u:\n", b);
    // fuel: every thread may enter so many blocks
    str_printf(s, "sub.s32 %%r2, %%r2, 1;\nsetp.le.s32 %%p4, %%r2, 0;\n");
    if (rnd(3)) str_printf(s, "@%%p4 bra DONE;\n");
    else str_printf(s, "@%%p4 %s;\n", in_function ? "bra DONE" : leave);
    for (uint32_t k = rnd(5); k; k--) gen_plain(s);
    if (nfuncs && rnd(4) == 0) gen_call(s, in_function);
    for (uint32_t k = rnd(3); k; k--) gen_plain(s);
    gen_condition(s, (int)rnd(3));
    switch (rnd(10)) {
      case 0:
      case 1:
      case 2: str_printf(s, "@%s%%p%u bra B%u;\n", rnd(2) ? "!" : "", rnd(3), rnd(n)); break;
      case 3: str_printf(s, "@%%p0 bra B%u;\n", b); break;
      case 4: str_printf(s, "bra B%u;\n", rnd(n)); break;
      case 5: {
        str_printf(
            s, "T%u: .branchtargets B%u, B%u, B%u;\nand.b32 %%r5, %%r1, 1;\nbrx.idx %%r5, T%u;\n",
            b, rnd(n), rnd(n), rnd(n), b);
        break;
      }
      case 6:
        str_printf(s, "@%%p%u %s;\n", rnd(3), in_function && rnd(3) ? "bra DONE" : "exit");
        break;
      case 7: str_printf(s, "@!%%p1 bra B%u;\nbra B%u;\n", rnd(n), rnd(n)); break;
      default: break;
    }
  }
  str_add(s, "DONE:\n");
}

static const char registers[] =
    ".reg .b32 %r<10>;\n.reg .b64 %rd<6>;\n.reg .pred %p<6>;\nsetp.ne.u32 %p0, 0, 0;\nsetp.ne.u32 "
    "%p1, 0, 0;\nsetp.eq.u32 %p2, 0, 0;\n"
    "mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n";

static char *generate(uint64_t seed) {
  state = seed * 0x9E3779B97F4A7C15ull + 1;
  Str s = {0};
  nfuncs = rnd(3) ? rnd(4) : 0;
  str_add(&s, ".version 8.0\n.target sm_80\n.address_size 64\n");
  for (uint32_t f = 0; f < nfuncs; f++)
    str_printf(&s, ".func (.param .b32 r) f%u(.param .b32 a, .param .b32 b, .param .b64 c);\n", f);
  if (nfuncs) {
    str_printf(&s, ".global .align 8 .u64 table[%u] = {", nfuncs);
    for (uint32_t f = 0; f < nfuncs; f++) str_printf(&s, "%sf%u", f ? ", " : "", f);
    str_add(&s, "};\n");
  }
  for (uint32_t f = 0; f < nfuncs; f++) {
    str_printf(&s, ".func (.param .b32 r) f%u(.param .b32 a, .param .b32 b, .param .b64 c)\n{\n%s",
               f, registers);
    str_add(
        &s,
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _);\n");
    str_printf(&s,
               "ld.param.u32 %%r1, [a];\nld.param.u32 %%r6, [b];\nld.param.u64 %%rd1, "
               "[c];\nadd.u64 %%rd2, %%rd1, 64;\nmov.u32 %%r2, %u;\n",
               1 + rnd(6));
    gen_blocks(&s, true);
    str_add(&s, "st.param.b32 [r], %r1;\nret;\n}\n");
  }
  str_printf(&s, ".visible .entry k(.param .u64 out, .param .u32 seed)\n{\n%s", registers);
  if (nfuncs)
    str_add(
        &s,
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b64 _);\n");
  str_printf(&s,
             "ld.param.u64 %%rd1, [out];\nadd.u64 %%rd2, %%rd1, 64;\nld.param.u32 %%r1, "
             "[seed];\nmov.u32 %%r8, %%tid.x;\nmad.lo.u32 %%r1, %%r8, %u, %%r1;\n"
             "mov.u32 %%r9, %%ctaid.x;\nmad.lo.u32 %%r1, %%r9, 69069, %%r1;\nmov.u32 %%r6, "
             "0;\nmov.u32 %%r2, %u;\n",
             rnd(2) ? 1103515245 : 0, 4 + rnd(40));
  gen_blocks(&s, false);
  static const char *const ends[] = {"ret;\n}\n", "exit;\n}\n", "}\n", "add.u32 %r4, %r4, 1;\n}\n"};
  str_add(&s, ends[rnd(ARRAY_LEN(ends))]);
  return s.data;
}

// --- comparison ---
static uint64_t by_line[1 << 16];
static void add_row(void *user, const CountRow *row) {
  if (row->file) die("row", "there is no source file");
  by_line[row->line] += row->total;
  if (row->total > 32 * row->warp_total) {
    printf("line %u: %llu threads in %llu warps\n", row->line, (unsigned long long)row->total,
           (unsigned long long)row->warp_total);
    failures++;
  }
}

int main(int argc, char **argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
           n = argc > 2 ? strtoull(argv[2], NULL, 10) : 300, total = 0;
  char *out = vgpu_mem_alloc(4096, 16);
  for (uint64_t seed = first; seed < first + n && !failures; seed++) {
    char *text = generate(seed);
    struct { uint64_t out; uint32_t seed; } params = {(uint64_t)out, (uint32_t)seed};
    uint32_t grid = 1 + seed % 3, block = 1 + (uint32_t)(seed * 37 % 130);
    Loaded simple, count;
    nsimple = 0;
    unsigned with = seed % 3 ? 0 : TOOL_BIT(MEMCHECK);         // passes do not disturb each other
    load(&simple, &text, 1, TOOL_BIT_TEST | with);
    launch_counted(&simple, "k", grid, block, &params, 12);
    load(&count, &text, 1, TOOL_BIT(COUNT) | with);
    launch_counted(&count, "k", grid, block, &params, 12);
    memset(by_line, 0, sizeof by_line);
    count_rows(&count.code, count.counters, add_row, NULL);
    if (!strstr(text, ".func"))
      EXPECT("threads that left", simple.counters[LEFT], (uint64_t)grid * block);
    for (uint32_t i = 0; i < nsimple; i++) {
      total += simple.counters[i];
      by_line[simple_lines[i].line] -= simple.counters[i];
    }
    for (uint32_t i = 0; i < ARRAY_LEN(by_line); i++)
      if (by_line[i]) {
        printf("FAIL seed %llu: line %u counts %lld too many\n", (unsigned long long)seed, i,
               (long long)by_line[i]);
        if (!failures++ && argc > 1) puts(text);
      }
    unload(&simple);
    unload(&count);
    free(text);
  }
  if (!failures)
    printf("ok random: %llu programs, %llu thread instructions\n", (unsigned long long)n,
           (unsigned long long)total);
  return failures != 0;
}
