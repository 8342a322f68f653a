// Rules about memory accesses. Each tests one instruction; if several instructions of a line break
// the same rule, that is one advice.
#include "tools/profile/report_model.h"

// The share of a sector's cost that remains if it comes from the cache: measured on an H200
// (bench/profile_gain misaligned).
static const double IN_CACHE = 0.3;

typedef struct Found {
  const RunMeasure *worst;
  uint64_t requests, units, again;
  double ideal, gain;
  uint32_t n;
} Found;

static void add(Found *f, const Access *a) {
  const uint64_t *v = a->m->v;
  if (!f->worst || v[ACCESS_UNITS] > f->worst->v[ACCESS_UNITS]) f->worst = a->m;
  f->requests += v[ACCESS_REQUESTS];
  f->units += v[ACCESS_UNITS];
  f->again += v[ACCESS_AGAIN];
  f->ideal += a->ideal;
  f->n++;
}

static bool is_at(const RunMeasure *m, const RunMeasure *place) {
  return m->file == place->file && m->line == place->line &&
         m->v[ACCESS_SPACE] == place->v[ACCESS_SPACE];
}

static double per_request(double n, const Found *f) { return n / (double)MAX(f->requests, 1ull); }

// --- conditions of one access ---

typedef bool Condition(const KernelProfile *k, const Access *a);

static double kernel_sectors(const KernelProfile *k) {
  double n = 0;
  for (uint32_t i = 0; i < k->accesses.len; i++)
    if (k->accesses.data[i].m->v[ACCESS_SPACE] == SITE_GLOBAL)
      n += (double)k->accesses.data[i].m->v[ACCESS_UNITS];
  return n;
}

static double excess_of(const Access *a) { return (double)a->m->v[ACCESS_UNITS] - a->ideal; }

static bool is_scattered(const Access *a) {
  const uint64_t *v = a->m->v;
  return v[ACCESS_SPACE] == SITE_GLOBAL && v[ACCESS_WHAT] != SITE_ATOMIC &&
         (double)v[ACCESS_UNITS] >= 1.75 * a->ideal &&
         excess_of(a) >= 2 * (double)v[ACCESS_REQUESTS];
}

// Judges the line and not the instruction: an unrolled loop has many instructions.
static bool uncoalesced(const KernelProfile *k, const Access *a) {
  double excess = 0;
  if (!is_scattered(a)) return false;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const Access *b = &k->accesses.data[i];
    if (is_at(b->m, a->m) && is_scattered(b)) excess += excess_of(b);
  }
  return excess >= 0.05 * kernel_sectors(k);
}

static bool is_off(const RunMeasure *m) {
  return m->v[ACCESS_UNIT] * 2 > m->v[ACCESS_REQUESTS] &&
         m->v[ACCESS_OFF] * 2 > m->v[ACCESS_REQUESTS];
}

// A line that also loads (or stores) aligned elements is a stencil: some of it must be misaligned.
static bool misaligned(const KernelProfile *k, const Access *a) {
  const uint64_t *v = a->m->v;
  if (v[ACCESS_SPACE] != SITE_GLOBAL || v[ACCESS_WHAT] == SITE_ATOMIC || !is_off(a->m) ||
      uncoalesced(k, a))
    return false;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const RunMeasure *m = k->accesses.data[i].m;
    if (is_at(m, a->m) && m->v[ACCESS_WHAT] == v[ACCESS_WHAT] && m->v[ACCESS_UNIT] && !is_off(m))
      return false;
  }
  return true;
}

static bool bank_conflict(const KernelProfile *k, const Access *a) {
  return a->m->v[ACCESS_SPACE] == SITE_SHARED && (double)a->m->v[ACCESS_UNITS] >= 1.5 * a->ideal;
}

static bool constant_serialized(const KernelProfile *k, const Access *a) {
  return a->m->v[ACCESS_SPACE] == SITE_CONSTANT && (double)a->m->v[ACCESS_UNITS] >= 2 * a->ideal;
}

static bool atomic_contention(const KernelProfile *k, const Access *a) {
  const uint64_t *v = a->m->v;
  if (v[ACCESS_WHAT] != SITE_ATOMIC || v[ACCESS_THREADS] < 256) return false;
  if (v[ACCESS_SPACE] == SITE_SHARED)
    return v[ACCESS_SAME] * 2 > v[ACCESS_REQUESTS] && v[ACCESS_THREADS] >= 8 * v[ACCESS_REQUESTS];
  // several lanes of a warp share each address, or all warps the same one
  return v[ACCESS_THREADS] >= 8 * v[ACCESS_LINES] ||
         (v[ACCESS_LEAST] == v[ACCESS_MOST] && v[ACCESS_THREADS] >= 4 * v[ACCESS_REQUESTS]);
}

