// memcheck: checks that every load, store and atomic stays inside the object from which its address
// was computed.
#include "tools/memcheck/internal.h"
#include "tools/options.h"

// The place from which the pointer of an address was loaded: pointers from one table are likely to
// point into one allocation.
static const void *pointer_source(const Memcheck *m, const Check *c) {
  enum { DEEPEST = 12 };
  const PtxOperand *o = &m->body->cfg->instrs[c->instr]->ops[c->operand].list[0];
  for (int depth = 0; depth < DEEPEST && o->kind == OPD_REG; depth++) {
    const PtxInstr *in = ir_single_def(m->defs, o->reg);
    if (!in) return o->reg;
    switch (in->op) {
      case OP_ADD:
        o = in->ops[2].kind == OPD_REG &&
                    m->provenance->reg[in->ops[2].reg->id].kind == IR_FROM_UNKNOWN
                ? &in->ops[2]
                : &in->ops[1];
        break;
      case OP_SUB:
      case OP_MOV:
      case OP_CVTA: o = &in->ops[1]; break;
      case OP_MAD: o = &in->ops[3]; break;
      case OP_LD: {
        IrOrigin from = in->ops[1].kind == OPD_ADDR ? ir_access_origin(m->provenance, &in->ops[1])
                                                    : (IrOrigin){0};
        return ir_is_object(from) ? (const void *)from.var : (const void *)in;
      }
      default: return o->reg;
    }
  }
  return NULL;
}

// Nothing was looked up yet: empty ranges. Pointers into different memory take turns, as a rule, so
// there are several.
static void prepare_caches(Memcheck *m) {
  const void *sources[MEMCHECK_CACHES] = {0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->nchecks; i++) {
    Check *c = &m->checks[i];
    if (c->kind != CHECK_LOOKUP) continue;
    c->cache = m->checks[c->leader].cache;
    if (c->leader != i) continue;
    const void *source = pointer_source(m, c);
    uint32_t k = 0;
    while (k < MIN(n, (uint32_t)MEMCHECK_CACHES) && sources[k] != source) k++;
    if (k == MIN(n, (uint32_t)MEMCHECK_CACHES)) {
      k = n++ % MEMCHECK_CACHES;
      sources[k] = source;
    }
    c->cache = k;
  }
  Code *c = n ? body_entry(m->body) : NULL;
  for (uint32_t i = 0; i < MIN(n, (uint32_t)MEMCHECK_CACHES); i++) {
    m->caches[i].base = body_reg(m->body, TYPE_B64);
    m->caches[i].last = body_reg(m->body, TYPE_B64);
    EMIT(c, "mov.u64", opd_reg(m->caches[i].base), opd_imm(-1));
    EMIT(c, "mov.u64", opd_reg(m->caches[i].last), opd_imm(0));
  }
}

static void finish(Memcheck *m) {
  Body *b = m->body;
  memcheck_heap(m);
  memcheck_textures(m);
  memcheck_surfaces(m);
  facts_keep(b, m->facts.data, m->facts.len);
  vec_free(&m->facts);
  vec_free(&m->index_tests);
  ir_alignment_free(m->alignment);
  ir_ranges_free(m->ranges);
  ir_defs_free(m->defs);
  ir_provenance_free(m->provenance);
}

static void emit(DeferredChecks *d, bool by_regions, const bool *cuts) {
  Memcheck *m = (Memcheck *)d;
  memcheck_find_index_tests(m, cuts);
  if (by_regions) {
    memcheck_emit_regions(m);
  } else {
    for (uint32_t i = 0; i < m->index_tests.len; i++)
      memcheck_emit_index_tests(m, &m->index_tests.data[i]);
    for (uint32_t i = 0; i < m->nchecks; i++) memcheck_emit(m, &m->checks[i]);
  }
  finish(m);
}

static void weave(Body *b) {
  const WeavePlan *plan = b->program->plan;
  Memcheck *m = ARENA_NEW(&b->cfg->arena, Memcheck);
  *m = (Memcheck){.deferred = {emit},
                  .body = b,
                  .provenance = ir_provenance_build(b->cfg),
                  .defs = ir_defs_build(b->cfg),
                  .alignment = ir_alignment_build(b->cfg)};
  m->hoisted_tests = ARENA_ARRAY(&b->cfg->arena, bool, b->cfg->ninstrs + 1);
  memcheck_plan(m);
  memcheck_group(m);
  memcheck_hoist(m);
  prepare_caches(m);
  if (plan->tools == (TOOL_BIT(MEMCHECK) | TOOL_BIT(INITCHECK))) b->deferred = &m->deferred;
  else
    emit(&m->deferred,
         !(plan->tool_options[TOOL_MEMCHECK] & MEMCHECK_ONE_BY_ONE) &&
             plan->tools == TOOL_BIT(MEMCHECK),
         NULL);
}

// WARPGRIND_REGIONS=no: for comparisons.
static unsigned options(const Options *o, const WeavePlan *plan) {
  const char *regions = getenv("WARPGRIND_REGIONS");
  return (options_is(o, OPT_ON_ERROR, "stop") ? MEMCHECK_STOPS : 0) |
         (regions && !strcmp(regions, "no") ? MEMCHECK_ONE_BY_ONE : 0);
}

// A place in a function of a header says little; inlined it comes with the line of the program.
const Pass pass_memcheck = {.options = options,
                            .weave = weave,
                            .inlines_debug = 8000,
                            .needs_each_object = true,
                            .numbers_in_findings = true,
                            .hears_nvtx = true};
