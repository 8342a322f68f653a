// Turns that end in masked code, in the form that runs whole blocks: before a store of some lanes,
// so that the other warps catch up. All such places share the code that keeps the registers and
// masks of a warp and takes them back. A warp that waits there has its store's number with
// TURNS_APART in BlockTurns.at, and the lanes that store in a variable.
#include "vgpu/region/region.h"

void region_apart_declare(Region *r) {
  if (r->block) region_line(r, "%%apart_lanes = alloca i32");
}

// Is a register needed after a store of masked code, or where other lanes wait meanwhile?
static bool is_needed(const Region *r, const PtxReg *reg) {
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if ((r->waits[i] || r->apart[i]) && region_is_live(region_live_at(r, &r->code->insts[i]), reg))
      return true;
  return false;
}

static void move_all(Region *r, bool keep) {
  size_t end = 0;
  for (uint32_t i = 0; i < r->func->nregs; i++)
    if (r->kept[i] && is_needed(r, r->func->regs[i]))
      region_move_register(r, r->func->regs[i], &end, keep);
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (r->waits[i]) region_move_word(r, region_name("%%m%u", i).text, &end, keep);
  region_move_word(r, "%apart_lanes", &end, keep);
  r->waiting_bytes = MAX(r->waiting_bytes, (end + 63) & ~(size_t)63);
}

// Does the store have to wait? Shared memory: the first one after a barrier.
static Name must_wait(Region *r, bool shared, Name *flag) {
  if (!shared) return (Name){"%several"};
  *flag = region_field(r, "%w", offsetof(Warp, shared_store_waits));
  Name waits = region_emit(r, "load i8, ptr %s", flag->text);
  return region_emit(r, "icmp ne i8 %s, 0", waits.text);
}

// Ends the turn before the store. If the engine takes the block over, the warp leaves as if it came
// here now.
void region_apart_stop(Region *r, const Inst *store, RegionLeave *leave) {
  uint32_t i = (uint32_t)(store - r->code->insts);
  bool shared = store->src->space == SPACE_SHARED;
  Name flag = {""}, stop = region_label(r), on = region_label(r);
  Name must = must_wait(r, shared, &flag), before = r->lanes_now;
  r->apart[i] = true;
  region_line(r, "br i1 %s, label %%%s, label %%%s", must.text, stop.text, on.text);
  region_place(r, stop);
  if (shared) region_line(r, "store i8 0, ptr %s", flag.text);
  region_line(r, "store volatile i32 %s, ptr %%apart_lanes", before.text);
  region_line(r, "store i32 %u, ptr %%at", i | TURNS_APART);
  region_line(r, "br label %%apart_stop");
  str_printf(r->to, "V%u:\n", i);
  leave(r, store, region_emit(r, "load volatile i32, ptr %%apart_lanes"));
  str_printf(r->to, "R%u:\n", i);
  Name after = region_emit(r, "load volatile i32, ptr %%apart_lanes"), go = region_label(r);
  region_line(r, "br label %%%s", go.text);
  region_place(r, on);
  region_line(r, "br label %%%s", go.text);
  region_place(r, go);
  r->lanes_now = region_emit(r, "phi i32 [ %s, %%%s ], [ %s, %%R%u ]", before.text, on.text,
                             after.text, i);
  r->mask = region_emit(r, "bitcast i32 %s to <32 x i1>", r->lanes_now.text);
}

void region_apart_end(Region *r, Str *cases) {
  Str ways = {0};
  for (uint32_t i = 0; i < r->code->ninsts; i++) {
    if (!r->apart[i]) continue;
    uint32_t back = i | TURNS_APART, out = back | TURNS_UNLOAD;
    str_printf(&ways, "    i32 %u, label %%R%u\n    i32 %u, label %%V%u\n", back, i, out, i);
    str_printf(cases, "    i32 %u, label %%apart_go\n    i32 %u, label %%apart_go\n", back, out);
  }
  if (!ways.len) return;
  str_add(r->to, "apart_stop:\n");
  move_all(r, true);
  for (uint32_t i = 0; i < r->code->ninsts; i++)
    if (r->waits[i]) region_line(r, "store volatile i32 0, ptr %%m%u", i);
  str_add(r->to, "  br label %next\napart_go:\n");
  move_all(r, false);
  str_printf(r->to, "  switch i32 %%where, label %%apart_none [\n%s  ]\napart_none:\n", ways.data);
  str_add(r->to, "  unreachable\n");
  str_free(&ways);
}
