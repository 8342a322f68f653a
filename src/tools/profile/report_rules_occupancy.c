// Rules about a kernel's use of a multiprocessor's resources.
#include "tools/profile/report_model.h"

enum { MULTIPROCESSORS = 132, FEW_WARPS_EACH = 8 };

bool profile_occupancy(const KernelProfile *k, Occupancy *out) {
  if (!k->resources || !k->threads) return false;
  const uint64_t *v = k->resources->v;
  OccupancyAsk a = {(unsigned)v[RESOURCES_ARCH], (uint32_t)k->threads,
                    (uint32_t)v[RESOURCES_REGISTERS], (uint32_t)(v[RESOURCES_SHARED] + k->shared),
                    (uint32_t)k->cluster};
  *out = occupancy_of(&a);
  return out->most && out->blocks;
}

static void spill(ProfileModel *m, const KernelProfile *k) {
  const uint64_t *v = k->resources->v;
  if (!v[RESOURCES_SPILL_STORES] && !v[RESOURCES_SPILL_LOADS]) return;
  Advice a = {.rule = RULE_SPILL, .file = k->first_file, .line = (uint32_t)k->first_line};
  Str lines = {0};
  spills_text(m, k, &lines);
  a.evidence = arena_printf(
      &m->arena,
      "%llu bytes of spill stores and %llu bytes of spill loads in each thread, with %llu "
      "registers%s",
      (unsigned long long)v[RESOURCES_SPILL_STORES], (unsigned long long)v[RESOURCES_SPILL_LOADS],
      (unsigned long long)v[RESOURCES_REGISTERS], lines.len ? lines.data : "");
  str_free(&lines);
  profile_advise(m, k, a, PART_MEMORY, profile_spilled_bytes(k) / m->peaks->of[PEAK_MEMORY]);
}

// A launch that does not fill the device does not profit from more warps per multiprocessor.
static bool fills_device(const KernelProfile *k) {
  return k->blocks * ((k->threads + 31) / 32) >= MULTIPROCESSORS * FEW_WARPS_EACH;
}

static void occupancy(ProfileModel *m, const KernelProfile *k) {
  Occupancy o;
  if (!fills_device(k) || !profile_occupancy(k, &o)) return;
  if (o.limit == LIMIT_CLUSTER) return;
  bool blocks = o.limit == LIMIT_BLOCKS || o.limit == LIMIT_WARPS;
  if (o.warps * (blocks ? 2 : 4) > o.most) return;
  Advice a = {.file = k->first_file, .line = (uint32_t)k->first_line};
  a.rule = blocks                       ? RULE_OCCUPANCY_BLOCK
           : o.limit == LIMIT_REGISTERS ? RULE_OCCUPANCY_REGISTERS
                                        : RULE_OCCUPANCY_SHARED;
  const uint64_t *v = k->resources->v;
  a.evidence = arena_printf(
      &m->arena,
      "%u of %u warps fit on a multiprocessor: blocks of %llu threads, %llu "
      "registers a thread, %llu bytes of shared memory a block; limited by "
      "%s",
      o.warps, o.most, (unsigned long long)k->threads, (unsigned long long)v[RESOURCES_REGISTERS],
      (unsigned long long)(v[RESOURCES_SHARED] + k->shared), occupancy_limit_name(o.limit));
  // Twice the warps hide at most twice the waiting time; half of that counts, since some of it is
  // hidden already (measured: bench/profile_gain).
  unsigned longest = 0;
  for (unsigned i = 1; i < PART_COUNT; i++)
    if (k->parts[i] > k->parts[longest]) longest = i;
  profile_advise(m, k, a, longest, (1 - (double)o.warps / o.most) / 2 * k->parts[longest]);
}

// The last warp of each block has lanes without threads.
enum { IDLE_SHARE = 5 };  // a fifth of all lanes
static void odd_blocks(ProfileModel *m, const KernelProfile *k) {
  uint64_t lanes = (k->threads + 31) / 32 * 32;
  if (!fills_device(k) || (lanes - k->threads) * IDLE_SHARE < lanes) return;
  Advice a = {.rule = RULE_OCCUPANCY_BLOCK, .file = k->first_file, .line = (uint32_t)k->first_line};
  double share = (double)(lanes - k->threads) / (double)lanes;
  a.evidence = arena_printf(&m->arena,
                            "blocks of %llu threads take %llu warps of 32: %.0f%% of their lanes "
                            "have no thread",
                            (unsigned long long)k->threads, (unsigned long long)lanes / 32,
                            100 * share);
  profile_advise(m, k, a, PART_ISSUE, share * k->parts[PART_ISSUE]);
}

void profile_rules_occupancy(ProfileModel *m, const KernelProfile *k) {
  odd_blocks(m, k);
  if (!k->resources) return;
  spill(m, k);
  occupancy(m, k);
}
