// Findings on their way from probes to a reader, on the virtual device: a pass that reports at
// every store to global memory.
#include <pthread.h>
#include <unistd.h>

#include "host.h"

// --- the pass ---
static void report_stores(Body *b) {
  for (uint32_t i = 0; i < b->cfg->ninstrs; i++) {
    const PtxInstr *in = b->cfg->instrs[i];
    if (in->op != OP_ST || in->space != SPACE_GLOBAL) continue;
    Code *c = body_before(b, i);
    PtxReg *at = body_temp(b, TYPE_B64, 0);
    access_address(c, at, &in->ops[0]);
    code_guard(c, in->guard, in->guard_negated);
    uint32_t site = program_site(b->program, b, in);
    code_report(c, &(CodeReport){.site = site,
                                 .kind = opd_imm(8 + site % 7),
                                 .size = opd_imm(access_bytes(in)),
                                 .address = opd_reg(at),
                                 .value = opd_imm(site * 3),
                                 .extra = opd_imm(5)});
  }
}
const Pass pass_test = {.weave = report_stores};

// --- the channel and its reader ---
typedef struct Reader {
  WgChannel *ch;
  size_t bytes;
  pthread_t thread;
  volatile bool stop;
  WgFinding found[4096];
  uint32_t n;
} Reader;

static void drain(Reader *r) {
  WgChannel *ch = r->ch;
  const WgFinding *slots = (const WgFinding *)((char *)ch + ch->slots_at);
  for (;;) {
    const WgFinding *f = &slots[ch->tail % ch->slots];
    if (__atomic_load_n(&f->sequence, __ATOMIC_ACQUIRE) != ch->tail + 1) return;
    if (r->n < ARRAY_LEN(r->found)) r->found[r->n++] = *f;
    __atomic_store_n(&ch->tail, ch->tail + 1, __ATOMIC_RELEASE);
  }
}
static void *run_reader(void *user) {
  Reader *r = user;
  while (!r->stop) {
    drain(r);
    usleep(50);
  }
  drain(r);
  return NULL;
}
static Reader *open_channel(uint32_t slots, uint32_t sites) {
  Reader *r = mem_alloc(sizeof *r);
  r->bytes = sizeof(WgChannel) + sizeof(WgFinding) * slots + 8ull * sites;
  r->ch = vgpu_mem_alloc(r->bytes, 64);
  *r->ch = (WgChannel){.magic = WG_CHANNEL_MAGIC,
                       .slots = slots,
                       .sites = sites,
                       .slots_at = sizeof(WgChannel),
                       .counts_at = sizeof(WgChannel) + sizeof(WgFinding) * slots};
  r->ch->reports = (WgReports){
      .channel = (uint64_t)r->ch, .counts = (uint64_t)r->ch + r->ch->counts_at, .sites = sites};
  return r;
}
static void start_reader(Reader *r) { pthread_create(&r->thread, NULL, run_reader, r); }
static void stop_reader(Reader *r) {
  r->stop = true;
  pthread_join(r->thread, NULL);
}
static void close_channel(Reader *r) {
  vgpu_mem_free(r->ch, r->bytes);
  free(r);
}
static uint64_t count_of(const Reader *r, int site) {
  return ((const uint64_t *)((const char *)r->ch + r->ch->counts_at))[site] & ~WG_COUNT_DESCRIBED;
}
static const WgFinding *find(const Reader *r, uint32_t site) {
  const WgFinding *found = NULL;
  for (uint32_t i = 0; i < r->n; i++)
    if (r->found[i].site == site) {
      if (found) EXPECT("one finding in full for each site", 2, 1);
      found = &r->found[i];
    }
  return found;
}

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
static const char registers[] = ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>; ld.param.u64 "
                                "%rd1, [out]; mov.u32 %r1, %tid.x;\n"
                                "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, "
                                "%rd1, %rd2; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1;\n";

