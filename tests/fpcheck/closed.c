// fpcheck's half for closed kernels (host_closed.c), with a device of host memory: which buffers
// are scanned before and after launches, and what is said of them.
#include <math.h>
#include <stdio.h>

#include "tools/fpcheck/host_closed.c"
#include "tools/fpcheck/host_closed_formats.c"
#include "tools/fpcheck/host_closed_several.c"

const char probe_scan_kernel_text[] = "";
bool session_reads_closed(void) { return true; }

// --- memory: allocations of 16 numbers ---

enum { NUMBERS = 16, ARRAYS = 32, FIRST_OF_MANY = 10, MANY = 20 };
static float arrays[ARRAYS][NUMBERS];
static uint64_t address(unsigned i) { return (uintptr_t)arrays[i]; }
bool session_ranges_look(uint64_t at, HeapRange *out) {
  for (unsigned i = 0; i < ARRAYS; i++)
    if (at - address(i) < sizeof arrays[i]) {
      *out = (HeapRange){.memory = {.base = address(i), .size = sizeof arrays[i]}};
      return true;
    }
  return false;
}

// --- what is reported ---

static char said[64];
static unsigned nsaid;
void session_finding(const SessionFinding *f) {
  snprintf(said, sizeof said, "%s", f->kind);
  nsaid++;
}

// --- the device: scan_kernel.cu in few words, for F32 and BF16 ---

static unsigned scans, parts;
static WgFpHeld count(const WgFpPart *p) {
  WgFpHeld h = {0, 0};
  for (size_t i = 0; p->format == WG_FP_BF16 && i < p->bytes / 2; i++) {
    uint16_t v = ((const uint16_t *)p->address)[i] & 0x7fff;
    h.nan += v > 0x7f80;
    h.inf += v == 0x7f80;
  }
  if (p->format == WG_FP_BF16) return h;
  for (size_t i = 0; i < p->bytes / 4; i++) {
    h.nan += isnan(((const float *)p->address)[i]) != 0;
    h.inf += isinf(((const float *)p->address)[i]) != 0;
  }
  return h;
}

static bool load_kernel(void *user, const char *ptx, const char *name, SessionOwnKernel *k) {
  k->host = calloc(1, k->host_bytes);
  k->host_at = (uintptr_t)k->host;
  k->device = (uintptr_t)calloc(1, k->device_bytes);
  k->processors = 1;
  return true;
}

static bool launch_kernel(void *user, const void *stream, const SessionOwnKernel *k,
                          unsigned blocks, unsigned threads, void **params) {
  const WgFpScan *s = params[0];
  WgFpHeld *held = (WgFpHeld *)s->held;
  WgFpEvents *events = (WgFpEvents *)s->events;
  uint32_t inputs = 0;
  for (uint32_t i = 0; i < s->ninputs; i++) {
    const WgFpHeld *h = &held[s->inputs[i] & ~WG_FP_GUESSED];
    uint32_t bits = (h->nan ? WG_FP_INPUT_NAN : 0) | (h->inf ? WG_FP_INPUT_INF : 0);
    inputs |= s->inputs[i] & WG_FP_GUESSED ? bits * WG_FP_INPUT_GUESSED : bits;
  }
  for (uint32_t i = 0; i < s->nparts; i++) {
    WgFpHeld now = count(&s->parts[i]), *before = &held[s->parts[i].buffer];
    if (s->behind && (now.nan > before->nan || now.inf > before->inf)) {
      uint32_t number = events->written++;
      events->list[number % WG_FP_SCAN_EVENTS] = (WgFpEvent){.sequence = number + 1,
                                                             .launch = s->launch,
                                                             .first = s->parts[i].address,
                                                             .buffer = s->parts[i].buffer,
                                                             .inputs = inputs,
                                                             .nan = now.nan,
                                                             .inf = now.inf,
                                                             .nan_before = before->nan,
                                                             .inf_before = before->inf};
    }
    *before = now;
  }
  scans++;
  parts += s->nparts;
  return true;
}

// --- launches: in -> out ---

static SessionKernel kernel = {.id = 1, .name = (char *)"k"};
static uint32_t launches;
static ToolDevice *device;
static SassStore stores[] = {{8, SASS_BIT(SASS_F32)}};
static SassStores one = {.list = stores, .n = 1, .formats = SASS_BIT(SASS_F32)};

static void launch(unsigned in, unsigned out, float (*f)(float), unsigned n) {
  uint64_t from = address(in), to = address(out);
  SessionClosedPointer list[] = {{0, from, from, sizeof arrays[0], true, SASS_OTHER},
                                 {8, to, to, sizeof arrays[0], true, SASS_OTHER}};
  SessionClosedLaunch l = {.kernel = &kernel, .number = ++launches, .stores = &one};
  l.pointers.data = list;
  l.pointers.len = 2;
  nsaid = scans = parts = 0;
  said[0] = 0;
  fp_closed_begins(device, &l);
  for (unsigned i = 0; i < n; i++) arrays[out][i] = f(arrays[in][i]);
  fp_closed_ends(device, &l);
}

