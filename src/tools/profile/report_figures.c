// Figures of a kernel as a whole: the classes of its instructions, the memory that a launch and the
// blocks of a multiprocessor touch, the warps that a multiprocessor had.
#include "tools/profile/report_figures.h"

#include <math.h>

#include "base/json.h"

enum { CLASSES_SHOWN = 5 };

// Upper bounds: distinct bytes cannot exceed the buffers that parameters point into, nor the bytes
// that are moved.
typedef struct WorkingSet {
  double moved;           // bytes of all sectors of a launch
  double launch;          // what L2 would have to keep
  double multiprocessor;  // what L1 would have to keep, for the blocks that are resident at a time
} WorkingSet;

static WorkingSet working_set(const ProfileModel *m, const KernelProfile *k) {
  WorkingSet w = {0};
  Occupancy o;
  double resident = 1;
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.data[i].m->v[ACCESS_SPACE] == SITE_GLOBAL)
      w.moved += 32 * (double)k->accesses.data[i].m->v[ACCESS_UNITS];
  w.moved /= (double)MAX(k->runs, 1ull);
  w.launch = k->buffers ? MIN(w.moved, (double)k->buffers) : w.moved;
  if (!k->blocks) return w;
  if (profile_occupancy(k, &o)) resident = o.blocks;
  resident = MIN(resident, ceil((double)k->blocks / m->peaks->of[PEAK_PROCESSORS]));
  w.multiprocessor = MIN(w.launch, w.moved / (double)k->blocks * resident);
  return w;
}

static void add_bytes(Str *out, double bytes) {
  if (bytes >= 1e6) str_printf(out, "%.3g MB", bytes / 1e6);
  else if (bytes >= 1e3) str_printf(out, "%.3g KB", bytes / 1e3);
  else str_printf(out, "%.0f bytes", bytes);
}

static void add_mix(const KernelProfile *k, Str *out) {
  bool shown[COUNT_CLASSES] = {0};
  if (!k->instructions) return;
  str_add(out, "  instructions:");
  for (unsigned n = 0; n < CLASSES_SHOWN; n++) {
    unsigned most = COUNT_CLASSES;
    for (unsigned i = 0; i < COUNT_CLASSES; i++)
      if (!shown[i] && run_class_name(i) && k->classes[i] &&
          (most == COUNT_CLASSES || k->classes[i] > k->classes[most]))
        most = i;
    if (most == COUNT_CLASSES) break;
    shown[most] = true;
    str_printf(out, "%s %s %.0f%%", n ? "," : "", run_class_name(most),
               100 * (double)k->classes[most] / (double)k->instructions);
  }
  if (k->uniform)
    str_printf(out, "; %.0f%% compute the same in all lanes",
               100 * (double)k->uniform / (double)MAX(k->warp_instructions, 1ull));
  str_addc(out, '\n');
}

static void add_working_set(const ProfileModel *m, const KernelProfile *k, Str *out) {
  WorkingSet w = working_set(m, k);
  if (w.launch <= 0) return;
  str_add(out, "  working set (estimate): a launch touches at most ");
  add_bytes(out, w.launch);
  if (w.moved > 1.05 * w.launch)
    str_printf(out, ", each byte %.1f times on average", w.moved / w.launch);
  str_add(out, "; the blocks on a multiprocessor ");
  add_bytes(out, w.multiprocessor);
  str_addc(out, '\n');
}

static void add_achieved(const KernelProfile *k, Str *out) {
  Occupancy o;
  double warps = profile_achieved_warps(k);
  if (warps <= 0) return;
  str_printf(out, "  achieved occupancy: %.1f warps on a multiprocessor on average", warps);
  if (profile_occupancy(k, &o)) str_printf(out, ", %.0f%% of %u", 100 * warps / o.most, o.most);
  str_addc(out, '\n');
}

void figures_text(const ProfileModel *m, const KernelProfile *k, Str *out) {
  add_achieved(k, out);
  add_mix(k, out);
  add_working_set(m, k, out);
}

static void number(Str *s, const char *key, double v) {
  json_key(s, key);
  str_printf(s, "%.6g", v);
}

void figures_json(const ProfileModel *m, const KernelProfile *k, Str *s) {
  uint64_t warps = 0, parted = 0;
  json_open(s, "mix", '{');
  for (unsigned i = 0; i < COUNT_CLASSES; i++)
    if (k->classes[i] && run_class_name(i)) json_number(s, run_class_name(i), k->classes[i]);
  str_addc(s, '}');
  json_number(s, "uniform", k->uniform);
  for (uint32_t i = 0; i < k->branches.len; i++) {
    warps += k->branches.data[i].warps;
    parted += k->branches.data[i].parted;
  }
  if (warps) number(s, "branch_efficiency", 1 - (double)parted / (double)warps);
  if (profile_achieved_warps(k) > 0) number(s, "achieved_warps", profile_achieved_warps(k));
  WorkingSet w = working_set(m, k);
  if (w.launch <= 0) return;
  json_open(s, "working_set", '{');
  number(s, "moved_bytes", w.moved);
  number(s, "launch_bytes", w.launch);
  number(s, "multiprocessor_bytes", w.multiprocessor);
  str_addc(s, '}');
}
