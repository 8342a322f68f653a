// The pattern of an access in words.
#include "tools/profile/report_model.h"

const char *profile_site_kind(const RunMeasure *m) {
  static const char *const names[3][3] = {
      {"loads of global memory", "stores to global memory", "atomics on global memory"},
      {"loads of shared memory", "stores to shared memory", "atomics on shared memory"},
      {"loads of constant memory", "stores to constant memory", "atomics on constant memory"}};
  uint64_t space = m->v[ACCESS_SPACE], what = m->v[ACCESS_WHAT];
  return space < 3 && what < 3 ? names[space][what] : "accesses";
}

static void add_offsets(const RunMeasure *m, Str *out) {
  uint64_t offsets = m->v[ACCESS_OFFSETS];
  unsigned bytes = offsets ? (unsigned)__builtin_ctzll(offsets) * 4 % 32 : 0;
  if (offsets && !(offsets & (offsets - 1)) && bytes)
    str_printf(out, ", misaligned by %u bytes", bytes);
  else str_add(out, ", misaligned");
}

// Lanes do not access one row of elements, but all of each sector is used: for example a block of
// 16 times 16 threads.
static bool fills_sectors(const RunMeasure *m) {
  const uint64_t *v = m->v;
  return v[ACCESS_SPACE] == SITE_GLOBAL && v[ACCESS_WHAT] != SITE_ATOMIC &&
         v[ACCESS_UNITS] * 32 * 10 <= v[ACCESS_THREADS] * v[ACCESS_BYTES] * 11;
}

void profile_pattern(const RunMeasure *m, Str *out) {
  const uint64_t *v = m->v;
  uint64_t most = v[ACCESS_REQUESTS] / 2;
  bool addresses = v[ACCESS_WHAT] == SITE_ATOMIC && v[ACCESS_SPACE] == SITE_GLOBAL;
  if (v[ACCESS_SAME] > most) {
    str_add(out, "one address for all lanes");
  } else if (v[ACCESS_UNIT] > most) {
    str_add(out, "unit stride");
    if (v[ACCESS_OFF] * 4 > v[ACCESS_REQUESTS]) add_offsets(m, out);
  } else if (v[ACCESS_STRIDE] > most && !addresses) {
    if (!v[ACCESS_MOST]) str_add(out, "stride of 128 bytes or more");
    else if (v[ACCESS_LEAST] != v[ACCESS_MOST])
      str_printf(out, "strides of %llu to %llu bytes", (unsigned long long)v[ACCESS_LEAST],
                 (unsigned long long)v[ACCESS_MOST]);
    else str_printf(out, "stride of %llu bytes", (unsigned long long)v[ACCESS_MOST]);
    if (v[ACCESS_MOST] && v[ACCESS_LEAST] == v[ACCESS_MOST] && v[ACCESS_MOST] <= 64 &&
        v[ACCESS_SPACE] == SITE_GLOBAL)
      str_printf(out, ", as in structs of %llu bytes", (unsigned long long)v[ACCESS_MOST]);
  } else if (fills_sectors(m)) {
    str_add(out, "rows of neighbouring elements");
  } else {
    str_add(out, "no regular distance between lanes");
  }
}
