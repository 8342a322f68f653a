// Roofline, waves of blocks, curves of the occupancy and the timeline.
#include "tools/profile/report_plots.h"

#include <math.h>

#include "base/json.h"

enum { MOST_CALLS = 5000 };

Roofline roofline_of(const ProfileModel *m, const KernelProfile *k) {
  Roofline r = {.floats = (double)k->floats};
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.data[i].m->v[ACCESS_SPACE] == SITE_GLOBAL)
      r.bytes += 32 * (double)k->accesses.data[i].m->v[ACCESS_UNITS];
  const double *peak = m->peaks->of;
  double memory = r.bytes / peak[PEAK_MEMORY], floats = r.floats / peak[PEAK_FLOAT];
  r.intensity = r.bytes > 0 ? r.floats / r.bytes : 0;
  r.memory_bound = memory >= floats;
  if (k->ns) r.attained = MAX(memory, floats) / (double)k->ns;
  return r;
}

Waves waves_of(const ProfileModel *m, const KernelProfile *k) {
  Occupancy o;
  if (!profile_occupancy(k, &o) || !o.blocks || !k->blocks) return (Waves){0, 0};
  double waves = (double)k->blocks / (o.blocks * m->peaks->of[PEAK_PROCESSORS]);
  double last = waves - floor(waves);
  return (Waves){waves, last > 0 ? last : 1};
}

static void number(Str *s, const char *key, double v) {
  json_key(s, key);
  str_printf(s, "%.6g", v);
}

static void curve(Str *s, const char *key, const KernelProfile *k, unsigned which) {
  const uint64_t *v = k->resources->v;
  uint32_t shared = (uint32_t)(v[RESOURCES_SHARED] + k->shared), n = 0;
  uint32_t step = which == 2   ? 4 << 10
                  : which == 1 ? 8
                               : 32,
           most = which == 2   ? 228 << 10
                  : which == 1 ? 255
                               : 1024;
  json_key(s, key);
  str_addc(s, '[');
  for (uint32_t x = step; x <= most; x += step) {
    OccupancyAsk a = {(unsigned)v[RESOURCES_ARCH], which ? (uint32_t)k->threads : x,
                      which == 1 ? x : (uint32_t)v[RESOURCES_REGISTERS], which == 2 ? x : shared,
                      (uint32_t)k->cluster};
    str_printf(s, "%s[%u,%u]", n++ ? "," : "", x, occupancy_of(&a).warps);
  }
  str_addc(s, ']');
}

void plots_kernel_json(const ProfileModel *m, const KernelProfile *k, Str *s) {
  Occupancy o;
  Roofline r = roofline_of(m, k);
  json_open(s, "roofline", '{');
  number(s, "bytes", r.bytes);
  number(s, "floats", r.floats);
  number(s, "intensity", r.intensity);
  json_text(s, "bound", r.memory_bound ? "memory" : "arithmetic");
  if (k->ns) number(s, "share_of_roof", r.attained);
  str_addc(s, '}');
  Waves w = waves_of(m, k);
  if (w.waves > 0) {
    json_open(s, "waves", '{');
    number(s, "waves", w.waves);
    number(s, "last_full", w.full);
    str_addc(s, '}');
  }
  if (!profile_occupancy(k, &o)) return;
  json_open(s, "curves", '{');
  curve(s, "threads", k, 0);
  curve(s, "registers", k, 1);
  curve(s, "shared", k, 2);
  str_addc(s, '}');
}

static void call_json(const ProfileModel *m, const RunMeasure *x, uint64_t first, Str *s) {
  static const char *const kinds[CALL_KINDS] = {"to device", "to host", "on device", "set",
                                                "wait",      "launch",  "node"};
  const uint64_t *v = x->v;
  json_open(s, NULL, '{');
  json_text(s, "kind", kinds[v[CALL_KIND] % CALL_KINDS]);
  json_text(s, "name", x->kernel ? run_readable_name(m->run, x->kernel) : x->text);
  json_number(s, "stream", v[CALL_STREAM]);
  json_number(s, "device", v[CALL_DEVICE]);
  json_number(s, "bytes", v[CALL_BYTES]);
  json_text(s, "file", x->file);
  json_number(s, "line", x->line);
  if (m->has_times) {
    json_number(s, "begin", v[CALL_BEGIN] - first);
    json_number(s, "end", v[CALL_END] - first);
  }
  if (v[CALL_QUEUED] >= first) json_number(s, "queued", v[CALL_QUEUED] - first);
  if (v[CALL_SUBMITTED] >= first) json_number(s, "submitted", v[CALL_SUBMITTED] - first);
  if (v[CALL_STARTED] >= first && v[CALL_STARTED]) {
    json_number(s, "started", v[CALL_STARTED] - first);
    json_number(s, "ended", v[CALL_ENDED] - first);
  }
  str_addc(s, '}');
}

void plots_json(const ProfileModel *m, Str *s) {
  uint64_t first = UINT64_MAX;
  json_open(s, "peaks", '{');
  json_text(s, "device", m->peaks->device);
  for (unsigned i = 0; i < PEAK_COUNT; i++) number(s, peak_name(i), m->peaks->of[i]);
  str_addc(s, '}');
  for (uint32_t i = 0; i < m->calls.len; i++) first = MIN(first, m->calls.data[i]->v[CALL_BEGIN]);
  json_number(s, "calls", m->calls.len);
  json_open(s, "timeline", '[');
  for (uint32_t i = 0; i < m->calls.len && i < MOST_CALLS; i++)
    call_json(m, m->calls.data[i], first, s);
  str_addc(s, ']');
}
