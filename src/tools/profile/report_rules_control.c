// Rules about branches and the work of warps.
#include "tools/profile/report_model.h"

enum { FEW_WARPS = 8 };

// Branches that divide warps, and leave lanes idle for a large part of the kernel. A bound (if (i <
// n)) divides only one warp of a launch. Lanes that leave a loop in different iterations divide in
// few of these, and are idle for long.
static void divergence(ProfileModel *m, const KernelProfile *k) {
  for (uint32_t i = 0; i < k->branches.len; i++) {
    const Branch *b = &k->branches.data[i];
    double lost = (double)b->idle / (double)MAX(k->warp_instructions, 1ull);
    bool often = b->parted * 10 >= b->warps;
    if (b->parted < FEW_WARPS || lost < (often ? 0.15 : 0.25)) continue;
    if (!often && b->parted * 100 < b->warps) continue;
    Advice a = {.rule = RULE_DIVERGENCE, .file = b->file, .line = b->line};
    a.evidence = arena_printf(&m->arena,
                              "%.0f%% of the warps take both sides of the branch (%llu of %llu); "
                              "idle lanes cost %.0f%% of the kernel's instructions",
                              100.0 * (double)b->parted / (double)b->warps,
                              (unsigned long long)b->parted, (unsigned long long)b->warps,
                              100 * lost);
    if (!often)
      a.instead = "Let the lanes of a warp make the same number of turns: sort the work by length, "
                  "or let a lane that has finished take the next piece.";
    profile_advise(m, k, a, PART_ISSUE, lost * k->parts[PART_ISSUE]);
  }
}

// A launch takes as long as its longest warp: with few warps left at the end, the device waits.
static void imbalance(ProfileModel *m, const KernelProfile *k) {
  if (k->work_warps < 2 * FEW_WARPS) return;
  double mean = (double)k->work_sum / (double)k->work_warps, most = (double)k->work_most;
  if (most < 3 * mean || most < 1000) return;
  Advice a = {.rule = RULE_IMBALANCE, .file = k->first_file, .line = (uint32_t)k->first_line};
  a.evidence = arena_printf(
      &m->arena, "the longest warp executes %.0f instructions, a warp on average %.0f", most, mean);
  profile_advise(m, k, a, PART_ISSUE, (1 - mean / most) * profile_kernel_ns(k) / 2);
}

void profile_rules_control(ProfileModel *m, const KernelProfile *k) {
  divergence(m, k);
  imbalance(m, k);
}
