// Every executable form of the arithmetic family, with edge values, on whichever device
// libcuda.so.1 is.
//
//   semantics list                     the forms
//   semantics ptx FIRST COUNT          PTX of some of them
//   semantics run OUT [FILTER]         runs them, writes OUT
//   semantics compare A B [SHOW]       A is the reference; exit code 1 if a form differs
//   semantics golden GPU CPU           the golden file: hash and text of each form that agrees, "#
//   differs" for others semantics check GOLDEN APPROX      runs them and compares: exact forms with
//   GOLDEN's hashes, approximations with APPROX semantics diverged GOLDEN APPROX   the same for
//   forms.def, with some lanes of each warp at a time semantics approx OUT APPROX        keeps only
//   the approximations of OUT
//
// check and diverged take a third argument N: only every Nth form.
// SEMANTICS_CUDA names another library than libcuda.so.1.
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "forms.h"
#include "results.h"

enum { FORMS_PER_MODULE = 64 };
#define PTX_VERSION "8.6"
#define PTX_TARGET "sm_90"

static char *print_module(unsigned first, unsigned count) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  forms_print_header(f, PTX_VERSION, PTX_TARGET);
  for (unsigned i = first; i < first + count && i < nforms; i++)
    forms_print_kernel(f, &forms[i], i);
  fclose(f);
  return text;
}

static void run_form(CudaModule **m, unsigned i, Result *r) {
  static char log[8192];
  const Form *f = &forms[i];
  *r = (Result){.text = (char *)f->text, .rows = f->rows, .ndst = f->ndst, .log = log};
  log[0] = 0;
  if (!*m) {
    char *ptx = print_module(i, 1);
    *m = cuda_load(ptx, log, sizeof log);
    free(ptx);
    if (!*m) {
      r->state = RESULT_NOT_LOADED;
      return;
    }
  }
  uint64_t *in = calloc((size_t)f->rows * f->nsrc, 8);
  forms_fill_inputs(f, in);
  r->values = calloc((size_t)f->rows * f->ndst, 8);
  char name[32];
  snprintf(name, sizeof name, "f%u", i);
  if (!cuda_run(*m, name, in, (size_t)f->rows * f->nsrc * 8, r->values,
                (size_t)f->rows * f->ndst * 8, f->rows, log, sizeof log)) {
    r->state = RESULT_NOT_RUN;
    *m = NULL;
  }
  free(in);
}

// Calls f for every form the filter matches. A module that does not load, or a kernel that fails,
// falls back to one module per form.
typedef void ResultFn(unsigned form, Result *r, void *ctx);
static unsigned every = 1;
static void run_all(const char *filter, ResultFn *use, void *ctx) {
  static char log[8192];
  unsigned count = forms_diverged ? narithmetic : nforms;
  for (unsigned first = 0; first < count; first += FORMS_PER_MODULE) {
    bool wanted = !filter;
    for (unsigned i = first; i < first + FORMS_PER_MODULE && i < count; i++)
      wanted |= filter && strstr(forms[i].text, filter);
    if (!wanted) continue;
    char *ptx = print_module(first, FORMS_PER_MODULE);
    CudaModule *m = cuda_load(ptx, log, sizeof log);
    free(ptx);
    bool single = !m;
    for (unsigned i = first; i < first + FORMS_PER_MODULE && i < count; i++) {
      if (i % every || (filter && !strstr(forms[i].text, filter))) continue;
      Result r;
      run_form(&m, i, &r);
      use(i, &r, ctx);
      free(r.values);
      if (!m) single = true;
      if (single) {
        cuda_unload(m);
        m = NULL;
      }
    }
    cuda_unload(m);
  }
}

typedef struct RunContext { FILE *out; unsigned ok, failed; } RunContext;
static void write_result(unsigned form, Result *r, void *ctx) {
  RunContext *c = ctx;
  results_write(c->out, r);
  if (r->state == RESULT_OK) {
    c->ok++;
    return;
  }
  c->failed++;
  printf("not %s: %s: %s\n", r->state == RESULT_NOT_LOADED ? "loaded" : "run", r->text, r->log);
}

static FILE *must_open(const char *path, const char *mode) {
  FILE *f = fopen(path, mode);
  if (!f) {
    perror(path);
    exit(2);
  }
  return f;
}

static const Form *find_form(const char *text) {
  static unsigned next;                       // files are in the order of the table
  for (unsigned n = 0; n < nforms; n++) {
    const Form *f = &forms[(next + n) % nforms];
    if (strcmp(f->text, text)) continue;
    next = (next + n + 1) % nforms;
    return f;
  }
  return NULL;
}

static bool is_exact(const Form *f) { return !strcmp(f->rule, "exact"); }

// All results of a file, by form index.
static Result *read_results(const char *path) {
  Result *all = calloc(nforms, sizeof *all), r;
  FILE *f = must_open(path, "rb");
  while (results_read(f, &r)) {
    const Form *form = find_form(r.text);
    if (form) all[form - forms] = r;
  }
  fclose(f);
  return all;
}

static unsigned compare_form(const Form *f, const Result *a, const Result *b, unsigned show) {
  if (!a->text || !b->text) return 0;
  if (a->state != RESULT_OK) return 0;
  if (b->state != RESULT_OK) {
    printf("not %s: %s: %s\n", b->state == RESULT_NOT_LOADED ? "loaded" : "run", f->text, b->log);
    return 1;
  }
  unsigned bad = results_compare(f, a, b, show);
  if (bad) printf("DIFFERS in %u of %u rows: %s (%s)\n", bad, f->rows, f->text, f->rule);
  return bad;
}

