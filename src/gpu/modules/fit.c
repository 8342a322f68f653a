// A kernel with checks must allow the threads and the shared memory of the original and, if blocks
// may wait for each other, as many blocks at a time. Registers decide that: where the checks need
// too many, the compiler is given a limit.
#include "gpu/modules/modules.h"

typedef struct Needs {
  int threads, shared, regs;
} Needs;

static bool kernel_needs(CUmodule module, CUlibrary library, const char *name, Needs *out) {
  static const CUfunction_attribute wanted[] = {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                                CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                                                CU_FUNC_ATTRIBUTE_NUM_REGS};
  int *values[] = {&out->threads, &out->shared, &out->regs};
  GpuContext *c = gpu_context_current();
  CUfunction f;
  CUkernel k;
  if (library && (!c || gpu_real.cuLibraryGetKernel(&k, library, name) != CUDA_SUCCESS))
    return false;
  if (module && gpu_real.cuModuleGetFunction(&f, module, name) != CUDA_SUCCESS) return false;
  for (unsigned i = 0; i < ARRAY_LEN(wanted); i++)
    if ((library ? gpu_real.cuKernelGetAttribute(values[i], wanted[i], k, c->device)
                 : gpu_real.cuFuncGetAttribute(values[i], wanted[i], f)) != CUDA_SUCCESS)
      return false;
  return true;
}

// Does this code wait for other blocks? Then as many blocks as before must run at a time. Only the
// program's own code is examined: checks and records wait, too, but not for blocks that have not
// begun.
bool gpu_may_wait(PtxModule *const *units, uint32_t n) {
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t i = 0; i < units[u]->nfuncs; i++)
      for (uint32_t k = 0; k < units[u]->funcs[i]->nstmts; k++) {
        const PtxStmt *s = &units[u]->funcs[i]->stmts[k];
        if (s->kind != STMT_INSTR) continue;
        const PtxInstr *in = s->instr;
        if (in->op == OP_LD && (ptx_has(in, MOD_VOLATILE) || ptx_has(in, MOD_ACQUIRE)) &&
            in->space != SPACE_SHARED)
          return true;
        if (in->op == OP_ATOM && ptx_has(in, MOD_CAS) && in->space != SPACE_SHARED) return true;
      }
  return false;
}

// Registers that a kernel with checks may have in any case. 32: as many threads run at a time as
// can. Loops gain more from a few registers more than they lose by having fewer threads (measured
// on an H200 with PolyBench: 2MM with a test of every access 1.50 times the plain time with
// 32, 1.20 with 48; with a test of every result 1.41 with 32, where its loop keeps three values in
// local memory; 2DCONV, without loops, 1.76 and 2.27). A pass that knows better asks for another
// number (WovenKernel.registers, loop_registers).
enum { REGISTERS_FREE_OF_COST = 32, REGISTERS_OF_LOOPS = 48 };
unsigned gpu_fit_floor(void) {  // 0: no other was requested
  const char *text = getenv("WARPGRIND_REGISTERS");
  int n = text ? atoi(text) : 0;
  return n >= 16 && n <= 255 ? (unsigned)n : 0;
}

enum { REGISTER_FILE = 65536, REGISTER_STEP = 8 };
static unsigned round_up(unsigned n, unsigned to) { return (n + to - 1) / to * to; }

// The registers a thread may use so that the kernel can do what the original could; 0: no limit is
// needed.
static unsigned register_limit(const Needs *original, const Needs *ours, bool keep_occupancy) {
  unsigned limit = 0;
  if (ours->threads < original->threads && original->threads > 0)
    limit = MIN(255u, REGISTER_FILE / round_up((unsigned)original->threads, 128) / REGISTER_STEP *
                          REGISTER_STEP);
  unsigned step = MAX(round_up((unsigned)MAX(original->regs, 1), REGISTER_STEP),
                      (unsigned)REGISTERS_FREE_OF_COST);
  if (keep_occupancy && (unsigned)ours->regs > step) limit = limit ? MIN(limit, step) : step;
  return limit;
}