static bool vectorize(const KernelProfile *k, const Access *a) {
  return a->m->v[ACCESS_VECTOR] >= 2;
}

static bool redundant_load(const KernelProfile *k, const Access *a) {
  const uint64_t *v = a->m->v;
  return v[ACCESS_SPACE] == SITE_GLOBAL && v[ACCESS_AGAIN] * 2 > v[ACCESS_REQUESTS];
}

// --- the text of the evidence ---

typedef void Evidence(const Found *f, Str *out);

static void say_sectors(const Found *f, Str *out) {
  str_printf(out, "%s take %.1f sectors of 32 bytes a request, %.1f would do: ",
             profile_site_kind(f->worst), per_request((double)f->units, f),
             per_request(f->ideal, f));
  profile_pattern(f->worst, out);
}

static void say_banks(const Found *f, Str *out) {
  const uint64_t *v = f->worst->v;
  double degree = (double)v[ACCESS_UNITS] / (double)MAX(v[ACCESS_LINES], 1ull);
  str_printf(out, "%s have %.1f-way bank conflicts: ", profile_site_kind(f->worst), degree);
  profile_pattern(f->worst, out);
}

static void say_words(const Found *f, Str *out) {
  str_printf(out, "a warp reads %.1f different words of constant memory at once",
             per_request((double)f->units, f));
}

static void say_atomics(const Found *f, Str *out) {
  const uint64_t *v = f->worst->v;
  double lanes = (double)v[ACCESS_THREADS] / (double)MAX(v[ACCESS_REQUESTS], 1ull);
  bool shared = v[ACCESS_SPACE] == SITE_SHARED;
  double addresses = shared ? 1 : (double)v[ACCESS_LINES] / (double)MAX(v[ACCESS_REQUESTS], 1ull);
  str_printf(out, "%s: %.1f lanes of a warp update %.1f address%s, %llu updates in all",
             profile_site_kind(f->worst), lanes, addresses, addresses == 1 ? "" : "es",
             (unsigned long long)v[ACCESS_THREADS]);
  if (!shared && v[ACCESS_LEAST] == v[ACCESS_MOST]) str_add(out, ", of one address by all warps");
}

static void say_vector(const Found *f, Str *out) {
  const uint64_t *v = f->worst->v;
  str_printf(out, "%s: %llu neighbouring elements of %llu bytes could be one of %llu bytes",
             profile_site_kind(f->worst), (unsigned long long)v[ACCESS_VECTOR],
             (unsigned long long)v[ACCESS_BYTES],
             (unsigned long long)(v[ACCESS_VECTOR] * v[ACCESS_BYTES]));
}

static void say_again(const Found *f, Str *out) {
  str_printf(out, "%llu of %llu requests (%s) have the address of the turn before",
             (unsigned long long)f->again, (unsigned long long)f->requests,
             profile_site_kind(f->worst));
}

// --- the rules ---

static const struct MemoryRule {
  RuleId rule;
  Condition *fits;
  Evidence *say;
  Part part;
} memory_rules[] = {
    {RULE_UNCOALESCED, uncoalesced, say_sectors, PART_MEMORY},
    {RULE_MISALIGNED, misaligned, say_sectors, PART_MEMORY},
    {RULE_BANK_CONFLICT, bank_conflict, say_banks, PART_SHARED},
    {RULE_CONSTANT_SERIALIZED, constant_serialized, say_words, PART_ISSUE},
    {RULE_ATOMIC_CONTENTION, atomic_contention, say_atomics, PART_ATOMICS},
    {RULE_VECTORIZE, vectorize, say_vector, PART_ISSUE},
    {RULE_REDUNDANT_LOAD, redundant_load, say_again, PART_MEMORY},
};

// The gain of following the advice, as a share of the part of the device it concerns.
static double share_of(const KernelProfile *k, const struct MemoryRule *rule, const Found *f) {
  double all = 0, excess = (double)f->units - f->ideal;
  if (rule->rule == RULE_REDUNDANT_LOAD)
    excess = (double)f->units * (double)f->again / (double)MAX(f->requests, 1ull);
  // the next request finds the extra sector in the cache
  if (rule->rule == RULE_MISALIGNED) excess *= IN_CACHE;
  if (rule->rule == RULE_VECTORIZE)
    return k->warp_instructions ? (double)f->requests / (double)k->warp_instructions : 0;
  if (rule->part == PART_ATOMICS) return k->parts[PART_ATOMICS] > 0 ? 0.9 : 0;
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const uint64_t *v = k->accesses.data[i].m->v;
    if (v[ACCESS_SPACE] == f->worst->v[ACCESS_SPACE]) all += (double)v[ACCESS_UNITS];
  }
  return all > 0 ? excess / all : 0;
}