static int command_compare(const char *a_path, const char *b_path, unsigned show) {
  Result *a = read_results(a_path), *b = read_results(b_path);
  unsigned differ = 0, same = 0;
  for (unsigned i = 0; i < nforms; i++) {
    if (!a[i].text || !b[i].text || a[i].state != RESULT_OK) continue;
    if (compare_form(&forms[i], &a[i], &b[i], show)) differ++; else same++;
  }
  printf("%u forms agree, %u differ\n", same, differ);
  return differ != 0;
}

typedef struct CheckContext {
  Result *approx;
  uint64_t *hash;
  bool *known;
  unsigned same, differ, unknown, departures;
} CheckContext;
static void check_result(unsigned i, Result *r, void *ctx) {
  CheckContext *c = ctx;
  const Form *f = &forms[i];
  if (is_exact(f) ? !c->known[i] : !c->approx[i].text) {
    c->unknown++;
    return;
  }
  unsigned bad = 0;
  if (r->state != RESULT_OK) {
    printf("not %s: %s: %s\n", r->state == RESULT_NOT_LOADED ? "loaded" : "run", f->text, r->log);
    bad = 1;
  } else if (!is_exact(f)) {
    bad = compare_form(f, &c->approx[i], r, 3);
  } else if (results_hash(r) != c->hash[i]) {
    printf("DIFFERS from the GPU: %s\n", f->text);
    bad = 1;
  }
  if (bad) c->differ++; else c->same++;
}

static int command_check(const char *golden, const char *approx) {
  CheckContext c = {0};
  c.approx = read_results(approx);
  c.hash = calloc(nforms, 8);
  c.known = calloc(nforms, 1);
  FILE *f = must_open(golden, "r");
  char line[1024];
  while (fgets(line, sizeof line, f)) {
    unsigned long long hash;
    int at;
    line[strcspn(line, "\n")] = 0;
    if (line[0] == '#') {
      c.departures++;
      continue;
    }
    if (sscanf(line, "%llx %n", &hash, &at) != 1) continue;
    const Form *form = find_form(line + at);
    if (!form) {
      printf("%s: no such form any more: %s\n", golden, line + at);
      return 1;
    }
    c.hash[form - forms] = hash;
    c.known[form - forms] = true;
  }
  fclose(f);
  run_all(NULL, check_result, &c);
  printf("semantics: %u forms as on the GPU, %u differ, %u differ knowingly, %u never ran on one\n",
         c.same, c.differ, c.departures, c.unknown - c.departures);
  return c.differ != 0 || c.same == 0;
}

int main(int argc, char **argv) {
  forms_expand();
  const char *command = argc > 1 ? argv[1] : "";
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!strcmp(command, "list")) {
    for (unsigned i = 0; i < nforms; i++) printf("%u %s\n", i, forms[i].text);
    return 0;
  }
  if (!strcmp(command, "ptx") && argc == 4) {
    fputs(print_module((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3])), stdout);
    return 0;
  }
  if (!strcmp(command, "compare") && argc >= 4)
    return command_compare(argv[2], argv[3], argc > 4 ? (unsigned)atoi(argv[4]) : 3);
  if (!strcmp(command, "golden") && argc == 4) {
    Result *gpu = read_results(argv[2]), *cpu = read_results(argv[3]);
    for (unsigned i = 0; i < nforms; i++) {
      if (!gpu[i].text || gpu[i].state != RESULT_OK || !is_exact(&forms[i])) continue;
      bool same = cpu[i].text && cpu[i].state == RESULT_OK &&
                  results_hash(&gpu[i]) == results_hash(&cpu[i]);
      if (same) printf("%016llx %s\n", (unsigned long long)results_hash(&gpu[i]), forms[i].text);
      else printf("# differs %s\n", forms[i].text);
    }
    return 0;
  }
  if (!strcmp(command, "approx") && argc == 4) {
    Result *all = read_results(argv[2]);
    FILE *out = must_open(argv[3], "wb");
    for (unsigned i = 0; i < nforms; i++)
      if (all[i].text && all[i].state == RESULT_OK && !is_exact(&forms[i]))
        results_write(out, &all[i]);
    return fclose(out);
  }
  bool run = !strcmp(command, "run") && argc >= 3,
       check = (!strcmp(command, "check") || !strcmp(command, "diverged")) && argc >= 4;
  if (!run && !check) {
    fprintf(stderr,
            "semantics: list | ptx FIRST COUNT | run OUT [FILTER] | compare A B [SHOW] | golden "
            "GPU CPU | approx OUT APPROX | check GOLDEN APPROX [N] | diverged GOLDEN APPROX [N]\n");
    return 2;
  }
  const char *library = getenv("SEMANTICS_CUDA");
  if (!cuda_open(library ? library : "libcuda.so.1")) return 2;
  forms_diverged = !strcmp(command, "diverged");
  if (check && argc > 4 && atoi(argv[4]) > 0) every = (unsigned)atoi(argv[4]);
  if (check) return command_check(argv[2], argv[3]);
  RunContext c = {must_open(argv[2], "wb"), 0, 0};
  run_all(argc > 3 ? argv[3] : NULL, write_result, &c);
  fclose(c.out);
  printf("semantics: %u forms ran on %s, %u did not\n", c.ok, cuda_device_name(), c.failed);
  return 0;
}
