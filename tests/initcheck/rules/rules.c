// Runs every opcode that has a validity rule (src/ptx/ops.def) under initcheck and prints which
// bits of the result are uninitialised.
//
//   rules SEED FORMS        FORMS: at most so many forms of each opcode; 0: all
//   rules SEED FORMS ptx    prints the kernels
//
// The forms are those of tests/semantics. Each becomes a kernel. A thread takes one row of values
// and masks: the bits of an operand that its mask names come from memory that counts as never
// written. The thread stores every bit of a result to a word of its own, and a second kernel asks
// which of these words are initialised. The program prints, for each form, row and result, the
// value and the uninitialised bits.
//
// Each form runs twice, with other contents of the unwritten memory. A bit of the result that
// differs must be an uninitialised one, and the uninitialised bits must be the same: lines that
// begin with "unsound" and "depends" say where that does not hold.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../semantics/forms.h"
#include "../../../include/warpgrind.h"

typedef uint64_t CUdeviceptr;
extern int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int),
    cuCtxSetCurrent(void *), cuCtxSynchronize(void);
extern int cuModuleLoadData(void **, const void *), cuModuleUnload(void *),
    cuModuleGetFunction(void **, void *, const char *);
extern int cuMemAlloc_v2(CUdeviceptr *, size_t), cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t),
    cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void *, void **, void **);

enum { ROWS = 64, PER_MODULE = 48 };

static void must(int result, const char *what) {
  if (!result) return;
  fprintf(stderr, "rules: %s: error %d\n", what, result);
  exit(2);
}

