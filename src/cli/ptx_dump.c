// warpgrind ptx --dump=LIST: prints the data of each stage. One function for each stage, in the
// order the pipeline runs them.
#include "cli/ptx_dump.h"

typedef void DumpFunction(const IrCfg *cfg, Str *out);

static void print_blocks(const char *what, const uint32_t *blocks, uint32_t n, Str *out) {
  if (!n) return;
  str_printf(out, "%s", what);
  for (uint32_t i = 0; i < n; i++) str_printf(out, " B%u", blocks[i]);
}

static void dump_cfg(const IrCfg *cfg, Str *out) {
  for (uint32_t b = 0; b < cfg->nblocks; b++) {
    const IrBlock *block = &cfg->blocks[b];
    str_printf(out, "  B%u:", b);
    if (block->rpo == IR_NONE) str_add(out, " unreachable");
    print_blocks(" from", block->pred, block->npred, out);
    print_blocks(" to", block->succ, block->nsucc, out);
    str_addc(out, '\n');
    for (uint32_t i = block->first; i < block->end; i++) {
      str_printf(out, "    %5u  ", cfg->instrs[i]->ptx_line);
      ptx_print_instr(cfg->instrs[i], out);
      str_addc(out, '\n');
    }
  }
  print_blocks("  order:", cfg->order, cfg->norder, out);
  str_addc(out, '\n');
}

static void print_block_or(uint32_t block, const char *none, Str *out) {
  if (block == IR_NONE) str_printf(out, " %s", none);
  else str_printf(out, " B%u", block);
}

static void dump_dominators(const IrCfg *cfg, Str *out) {
  for (uint32_t b = 0; b < cfg->nblocks; b++) {
    if (cfg->blocks[b].rpo == IR_NONE) continue;
    str_printf(out, "  B%u: dominated by", b);
    print_block_or(cfg->blocks[b].idom, "nothing", out);
    str_add(out, ", post-dominated by");
    print_block_or(cfg->blocks[b].ipdom, "the exit", out);
    str_addc(out, '\n');
  }
}

static void dump_loops(const IrCfg *cfg, Str *out) {
  if (!cfg->nloops) str_add(out, "  no loops\n");
  for (uint32_t l = 0; l < cfg->nloops; l++) {
    const IrLoop *loop = &cfg->loops[l];
    str_printf(out, "  L%u: depth %u, header B%u", l, loop->depth, loop->header);
    if (loop->parent != IR_NONE) str_printf(out, ", inside L%u", loop->parent);
    print_blocks(", blocks", loop->blocks, loop->nblocks, out);
    str_addc(out, '\n');
  }
}

static void print_registers(const IrCfg *cfg, const char *what, const uint64_t *set, Str *out) {
  str_add(out, what);
  for (uint32_t r = 0; r < cfg->func->nregs; r++)
    if (set[r / 64] >> (r % 64) & 1) str_printf(out, " %s", cfg->func->regs[r]->name);
}

static void dump_liveness(const IrCfg *cfg, Str *out) {
  IrLiveness *live = ir_liveness_build(cfg);
  for (uint32_t b = 0; b < cfg->nblocks; b++) {
    if (cfg->blocks[b].rpo == IR_NONE) continue;
    str_printf(out, "  B%u:", b);
    print_registers(cfg, " in", live->live_in[b], out);
    print_registers(cfg, " | out", live->live_out[b], out);
    str_addc(out, '\n');
  }
  ir_liveness_free(live);
}

static void dump_uniform(const IrCfg *cfg, Str *out) {
  // as in a launch with a one-dimensional block
  IrUniformFacts facts = {.lanes_are_consecutive = true};
  IrUniform *uniform = ir_uniform_build(cfg, &facts);
  ir_dump_uniform(cfg, uniform, out);
  ir_uniform_free(uniform);
}

static const struct {
  const char *name;
  DumpFunction *run;
} stages[] = {
    {"cfg", dump_cfg},
    {"dom", dump_dominators},
    {"loops", dump_loops},
    {"live", dump_liveness},
    {"uniform", dump_uniform},
    {"provenance", ir_dump_provenance},
    {"linear", ir_dump_loop_plans},
};

#define CONTRACT \
  "contract"  // a stage of the whole module, and the only one that changes it: always last
static bool is_contract(const char *name, size_t n) {
  return n == strlen(CONTRACT) && strncmp(name, CONTRACT, n) == 0;
}

static DumpFunction *find_stage(const char *name, size_t n) {
  for (size_t i = 0; i < ARRAY_LEN(stages); i++)
    if (strlen(stages[i].name) == n && strncmp(stages[i].name, name, n) == 0) return stages[i].run;
  return NULL;
}

#define STAGE_NAMES "cfg, dom, loops, live, uniform, provenance, linear, contract"
bool cli_check_dump(const char *list, Error *err) {
  for (const char *p = list; *p;) {
    size_t n = strcspn(p, ",");
    if (!find_stage(p, n) && !is_contract(p, n))
      return error_set(err, "--dump=%.*s: the stages are " STAGE_NAMES ".", (int)n, p);
    p += n + (p[n] == ',');
  }
  return *list ? true : error_set(err, "--dump needs a list of stages: " STAGE_NAMES ".");
}

static bool dump_functions(PtxModule *m, const char *list, Str *out, Error *err) {
  for (uint32_t f = 0; f < m->nfuncs; f++) {
    PtxFunc *func = m->funcs[f];
    if (func->is_declaration) continue;
    IrCfg *cfg = ir_cfg_build(func, err);
    if (!cfg) return false;
    bool ok = ir_verify(cfg, err);
    for (const char *p = list; ok && *p;) {
      size_t n = strcspn(p, ",");
      DumpFunction *run = find_stage(p, n);
      if (run) {
        str_printf(out, "%.*s of %s %s\n", (int)n, p, func->is_entry ? "kernel" : "function",
                   func->name);
        run(cfg, out);
      }
      p += n + (p[n] == ',');
    }
    ir_cfg_free(cfg);
    if (!ok) return false;
  }
  return true;
}

bool cli_dump_module(PtxModule *m, const char *list, Str *out, Error *err) {
  if (!dump_functions(m, list, out, err)) return false;
  for (const char *p = list; *p;) {
    size_t n = strcspn(p, ",");
    if (is_contract(p, n)) {
      Str log = {0};
      bool ok = ir_contract_for(m, 0, &log, err);
      str_printf(out, "contract\n%s", log.len ? log.data : "  nothing to change\n");
      str_free(&log);
      return ok;
    }
    p += n + (p[n] == ',');
  }
  return true;
}