// The padding that removes the conflict, if rows have one length. There are no rows to pad if
// distances grow from iteration to iteration, or are small multiples.
enum { SHORTEST_ROW = 8 };
static const char *padding(ProfileModel *m, const RunMeasure *x) {
  const uint64_t *v = x->v;
  uint64_t width = MAX(v[ACCESS_BYTES], 4ull), row = v[ACCESS_MOST] / width;
  if (v[ACCESS_STRIDE] * 2 <= v[ACCESS_REQUESTS] || v[ACCESS_MOST] % width || row < 2) return NULL;
  if (v[ACCESS_LEAST] != v[ACCESS_MOST] || row < SHORTEST_ROW)
    return "Let neighbouring threads access neighbouring elements: s[threadIdx.x], not "
           "s[n * threadIdx.x]; in a reduction begin with the largest distance and halve it, "
           "instead of doubling it; use an array for each field instead of an array of structs.";
  return arena_printf(&m->arena,
                      "Make rows of %llu elements instead of %llu (one of padding: [%llu] instead "
                      "of [%llu]), or permute the columns: index [row][column ^ row].",
                      (unsigned long long)row + 1, (unsigned long long)row,
                      (unsigned long long)row + 1, (unsigned long long)row);
}

// Explains the distance between lanes; NULL: it has no obvious cause.
enum { LARGEST_STRUCT = 64 };
static const char *coalescing(ProfileModel *m, const RunMeasure *x) {
  const uint64_t *v = x->v;
  bool regular = v[ACCESS_STRIDE] * 2 > v[ACCESS_REQUESTS];
  if (!regular || v[ACCESS_LEAST] != v[ACCESS_MOST]) return NULL;
  if (v[ACCESS_MOST] && v[ACCESS_MOST] <= LARGEST_STRUCT)
    return arena_printf(&m->arena,
                        "Use an array for each field (x[i], y[i]) instead of an array of structs "
                        "of %llu bytes (p[i].x), or let thread i access element i instead of "
                        "i * %llu.",
                        (unsigned long long)v[ACCESS_MOST],
                        (unsigned long long)(v[ACCESS_MOST] / MAX(v[ACCESS_BYTES], 1ull)));
  return "Let neighbouring threads access neighbouring elements: index with threadIdx.x in the "
         "last dimension (a[y][x], not a[x][y]), give each thread every n-th element instead of n "
         "in a row, or stage a tile in shared memory and read that the other way round.";
}

static void check_line(ProfileModel *m, const KernelProfile *k, const struct MemoryRule *rule,
                       uint32_t first) {
  const RunMeasure *place = k->accesses.data[first].m;
  Found f = {0};
  for (uint32_t i = 0; i < k->accesses.len; i++) {
    const Access *a = &k->accesses.data[i];
    if (!is_at(a->m, place) || !rule->fits(k, a)) continue;
    if (i < first) return;  // an earlier access of this line was handled before
    add(&f, a);
  }
  Str text = {0};
  rule->say(&f, &text);
  Advice a = {.rule = rule->rule,
              .file = place->file,
              .line = place->line,
              .evidence = arena_strdup(&m->arena, text.data)};
  if (rule->rule == RULE_BANK_CONFLICT) a.instead = padding(m, f.worst);
  if (rule->rule == RULE_ATOMIC_CONTENTION && place->v[ACCESS_SPACE] == SITE_SHARED)
    a.instead = "Add up within the warp first (__reduce_add_sync, __match_any_sync), or give each "
                "warp a copy of the counters and add those up at the end.";
  if (rule->rule == RULE_UNCOALESCED) a.instead = coalescing(m, f.worst);
  profile_advise(m, k, a, rule->part, share_of(k, rule, &f) * k->parts[rule->part]);
  str_free(&text);
}

void profile_rules_memory(ProfileModel *m, const KernelProfile *k) {
  for (size_t r = 0; r < ARRAY_LEN(memory_rules); r++)
    for (uint32_t i = 0; i < k->accesses.len; i++)
      if (memory_rules[r].fits(k, &k->accesses.data[i])) check_line(m, k, &memory_rules[r], i);
}