static uint64_t random_state;
static uint64_t next_random(void) {
  uint64_t x = (random_state += 0x9e3779b97f4a7c15ull);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// --- which opcodes have a rule, and which forms are taken ---

typedef struct Opcode { const char *name, *validity, *executes; unsigned seen, taken; } Opcode;
static Opcode opcodes[] = {
#define OP(id, name, defs, executes, classes, memory, order, validity, ...) \
  {name, #validity, #executes, 0, 0},
#include "../../../src/ptx/ops.def"
};
enum { OPCODES = sizeof opcodes / sizeof opcodes[0] };

static bool has_rule(const Opcode *o) {
  return strcmp(o->validity, "GOOD") && strcmp(o->validity, "NONE") &&
         strcmp(o->validity, "MEMORY") && strcmp(o->executes, "NONE");
}

// The opcode with the longest name that the text begins with, here or behind a brace or a
// semicolon.
static Opcode *opcode_at(const char *text) {
  Opcode *found = NULL;
  for (unsigned i = 0; i < OPCODES; i++) {
    size_t n = strlen(opcodes[i].name);
    if (!strncmp(text, opcodes[i].name, n) && (text[n] == '.' || text[n] == ' ' || !text[n]) &&
        (!found || n > strlen(found->name)))
      found = &opcodes[i];
  }
  return found;
}

// The opcode of a form: the last instruction of those in its text.
static Opcode *opcode_of(const Form *f) {
  Opcode *last = opcode_at(f->text);
  for (const char *p = f->text; (p = strpbrk(p, ";<")); p++) {
    const char *at = p + 1 + strspn(p + 1, "< ");
    Opcode *o = opcode_at(at);
    if (o) last = o;
  }
  return last;
}

// Forms that use memory, or the results' memory, are no rule of registers.
static bool is_suitable(const Form *f) {
  return !strstr(f->text, "[") && !strstr(f->text, ".shared .align") && f->nsrc && f->ndst &&
         f->ndst + f->nsrc <= 10;
}

// Forms of opcodes that tests/semantics does not run: addresses, and what the memory family
// executes.
static const Form more_forms[] = {
    {"cvta.global.u64", "exact", false, {{VALUE_INT, 64, 64}, {VALUE_INT, 64, 64}}, 1, 1, 256},
    {"isspacep.global", "exact", false, {{VALUE_PRED, 1, 1}, {VALUE_INT, 64, 64}}, 1, 1, 256},
    {"isspacep.shared", "exact", false, {{VALUE_PRED, 1, 1}, {VALUE_INT, 64, 64}}, 1, 1, 256},
    {"getctarank.shared::cluster.u32",
     "exact",
     false,
     {{VALUE_INT, 32, 32}, {VALUE_INT, 32, 32}},
     1,
     1,
     256},
    {"mapa.shared::cluster.u32 $0, $1, 0",
     "exact",
     true,
     {{VALUE_INT, 32, 32}, {VALUE_INT, 32, 32}},
     1,
     1,
     256},
    {"mbarrier.pending_count.b64",
     "exact",
     false,
     {{VALUE_INT, 32, 32}, {VALUE_INT, 64, 64}},
     1,
     1,
     256},
    {"createpolicy.fractional.L2::evict_last.b64 $0, $1",
     "exact",
     true,
     {{VALUE_INT, 64, 64}, {VALUE_F32, 32, 32}},
     1,
     1,
     256},
    {"movmatrix.sync.aligned.m8n8.trans.b16",
     "exact",
     false,
     {{VALUE_INT, 32, 32}, {VALUE_INT, 32, 32}},
     1,
     1,
     256},
};

static unsigned *taken, ntaken;
static void choose_forms(unsigned most) {
  forms_expand();
  forms = realloc(forms, (nforms + sizeof more_forms / sizeof more_forms[0]) * sizeof *forms);
  for (unsigned i = 0; i < sizeof more_forms / sizeof more_forms[0]; i++)
    forms[nforms++] = more_forms[i];
  unsigned *order = malloc(nforms * sizeof *order);
  for (unsigned i = 0; i < nforms; i++) order[i] = i;
  for (unsigned i = nforms; i-- > 1;) {
    unsigned j = (unsigned)(next_random() % (i + 1)), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  taken = malloc(nforms * sizeof *taken);
  for (unsigned i = 0; i < nforms; i++) {
    const Form *f = &forms[order[i]];
    Opcode *o = opcode_of(f);
    if (!o || !has_rule(o) || !is_suitable(f)) continue;
    o->seen++;
    if (most && o->taken >= most) continue;
    o->taken++;
    taken[ntaken++] = order[i];
  }
  free(order);
  for (unsigned i = 0; i < OPCODES; i++)
    if (has_rule(&opcodes[i]) && !opcodes[i].seen)
      fprintf(stderr, "no form: %s has the rule %s\n", opcodes[i].name, opcodes[i].validity);
}

// --- PTX ---

static const char *reg_type(unsigned bits) {
  return bits == 1 ? "pred" : bits == 16 ? "b16" : bits == 32 ? "b32" : "b64";
}

static void print_instruction(FILE *f, const Form *form) {
  fprintf(f, "  ");
  if (!form->whole) {
    fprintf(f, "%s ", form->text);
    for (unsigned k = 0; k < form->ndst + form->nsrc; k++) fprintf(f, "%sv%u", k ? ", " : "", k);
  } else
    for (const char *p = form->text; *p; p++) {
      if (*p == '$') fputc('v', f);
      else if (p[0] == '<' && p[1] == '<') {
        fputc('{', f);
        p++;
      } else if (!strcmp(p, " >>")) {
        fputs("; } //", f);
        p += 2;
      } else if (p[0] == '>' && p[1] == '>') {
        fputc('}', f);
        p++;
      } else fputc(*p, f);
    }
  fprintf(f, ";\n");
}

// A source: row[k] ^ (unwritten[k] & row[nsrc + k]).
static void print_source(FILE *f, const Form *form, unsigned k) {
  unsigned n = form->ndst + k, bits = form->ops[n].reg_bits;
  fprintf(f,
          "  ld.global.b64 a, [in+%u];\n  ld.global.b64 b, [in+%u];\n  ld.global.b64 c, "
          "[unwritten+%u];\n",
          k * 8, (form->nsrc + k) * 8, k * 8);
  fprintf(f, "  and.b64 c, c, b;\n  xor.b64 a, a, c;\n");
  if (bits == 64) fprintf(f, "  mov.b64 v%u, a;\n", n);
  else if (bits == 32) fprintf(f, "  cvt.u32.u64 v%u, a;\n", n);
  else if (bits == 16) fprintf(f, "  cvt.u16.u64 v%u, a;\n", n);
  else fprintf(f, "  and.b64 a, a, 1;\n  setp.ne.u64 v%u, a, 0;\n", n);
}

// A result: its value to `out`, each bit to a word of `bits`.
static void print_result(FILE *f, const Form *form, unsigned k) {
  unsigned bits = form->ops[k].reg_bits;
  if (bits == 64) fprintf(f, "  mov.b64 a, v%u;\n", k);
  else if (bits == 32) fprintf(f, "  cvt.u64.u32 a, v%u;\n", k);
  else if (bits == 16) fprintf(f, "  cvt.u64.u16 a, v%u;\n", k);
  else fprintf(f, "  selp.b64 a, -1, 0, v%u;\n", k);
  fprintf(f,
          "  st.global.b64 [out+%u], a;\n  mov.b64 b, 1;\nBIT%u:\n  and.b64 c, a, b;\n  "
          "st.global.b64 [bits], c;\n",
          k * 8, k);
  fprintf(f,
          "  add.u64 bits, bits, 8;\n  shl.b64 b, b, 1;\n  setp.ne.u64 more, b, 0;\n  @more bra "
          "BIT%u;\n",
          k);
}

static void print_kernel(FILE *f, const Form *form, unsigned index) {
  fprintf(f,
          "// %s\n.visible .entry f%u(.param .u64 pin, .param .u64 pun, .param .u64 pout, .param "
          ".u64 pbits) {\n",
          form->text, index);
  fprintf(f, "  .reg .b64 in, unwritten, out, bits, a, b, c;\n  .reg .b32 i, t0, t1;\n  .reg .pred "
             "more;\n");
  for (unsigned k = 0; k < form->ndst + form->nsrc; k++)
    fprintf(f, "  .reg .%s v%u;\n", reg_type(form->ops[k].reg_bits), k);
  fprintf(f, "  mov.u32 i, %%tid.x;\n  ld.param.u64 in, [pin];\n  ld.param.u64 unwritten, [pun];\n "
             " ld.param.u64 out, [pout];\n  ld.param.u64 bits, [pbits];\n");
  fprintf(f, "  mad.wide.u32 in, i, %u, in;\n  mad.wide.u32 unwritten, i, %u, unwritten;\n",
          form->nsrc * 16, form->nsrc * 8);
  fprintf(f, "  mad.wide.u32 out, i, %u, out;\n  mad.wide.u32 bits, i, %u, bits;\n", form->ndst * 8,
          form->ndst * 512);
  for (unsigned k = 0; k < form->nsrc; k++) print_source(f, form, k);
  print_instruction(f, form);
  for (unsigned k = 0; k < form->ndst; k++) print_result(f, form, k);
  fprintf(f, "  ret;\n}\n\n");
}

// Thread i asks which of the 64 words from bits[64 * i] on are initialised: a bit of shadow[i] for
// each that is not.
static const char ask[] =
    ".visible .entry ask(.param .u64 pbits, .param .u64 pshadow) {\n  .reg .b64 bits, shadow, "
    "found, one, more;\n  .reg .b32 i, good;\n  .reg .pred p;\n"
    "  mov.u32 i, %tid.x;\n  ld.param.u64 bits, [pbits];\n  ld.param.u64 shadow, [pshadow];\n  "
    "mad.wide.u32 bits, i, 512, bits;\n  mad.wide.u32 shadow, i, 8, shadow;\n"
    "  mov.b64 found, 0;\n  mov.b64 one, 1;\nNEXT:\n  { .reg .b64 wg_is_initialized_p, "
    "wg_is_initialized_n;\n  .reg .b32 wg_is_initialized_r;\n"
    "  mov.b64 wg_is_initialized_p, bits;\n  mov.b64 wg_is_initialized_n, 8;\n  mov.b32 "
    "wg_is_initialized_r, 1;\n  mov.b32 good, wg_is_initialized_r; }\n"
    "  setp.eq.u32 p, good, 0;\n  selp.b64 more, one, 0, p;\n  or.b64 found, found, more;\n  "
    "add.u64 bits, bits, 8;\n  shl.b64 one, one, 1;\n"
    "  setp.ne.u64 p, one, 0;\n  @p bra NEXT;\n  st.global.b64 [shadow], found;\n  ret;\n}\n";

static char *print_module(unsigned first, unsigned count) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  forms_print_header(f, "8.6", "sm_90");
  fputs(ask, f);
  for (unsigned i = first; i < first + count; i++) print_kernel(f, &forms[taken[i]], i);
  fclose(f);
  return text;
}

// --- running ---

static CUdeviceptr in_at, unwritten_at[2], out_at, bits_at, shadow_at;

static void launch(void *module, const char *name, unsigned threads, void **args) {
  void *function;
  must(cuModuleGetFunction(&function, module, name), name);
  must(cuLaunchKernel(function, (threads + 127) / 128, 1, 1, threads < 128 ? threads : 128, 1, 1, 0,
                      NULL, args, NULL),
       name);
  must(cuCtxSynchronize(), name);
}

// No bit, all, one, a byte, a few, many, those below one, those above.
static uint64_t random_mask(unsigned bits) {
  uint64_t r = next_random(), at = r >> 8;
  switch (r % 10) {
    case 0: case 1: return 0;
    case 2: return ~0ull;
    case 3: return 1ull << at % bits;
    case 4: return 0xffull << at % (bits < 8 ? 1 : bits / 8) * 8;
    case 5: return next_random() & next_random() & next_random();
    case 6: return next_random();
    case 7: return (1ull << at % bits) - 1;
    case 8: return ~0ull << at % bits;
    default: return 1ull << (bits - 1);
  }
}

static void run_once(void *module, const Form *f, unsigned index, unsigned which, uint64_t *values,
                     uint64_t *shadows) {
  char name[32];
  snprintf(name, sizeof name, "f%u", index);
  launch(module, name, ROWS, (void *[]){&in_at, &unwritten_at[which], &out_at, &bits_at});
  // One block of at most 128 threads: the kernels take %tid.x alone.
  for (unsigned first = 0; first < ROWS * f->ndst; first += 128) {
    CUdeviceptr bits = bits_at + first * 512ull, shadow = shadow_at + first * 8ull;
    unsigned n = ROWS * f->ndst - first < 128 ? ROWS * f->ndst - first : 128;
    launch(module, "ask", n, (void *[]){&bits, &shadow});
  }
  must(cuMemcpyDtoH_v2(values, out_at, ROWS * f->ndst * 8), "values");
  must(cuMemcpyDtoH_v2(shadows, shadow_at, ROWS * f->ndst * 8), "shadows");
}

// What is not followed: the carry flag, which is no register; registers of 128 bits; what other
// lanes bring to a match.
static bool is_sound(const Form *f) {
  return !strstr(f->text, ".cc") && !strstr(f->text, "b128") &&
         strncmp(opcode_of(f)->name, "match", 5);
}

// Operands that say which lanes take part, and where a value comes from, are reported where they
// are uninitialised, and count as good then.
static bool is_reported(const Form *f, unsigned source) {
  return !strcmp(opcode_of(f)->name, "shfl") && source;
}

static void run_form(void *module, unsigned index) {
  const Form *f = &forms[taken[index]];
  static uint64_t all[MAX_ROWS * 4], in[ROWS * MAX_OPERANDS * 2], values[2][ROWS * MAX_OPERANDS],
      shadows[2][ROWS * MAX_OPERANDS];
  forms_fill_inputs(f, all);
  for (unsigned r = 0; r < ROWS; r++) {
    unsigned from = (unsigned)(next_random() % f->rows);
    for (unsigned k = 0; k < f->nsrc; k++) {
      in[(r * 2) * f->nsrc + k] = all[from * f->nsrc + k];
      uint64_t mask = random_mask(f->ops[f->ndst + k].reg_bits);
      in[(r * 2 + 1) * f->nsrc + k] = is_reported(f, k) ? 0 : mask;
    }
  }
  must(cuMemcpyHtoD_v2(in_at, in, ROWS * f->nsrc * 16), "inputs");
  for (unsigned which = 0; which < 2; which++)
    run_once(module, f, index, which, values[which], shadows[which]);
  printf("form %s\n", f->text);
  for (unsigned i = 0; i < ROWS * f->ndst; i++) {
    const uint64_t *row = &in[i / f->ndst * 2 * f->nsrc];
    printf("%u.%u %llx:%llx", i / f->ndst, i % f->ndst, (unsigned long long)values[0][i],
           (unsigned long long)shadows[0][i]);
    for (unsigned k = 0; k < f->nsrc; k++)
      printf(" %llx:%llx", (unsigned long long)row[k], (unsigned long long)row[f->nsrc + k]);
    printf("\n");
    uint64_t differs = values[0][i] ^ values[1][i];
    if (is_sound(f) && differs & ~shadows[0][i])
      printf("unsound %s: row %u.%u: %llx\n", f->text, i / f->ndst, i % f->ndst,
             (unsigned long long)(differs & ~shadows[0][i]));
    if (shadows[0][i] != shadows[1][i])
      printf("depends %s: row %u.%u: %llx\n", f->text, i / f->ndst, i % f->ndst,
             (unsigned long long)shadows[1][i]);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  random_state = strtoull(argv[1], NULL, 0);
  choose_forms((unsigned)atoi(argv[2]));
  if (argc > 3) {
    fputs(print_module(0, ntaken), stdout);
    return 0;
  }
  int device;
  void *context;
  must(cuInit(0), "cuInit");
  must(cuDeviceGet(&device, 0), "device");
  must(cuDevicePrimaryCtxRetain(&context, device), "context");
  must(cuCtxSetCurrent(context), "context");
  size_t row_bytes = ROWS * MAX_OPERANDS * 8;
  must(cuMemAlloc_v2(&in_at, row_bytes * 2), "memory");
  must(cuMemAlloc_v2(&out_at, row_bytes), "memory");
  must(cuMemAlloc_v2(&bits_at, row_bytes * 64), "memory");
  must(cuMemAlloc_v2(&shadow_at, row_bytes), "memory");
  for (unsigned which = 0; which < 2; which++) {
    uint64_t *contents = malloc(row_bytes);
    for (unsigned i = 0; i < row_bytes / 8; i++)
      contents[i] = which ? next_random() | next_random() : 0;
    must(cuMemAlloc_v2(&unwritten_at[which], row_bytes), "memory");
    must(cuMemcpyHtoD_v2(unwritten_at[which], contents, row_bytes), "memory");
    wg_mark_uninitialized((void *)unwritten_at[which], row_bytes);
    free(contents);
  }
  for (unsigned first = 0; first < ntaken; first += PER_MODULE) {
    unsigned count = ntaken - first < PER_MODULE ? ntaken - first : PER_MODULE;
    char *text = print_module(first, count);
    void *module;
    must(cuModuleLoadData(&module, text), "module");
    free(text);
    for (unsigned i = first; i < first + count; i++) run_form(module, i);
    must(cuModuleUnload(module), "unload");
  }
  printf("%u forms\n", ntaken);
  return 0;
}
