// Short pieces of code that data lets some lanes skip, such as `if (a < b) c = d;`: straight code,
// in which a lane that skips an instruction keeps its registers. Only forward branches, and only
// instructions without side effects, so it makes no difference that lanes never part.
#include "vgpu/region/region.h"

// More instructions than this are worth a part of their own (masked.c).
enum { MOST_PREDICATED = 24, ALWAYS_RUN = 3 };

static uint32_t index_of(const Region *r, const Inst *in) {
  return (uint32_t)(in - r->code->insts);
}

// --- which code ---
// Where branches come from, by the Inst they go to.
typedef struct Sources {
  uint32_t *lowest, *highest;
} Sources;

static void add_source(Sources *s, uint32_t from, uint32_t to) {
  s->lowest[to] = MIN(s->lowest[to], from);
  s->highest[to] = MAX(s->highest[to], from);
}

static void find_sources(const Region *r, Sources *s) {
  uint32_t n = r->code->ninsts;
  for (uint32_t i = 0; i <= n; i++) s->lowest[i] = UINT32_MAX;
  for (uint32_t i = 0; i < n; i++) {
    const Inst *in = &r->code->insts[i];
    if (in->fn == exec_jump || in->fn == exec_branch) add_source(s, i, index_of(r, in->target));
    if (in->fn != exec_branch_indexed) continue;
    for (uint32_t k = 0; k < in->b; k++)
      add_source(s, i, index_of(r, ((const Inst *const *)in->ptr)[k]));
  }
}

// May it be computed for lanes that do not need it?
static bool is_harmless(const Region *r, uint32_t i) {
  const PtxInstr *in = r->code->insts[i].src;
  switch ((Shape)r->shape[i]) {
    case SHAPE_UNKNOWN:
    case SHAPE_STOP:
    case SHAPE_SREG:
    case SHAPE_PARAM:
    case SHAPE_LOAD:
    case SHAPE_STORE:
    case SHAPE_LOCAL:
    case SHAPE_SHUFFLE:
    case SHAPE_VOTE: return false;
    default: break;
  }
  // such an instruction may have to leave in the middle
  return !(ptx_has(in, MOD_FTZ) && region_is_f32_arithmetic(in));
}

static bool is_parted(const Region *r, const Inst *in) {
  uint32_t n = region_number(r, in->src);
  return n != IR_NONE && r->divergent[r->cfg->block_of[n]] && !region_is_cold(r, in);
}

static bool is_data_branch(const Region *r, const Inst *in) {
  return in->fn == exec_branch && in->target > in && r->kept[in->src->guard->id] &&
         r->lanes[in->src->guard->id] == LANES_DATA && !region_is_cold(r, in);
}

// The Inst where all lanes are together again after the branch at i; 0: it is not such a branch.
static uint32_t find_end(const Region *r, const Sources *s, uint32_t i) {
  uint32_t end = index_of(r, r->code->insts[i].target), instructions = 0;
  for (uint32_t j = i + 1; j < end; j = region_after(r, j)) {
    const Inst *in = &r->code->insts[j];
    if (!is_parted(r, in)) return 0;
    if (region_is_head(in) || in->fn == exec_join) continue;
    if (in->fn == exec_branch || in->fn == exec_jump) {
      if (in->target <= in) return 0;
      if (in->fn == exec_branch && !r->kept[in->src->guard->id]) return 0;
      end = MAX(end, index_of(r, in->target));
    } else if (!is_harmless(r, j)) return 0;
    if (++instructions > MOST_PREDICATED) return 0;
  }
  for (uint32_t j = i + 1; j < end; j++)
    if (s->lowest[j] != UINT32_MAX && (s->lowest[j] < i || s->highest[j] >= end)) return 0;
  return end < r->code->ninsts ? end : 0;
}

// Before a store code must be able to begin: the warp may have had to wait.
static bool begins_with_store(const Region *r, uint32_t i) {
  while (i < r->code->ninsts &&
         (region_is_head(&r->code->insts[i]) || r->code->insts[i].fn == exec_join))
    i++;
  return i == r->code->ninsts || r->shape[i] == SHAPE_STORE || r->shape[i] == SHAPE_STOP;
}