static void limit_registers(PtxModule *m, PtxFunc *f, unsigned limit) {
  const char **list = ARENA_ARRAY(&m->arena, const char *, f->ndirectives + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->ndirectives; i++)
    if (strncmp(f->directives[i], ".maxnreg", 8)) list[n++] = f->directives[i];
  if (f->maxnreg) limit = MIN(limit, f->maxnreg);
  list[n++] = arena_printf(&m->arena, ".maxnreg %u", limit);
  f->directives = list;
  f->ndirectives = n;
  f->maxnreg = limit;
}

// Checks are rarely reached code with calls in it, for which the compiler would take more registers
// for all of the kernel (GEMM of PolyBench: 52 instead of 22), and fewer threads could run at a
// time. So the kernel gets as many as the original has, and spills the rest to local memory.
static unsigned floor_of(const Woven *made, const char *kernel, unsigned original,
                         bool keep_occupancy) {
  const WovenKernel *k = weave_kernel(made, kernel);
  if (gpu_fit_floor()) return gpu_fit_floor();
  if (k && k->registers && !keep_occupancy) return k->registers;
  if (k && k->loop_registers && k->has_loops && !keep_occupancy) {
    unsigned wanted = round_up(original + k->loop_registers, REGISTER_STEP);
    return MAX((unsigned)REGISTERS_FREE_OF_COST, MIN(k->loop_registers_most, wanted));
  }
  return k && k->has_loops && !keep_occupancy ? REGISTERS_OF_LOOPS : REGISTERS_FREE_OF_COST;
}

void gpu_fit_registers(GpuModule *m, GpuPiece *p, const GpuMade *made) {
  bool keep_occupancy = made->result.may_wait;
  for (uint32_t i = 0; i < p->nkernels; i++) {
    Needs original;
    if (!kernel_needs(m->module, m->library, p->kernels[i], &original) || original.regs <= 0)
      continue;
    unsigned limit = MAX(
        round_up((unsigned)original.regs, REGISTER_STEP),
        floor_of(&made->result, p->kernels[i], (unsigned)original.regs, keep_occupancy));
    for (uint32_t u = 0; u < made->n; u++) {
      PtxFunc *f = ptx_find_func(made->units[u], p->kernels[i]);
      if (f && !f->is_declaration && limit < 255) limit_registers(made->units[u], f, limit);
    }
  }
}

bool gpu_fit(GpuModule *m, GpuPiece *p, const GpuMade *made, bool *try_again, Error *err) {
  const GpuLoaded *l = &p->loaded;
  bool keep_occupancy = made->result.may_wait, fit = true;
  *try_again = false;
  for (uint32_t i = 0; i < p->nkernels; i++) {
    Needs original, ours;
    // never launched then
    if (!kernel_needs(m->module, m->library, p->kernels[i], &original)) continue;
    if (!kernel_needs(l->module, l->library, p->kernels[i], &ours))
      return error_set(err, "the driver does not find %s in the code with checks", p->kernels[i]);
    log_verbose(
        "kernel %s: %d registers, %d without checks; blocks of up to %d threads, %d without",
        p->kernels[i], ours.regs, original.regs, ours.threads, original.threads);
    if (ours.shared > original.shared)
      return error_set(err, "with checks it needs %d bytes of shared memory instead of %d",
                       ours.shared, original.shared);
    unsigned limit = register_limit(&original, &ours, keep_occupancy);
    if (!limit) continue;
    fit = false;
    error_set(err, "with checks it needs %d registers instead of %d: %s", ours.regs, original.regs,
              ours.threads < original.threads
                  ? "a block could not have as many threads"
                  : "fewer blocks could run at a time, and it seems to wait for other blocks");
    for (uint32_t u = 0; u < made->n; u++) {
      PtxFunc *f = ptx_find_func(made->units[u], p->kernels[i]);
      if (!f || f->is_declaration || (f->maxnreg && f->maxnreg <= limit)) continue;
      limit_registers(made->units[u], f, limit);
      *try_again = true;
    }
  }
  return fit;
}