// A list of tensors: it is not known which of them each store goes to.
static void launch_many(void) {
  static SassStore anywhere[] = {{SASS_NO_PARAM, SASS_BIT(SASS_F32)}};
  static const SassStores all_of_them = {.list = anywhere, .n = 1};
  SessionClosedPointer list[MANY];
  for (unsigned i = 0; i < MANY; i++)
    list[i] = (SessionClosedPointer){.param = 8 * i,
                                     .base = address(FIRST_OF_MANY + i),
                                     .size = sizeof arrays[0],
                                     .steady = true};
  SessionClosedLaunch l = {.kernel = &kernel, .number = ++launches, .stores = &all_of_them};
  l.pointers.data = list;
  l.pointers.len = MANY;
  nsaid = scans = parts = 0;
  said[0] = 0;
  fp_closed_begins(device, &l);
  arrays[FIRST_OF_MANY + MANY - 1][7] = NAN;
  fp_closed_ends(device, &l);
}

// Words of the output, whose format is one of two.
static void launch_several(unsigned out, uint32_t word, unsigned n) {
  static SassStore two_formats[] = {{0, SASS_BIT(SASS_F32) | SASS_BIT(SASS_BF16)}};
  static const SassStores either = {.list = two_formats, .n = 1};
  SessionClosedPointer list[] = {
      {0, address(out), address(out), sizeof arrays[0], true, SASS_OTHER}};
  SessionClosedLaunch l = {.kernel = &kernel, .number = ++launches, .stores = &either};
  l.pointers.data = list;
  l.pointers.len = 1;
  nsaid = scans = parts = 0;
  said[0] = 0;
  fp_closed_begins(device, &l);
  for (unsigned i = 0; i < n; i++) memcpy(&arrays[out][i], &word, 4);
  fp_closed_ends(device, &l);
}

static uint32_t by_name(const char *name) {
  return format_of_name(&(SessionKernel){.name = (char *)name});
}

static int failed;
static void expect(const char *what, const char *kind, unsigned nparts) {
  bool good = !strcmp(said, kind) && nsaid == (*kind != 0) && parts == nparts;
  printf("%s %s", good ? "ok" : "FAIL", what);
  if (!good) printf(": %s, %u findings, %u parts in %u scans", said, nsaid, parts, scans);
  puts("");
  failed |= !good;
}
static float same(float v) { return v; }
static float half(float v) { return v / 2; }

int main(void) {
  SessionDeviceOps ops = {.load_kernel = load_kernel, .launch_kernel = launch_kernel};
  FpDevice state = {0};
  ToolDevice d = {.ops = &ops, .state = &state};
  device = &d;
  for (unsigned i = 0; i < ARRAYS; i++)
    for (unsigned k = 0; k < NUMBERS; k++) arrays[i][k] = i == 0 && k == 3 ? -1 : 1;
  fp_closed_open(device);
  launch(0, 1, sqrtf, NUMBERS);
  expect("born", "fp-nan", 3);  // both before, the output behind
  launch(0, 1, sqrtf, NUMBERS);
  expect("known", "", 1);  // there were as many before
  launch(1, 2, half, NUMBERS);
  expect("carried", "", 2);  // what it reads is known; a new output is scanned before
  launch(3, 1, half, NUMBERS);
  launch(0, 1, sqrtf, NUMBERS);
  expect("born again", "fp-nan", 1);
  // the host copies a NaN into what is read
  arrays[3][5] = NAN;
  fp_closed_copied(&(SessionCopy){.to = {.kind = SESSION_PLACE_DEVICE, .address = address(3)}});
  launch(3, 4, half, NUMBERS);
  expect("from the host", "fp-input", 3);
  // a launch that nobody looked at wrote a NaN beside what is written now
  arrays[5][NUMBERS - 1] = NAN;
  launch(6, 5, half, 4);
  arrays[5][NUMBERS - 2] = NAN;
  fp_closed_unknown_writes();
  launch(6, 5, half, 4);
  expect("beside", "", 3);
  // memory is freed and given out again: with other contents, or with the same
  arrays[5][0] = NAN;
  fp_closed_allocated(address(5), sizeof arrays[5], NULL);
  launch(6, 5, same, 0);
  expect("other contents", "", 2);
  fp_closed_contents_kept(address(5));
  fp_closed_allocated(address(5), sizeof arrays[5], NULL);
  launch(6, 5, same, 0);
  expect("same contents", "", 1);
  launch_many();
  expect("many", "fp-nan", 2 * MANY);
  // numbers of a format that is one of two
  launch_several(7, 0x3f803f80, 4);
  expect("finite in both readings", "", 4);
  launch_several(7, 0x3f80ffc0, 4);  // f32, the lower half of which looks like NaN
  expect("NaN in one reading", "", 2);
  launch_several(8, 0xffc0ffc0, 4);
  expect("NaN in both readings", "fp-nan", 4);
  parts = nsaid = 0;
  said[0] = 0;
  bool names = by_name("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n") == SASS_BIT(SASS_F32) &&
               by_name("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n") == SASS_BIT(SASS_BF16) &&
               by_name("sm80_xmma_gemm_f16f16_f16f32_f32") == SASS_BIT(SASS_F16) &&
               by_name("void cutlass_80_simt_sgemm_128x64") == SASS_BIT(SASS_F32) &&
               !by_name("sm80_xmma_gemm_i8i8_i32i32_f32") && !by_name("reduce_kernel");
  printf("%s names\n", names ? "ok" : "FAIL");
  failed |= !names;
  fp_closed_close(device);
  expect("closed", "", 0);
  return failed;
}