void region_find_predicated(Region *r) {
  uint32_t n = r->code->ninsts;
  Sources s = {mem_alloc((n + 1) * sizeof *s.lowest), mem_alloc((n + 1) * sizeof *s.highest)};
  find_sources(r, &s);
  for (uint32_t i = 0; i < n;) {
    uint32_t end = is_data_branch(r, &r->code->insts[i]) ? find_end(r, &s, i) : 0;
    r->predicated_end[i] = end;
    for (uint32_t j = i + 1; j < end; j++) r->inside[j] = true;
    if (end && s.lowest[end] >= i && s.highest[end] < end && !begins_with_store(r, end))
      r->closed[end] = true;
    i = end ? end : i + 1;
  }
  free(s.lowest);
  free(s.highest);
}

// --- its text ---
static Name both(Region *r, const char *op, Name a, Name b) {
  return region_emit(r, "%s <32 x i1> %s, %s", op, a.text, b.text);
}

static Name inverse(Region *r, Name a) {
  return both(r, "xor", a, region_emit(r, "bitcast i32 -1 to <32 x i1>"));
}

// The lanes that a branch sends to its target, if they come to it.
static Name taken(Region *r, const Inst *branch) {
  LaneValue p = region_read(r, branch->src->guard, false);
  Name v = region_vector(r, &p);
  return branch->src->guard_negated ? inverse(r, v) : v;
}

// Lanes that wait for an Inst of this piece; "": none.
static void add_pending(Region *r, Name *pending, Name lanes) {
  *pending = pending->text[0] ? both(r, "or", *pending, lanes) : lanes;
}

static void emit_piece(Region *r, uint32_t i, Name *pending) {
  for (uint32_t j = i + 1, end = r->predicated_end[i]; j < end; j = region_after(r, j)) {
    const Inst *in = &r->code->insts[j];
    if (pending[j - i].text[0]) r->mask = both(r, "or", r->mask, pending[j - i]);
    if (region_is_head(in) || in->fn == exec_join) continue;
    if (in->fn == exec_branch) {
      Name go = taken(r, in);
      add_pending(r, &pending[index_of(r, in->target) - i], both(r, "and", r->mask, go));
      r->mask = both(r, "and", r->mask, inverse(r, go));
    } else if (in->fn == exec_jump) {
      add_pending(r, &pending[index_of(r, in->target) - i], r->mask);
      r->mask = region_emit(r, "bitcast i32 0 to <32 x i1>");
    } else region_instruction(r, j);
  }
}

uint32_t region_predicated(Region *r, uint32_t i) {
  const Inst *in = &r->code->insts[i];
  uint32_t end = r->predicated_end[i];
  bool was_masked = r->masked;
  Name outer = r->mask, go = taken(r, in), done = region_label(r);
  Name stay = inverse(r, go);
  if (was_masked) {
    go = both(r, "and", outer, go);
    stay = both(r, "and", outer, stay);
  }
  bool can_skip = index_of(r, in->target) == end && end - i > ALWAYS_RUN + 1;
  if (can_skip) {
    Name bits = region_emit(r, "bitcast <32 x i1> %s to i32", stay.text);
    Name some = region_emit(r, "icmp ne i32 %s, 0", bits.text), run = region_label(r);
    region_line(r, "br i1 %s, label %%%s, label %%%s", some.text, run.text, done.text);
    region_place(r, run);
  }
  Name *pending = mem_alloc((end - i + 1) * sizeof *pending);
  add_pending(r, &pending[index_of(r, in->target) - i], go);
  r->masked = true;
  r->mask = stay;
  emit_piece(r, i, pending);
  r->masked = was_masked;
  r->mask = outer;
  free(pending);
  if (can_skip) {
    region_line(r, "br label %%%s", done.text);
    region_place(r, done);
  }
  r->ngroups = 0;
  return end;
}