// A ring much smaller than the number of sites, many blocks, every store guarded or not.
static void test_ring(void) {
  enum { SITES = 300, BLOCKS = 20, THREADS = 80, BASE = 1000 };
  Str s = {0};
  str_printf(&s, "%s.visible .entry k(.param .u64 out) { %s", head, registers);
  for (int i = 0; i < SITES; i++)
    str_printf(&s, "%sst.global.u32 [%%rd1+4], %d;\n",
               i % 3 == 0   ? ""
               : i % 3 == 1 ? "@%p1 "
                            : "@!%p1 ",
               i);
  str_add(&s, "ret; }\n");
  Loaded l;
  load(&l, &s.data, 1, TOOL_BIT_TEST);
  Reader *r = open_channel(8, BASE + SITES);
  start_reader(r);
  char *out = vgpu_mem_alloc(THREADS * 8 + 8, 16);
  WgLaunch record = {.channel = (uint64_t)&r->ch->reports, .launch = 7, .site_base = BASE};
  EXPECT("status", launch(&l, "k", BLOCKS, THREADS, &out, 8, record), VGPU_OK);
  stop_reader(r);
  EXPECT("findings", r->n, SITES);
  EXPECT("lost", r->ch->lost, 0);
  EXPECT("sites", l.code.nsites, SITES);
  for (uint32_t i = 0; i < SITES; i++) {
    const WgFinding *f = find(r, BASE + i);
    if (!f) { EXPECT("found", 0, 1); break; }
    EXPECT("count", count_of(r, BASE + i), i % 3 ? BLOCKS * THREADS / 2 : BLOCKS * THREADS);
    EXPECT("kind", f->kind, 8 + i % 7);
    EXPECT("launch", f->launch, 7);
    EXPECT("size", f->size, 4);
    EXPECT("value", f->value[0], i * 3);
    EXPECT("extra", f->extra[0], 5);
    EXPECT("address", f->address, (uint64_t)out + f->thread[0] * 8 + 4);
    EXPECT("block", f->block[0] < BLOCKS, true);
    uint32_t full = f->thread[0] / 32 == 2 ? 0xffff
                                           : 0xffffffff;  // the third warp of a block is half full
    // lanes may have parted before, while one of them waited for room in the ring
    EXPECT("lanes",
           f->lanes & ~(i % 3 == 0   ? full
                        : i % 3 == 1 ? full & 0xaaaaaaaa
                                     : full & 0x55555555),
           0);
    EXPECT("the leader is the first", f->thread[0] % 32, (uint32_t)__builtin_ctz(f->lanes));
    EXPECT("text",
           strncmp(l.code.sites[i].text + (i % 3 ? strcspn(l.code.sites[i].text, " ") + 1 : 0),
                   "st.global.u32", 13),
           0);
  }
  // without a channel nothing happens
  EXPECT("status", launch(&l, "k", 1, 32, &out, 8, (WgLaunch){.launch = 8}), VGPU_OK);
  EXPECT("count", count_of(r, BASE), BLOCKS * THREADS);
  close_channel(r);
  unload(&l);
  str_free(&s);
}

// Nobody reads: the first findings wait in the ring, one waits a second in vain and is counted as
// lost, all are counted.
static void test_full(void) {
  Str s = {0};
  str_printf(&s, "%s.visible .entry k(.param .u64 out) { %s", head, registers);
  for (int i = 0; i < 5; i++) str_printf(&s, "st.global.u32 [%%rd1], %d;\n", i);
  str_add(&s, "ret; }\n");
  Loaded l;
  load(&l, &s.data, 1, TOOL_BIT_TEST);
  Reader *r = open_channel(4, 5);
  void *out = vgpu_mem_alloc(1024, 16);
  launch(&l, "k", 2, 64, &out, 8, (WgLaunch){.channel = (uint64_t)&r->ch->reports});
  EXPECT("lost", r->ch->lost, 1);
  drain(r);
  EXPECT("kept", r->n, 4);
  for (int i = 0; i < 5; i++) EXPECT("count", count_of(r, i), 128);
  // sites the channel has no room for
  launch(&l, "k", 1, 32, &out, 8, (WgLaunch){.channel = (uint64_t)&r->ch->reports, .site_base = 5});
  EXPECT("lost", r->ch->lost, 1 + 5);
  close_channel(r);
  unload(&l);
  str_free(&s);
}

// A thread that reports and then traps.
static void test_trap(void) {
  Str s = {0};
  str_printf(&s,
             "%s.visible .entry k(.param .u64 out) { %sst.global.u32 [%%rd1], 1;\nsetp.eq.u32 "
             "%%p2, %%r1, 40;\n@%%p2 st.global.u32 [%%rd1], 2;\n@%%p2 trap;\nret; }\n",
             head, registers);
  Loaded l;
  load(&l, &s.data, 1, TOOL_BIT_TEST);
  Reader *r = open_channel(16, 16);
  void *out = vgpu_mem_alloc(1024, 16);
  EXPECT("status",
         launch(&l, "k", 1, 64, &out, 8, (WgLaunch){.channel = (uint64_t)&r->ch->reports}),
         VGPU_TRAP);
  drain(r);
  EXPECT("findings", r->n, 2);
  const WgFinding *f = find(r, 1);
  EXPECT("thread", f ? f->thread[0] : 0, 40);
  EXPECT("lanes", f ? f->lanes : 0, 1 << 8);
  close_channel(r);
  unload(&l);
  str_free(&s);
}

// Two kernels at the same time, each calling a function of its own through a pointer: the findings
// know their launch.
typedef struct Launcher {
  Loaded *l;
  const char *kernel;
  uint32_t number;
  uint64_t channel;
  void *out;
} Launcher;
static void *launch_often(void *user) {
  Launcher *a = user;
  for (int i = 0; i < 50; i++)
    launch(a->l, a->kernel, 4, 64, &a->out, 8,
           (WgLaunch){.channel = a->channel, .launch = a->number});
  return NULL;
}
static void test_pointers(void) {
  Str s = {0};
  str_add(&s, head);
  for (int i = 0; i < 2; i++) {
    str_printf(&s,
               ".func f%d(.param .b64 p) { .reg .b64 %%rd1; ld.param.u64 %%rd1, [p]; st.global.u32 "
               "[%%rd1], %d; ret; }\n",
               i, i);
    str_printf(&s, ".global .align 8 .u64 table%d[1] = {f%d};\n", i, i);
  }
  for (int i = 0; i < 2; i++)
    str_printf(&s,
               ".visible .entry k%d(.param .u64 out) { %s proto: .callprototype _ (.param .b64 "
               "_);\nld.global.u64 %%rd3, [table%d];\n"
               "{ .param .b64 a; st.param.b64 [a], %%rd1; call %%rd3, (a), proto; }\nret; }\n",
               i, registers, i);
  Loaded l;
  load(&l, &s.data, 1, TOOL_BIT_TEST);
  Reader *r = open_channel(16, 16);
  void *out = vgpu_mem_alloc(1024, 16);
  Launcher a = {&l, "k0", 11, (uint64_t)&r->ch->reports, out},
           b = {&l, "k1", 22, (uint64_t)&r->ch->reports, out};
  pthread_t ta, tb;
  pthread_create(&ta, NULL, launch_often, &a);
  pthread_create(&tb, NULL, launch_often, &b);
  pthread_join(ta, NULL);
  pthread_join(tb, NULL);
  drain(r);
  EXPECT("findings", r->n, 2);
  for (uint32_t i = 0; i < 2; i++) {
    const WgFinding *f = find(r, i);
    EXPECT("launch", f ? f->launch : 0, i ? 22 : 11);
    EXPECT("count", count_of(r, i), 50 * 4 * 64);
    EXPECT("any kernel", l.code.sites[i].kernel, UINT32_MAX);
  }
  close_channel(r);
  unload(&l);
  str_free(&s);
}

// A site knows its line and where that was inlined, twice over.
static void test_places(void) {
  char *text = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out) "
               "{\n.reg .b64 %rd1;\n.loc 1 10 5\nld.param.u64 %rd1, [out];\n"
               ".loc 1 10 5\n.loc 2 7 3, function_name $L__info_string0, inlined_at 1 10 5\n.loc 2 "
               "3 9, function_name $L__info_string1, inlined_at 2 7 3\n"
               "st.global.u32 [%rd1], 1;\n.loc 1 11 1\nst.global.v2.u64 [%rd1+16], {%rd1, "
               "%rd1};\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.h\"\n"
               ".section .debug_str\n{\n$L__info_string0:\n.b8 "
               "111,117,116,101,114,0\n$L__info_string1:\n.b8 105,110,110,101,114,0\n}\n";
  Loaded l;
  load(&l, &text, 1, TOOL_BIT_TEST);
  EXPECT("sites", l.code.nsites, 2);
  const Site *s = l.code.sites;
  EXPECT("places", s[0].nplaces, 3);
  static const SitePlace want[] = {
      {"b.h", "inner", 3, 9}, {"b.h", "outer", 7, 3}, {"a.cu", NULL, 10, 5}};
  for (uint32_t i = 0; i < 3 && i < s[0].nplaces; i++) {
    const SitePlace *p = &s[0].places[i];
    EXPECT("file", strcmp(p->file ? p->file : "", want[i].file), 0);
    EXPECT("function",
           strcmp(p->function ? p->function : "", want[i].function ? want[i].function : ""), 0);
    EXPECT("line", p->line, want[i].line);
    EXPECT("column", p->column, want[i].column);
  }
  EXPECT("places", s[1].nplaces, 1);
  EXPECT("line", s[1].places[0].line, 11);
  EXPECT("bytes", s[1].bytes, 16);
  EXPECT("kernel", s[1].kernel, 0);
  EXPECT("function", strcmp(s[1].function, "k"), 0);
  EXPECT("space", s[1].space, SPACE_GLOBAL);
  EXPECT("text", strcmp(s[1].text, "st.global.v2.u64 [%rd1+16], {%rd1, %rd1};"), 0);
  unload(&l);
}

int main(void) {
  static const struct { const char *name; void (*run)(void);
  } tests[] = {{"ring", test_ring},
               {"full", test_full},
               {"trap", test_trap},
               {"pointers", test_pointers},
               {"places", test_places}};
  for (size_t i = 0; i < ARRAY_LEN(tests); i++) {
    int before = failures;
    tests[i].run();
    printf("%s %s\n", failures == before ? "ok" : "FAIL", tests[i].name);
  }
  return failures != 0;
}
