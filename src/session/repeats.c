// Launches of machine code that repeat the accesses of a launch that patches have tested. src/sass
// says whether the addresses that a kernel accesses follow from the key of a launch: its shape, its
// numbers, and how much of its allocation lies before and after each pointer. A later launch with
// the same key, or with more room around its pointers, accesses the same places of its allocations,
// and needs no patches.
#include "base/runstats.h"
#include "session/internal.h"

enum {
  MOST_KEPT = 256,    // launches of one kernel in one context
  MOST_FAILURES = 4,  // in a row: the kernel is not asked about again
  WORD_BYTES = 4,
  KNOWN_ALIGNMENT = 512  // src/sass takes an address modulo this number for known
};
static const uint64_t most_analysis_ns = 300000000;  // for one kernel

typedef struct Margin {
  uint64_t before, after;  // bytes of the allocation before and after the pointer's target
  uint32_t alignment;      // of its address, modulo KNOWN_ALIGNMENT
} Margin;

typedef struct Key {
  uint32_t grid[3], block[3], cluster[3], shared;
  bool cooperative;
  SassWord *words;
  Margin *margins;  // by word: of those that are the lower half of a pointer
  uint32_t nwords;
  SassParam *params;
  uint32_t nparams;
} Key;

typedef enum State { STATE_WAITS, STATE_INSIDE, STATE_REFUSED } State;

struct SessionRepeat {
  Key key;
  bool *ignored;  // by word: it may be anything
  State state;
  void *watch;
};

struct SessionRepeats {
  pthread_mutex_t lock;
  SassProgram *program;
  SessionKernel *kernel;
  VEC(SessionRepeat *) kept;
  bool numbers_matter;  // addresses follow from certain numbers only, such as flags
  uint32_t failures;    // since the last success
  uint64_t spent_ns;
};

SessionRepeats *session_repeats_new(SessionKernel *kernel, SassProgram *program) {
  SessionRepeats *r = mem_alloc(sizeof *r);
  pthread_mutex_init(&r->lock, NULL);
  r->kernel = kernel;
  r->program = program;
  return r;
}

void **session_repeat_watch(SessionRepeat *which) { return &which->watch; }

// --- the key of a launch ---

static void key_free(Key *k) {
  free(k->words);
  free(k->margins);
  free(k->params);
}

static void add_param(void *user, const uint8_t *at, size_t offset, size_t size) {
  Key *k = user;
  size_t end = (offset + size + WORD_BYTES - 1) / WORD_BYTES;
  if (end > k->nwords) {
    k->words = mem_realloc(k->words, end * sizeof *k->words);
    memset(k->words + k->nwords, 0, (end - k->nwords) * sizeof *k->words);
    k->nwords = (uint32_t)end;
  }
  k->params = mem_realloc(k->params, (k->nparams + 1) * sizeof *k->params);
  k->params[k->nparams++] = (SassParam){(uint32_t)offset, (uint32_t)size};
  for (size_t i = 0; i < size; i++) {
    SassWord *w = &k->words[(offset + i) / WORD_BYTES];
    w->number |= (uint32_t)at[i] << (offset + i) % WORD_BYTES * 8;
  }
}

static void find_pointers(Key *k) {
  k->margins = mem_alloc((k->nwords + 1) * sizeof *k->margins);
  for (uint32_t i = 0; i + 1 < k->nwords; i += 2) {
    uint64_t address = (uint64_t)k->words[i + 1].number << 32 | k->words[i].number;
    WgMemoryRange range;
    if (!session_may_be_pointer(address) || !session_ranges_find(address, &range)) continue;
    k->words[i].kind = SASS_WORD_LOW;
    k->words[i + 1].kind = SASS_WORD_HIGH;
    k->margins[i] = (Margin){.before = address - range.base,
                             .after = range.base + range.size - address,
                             .alignment = (uint32_t)(address % KNOWN_ALIGNMENT)};
  }
}

static Key key_of(const SessionCall *call) {
  const SessionLaunch *l = call->launch;
  Key k = {.shared = l->shared, .cooperative = l->cooperative};
  memcpy(k.grid, l->grid, sizeof k.grid);
  memcpy(k.block, l->block, sizeof k.block);
  memcpy(k.cluster, l->cluster, sizeof k.cluster);
  session_each_param(call, add_param, &k);
  find_pointers(&k);
  return k;
}

static bool same_shape(const Key *a, const Key *b) {
  return !memcmp(a->grid, b->grid, sizeof a->grid) &&
         !memcmp(a->block, b->block, sizeof a->block) &&
         !memcmp(a->cluster, b->cluster, sizeof a->cluster) && a->shared == b->shared &&
         a->cooperative == b->cooperative && a->nwords == b->nwords && a->nparams == b->nparams;
}

static bool has_room_of(const Margin *now, const Margin *then) {
  return now->before >= then->before && now->after >= then->after &&
         now->alignment == then->alignment;
}

// *differ: how many numbers do, of those that are not ignored. false: it is another key anyway
static bool compare_words(const Key *now, const SessionRepeat *r, uint32_t *differ) {
  const Key *then = &r->key;
  *differ = 0;
  for (uint32_t i = 0; i < now->nwords; i++) {
    const SassWord *a = &now->words[i], *b = &then->words[i];
    if (a->kind == SASS_WORD_LOW && b->kind == SASS_WORD_LOW) {
      if (!has_room_of(&now->margins[i], &then->margins[i])) return false;
    } else if (a->kind == SASS_WORD_NUMBER && b->kind == SASS_WORD_NUMBER) {
      *differ += a->number != b->number && !r->ignored[i];
    } else if (a->kind != b->kind) {
      return false;
    }
  }
  return true;
}

// --- what src/sass says ---

// numbers: whether they are told; else only that they stay the same. other: a launch whose numbers
// are different in words that may be anything; NULL: there is none
static bool repeats(SessionRepeats *r, const Key *k, bool numbers, const Key *other,
                    const bool *ignored, Error *why) {
  SassWord *words = mem_alloc((k->nwords + 1) * sizeof *words);
  for (uint32_t i = 0; i < k->nwords; i++) {
    words[i] = k->words[i];
    if (words[i].kind != SASS_WORD_NUMBER) continue;
    if (!numbers) words[i].kind = SASS_WORD_SAME;
    if ((ignored && ignored[i]) || (other && other->words[i].number != k->words[i].number))
      words[i].kind = SASS_WORD_ANY;
  }
  SassKey key = {.words = words, .nwords = k->nwords, .params = k->params, .nparams = k->nparams};
  memcpy(key.grid, k->grid, sizeof key.grid);
  memcpy(key.block, k->block, sizeof key.block);
  uint64_t start = clock_ns();
  bool ok = sass_repeats(r->program, &key, why);
  r->spent_ns += clock_ns() - start;
  free(words);
  return ok;
}

static bool may_ask(const SessionRepeats *r) {
  return r->failures < MOST_FAILURES && r->spent_ns < most_analysis_ns;
}

static bool follows_from_key(SessionRepeats *r, const Key *k) {
  Error why = {""};
  bool ok = !r->numbers_matter && repeats(r, k, false, NULL, NULL, &why);
  if (!ok && repeats(r, k, true, NULL, NULL, &why)) ok = r->numbers_matter = true;
  if (ok) r->failures = 0;
  else if (++r->failures == 1)
    log_verbose("%s: every launch is patched: %s", r->kernel->name, why.text);
  return ok;
}

// Words in which launches differ and that addresses do not depend on are ignored from then on.
static bool ignores_difference(SessionRepeats *r, SessionRepeat *then, const Key *now) {
  Error why = {""};
  if (!may_ask(r) || !repeats(r, &then->key, r->numbers_matter, now, then->ignored, &why))
    return false;
  for (uint32_t i = 0; i < now->nwords; i++)
    if (now->words[i].kind == SASS_WORD_NUMBER && now->words[i].number != then->key.words[i].number)
      then->ignored[i] = true;
  return true;
}

// --- looking a launch up ---

static SessionRepeat *find(SessionRepeats *r, const Key *now) {
  SessionRepeat *nearest = NULL;
  uint32_t least = UINT32_MAX, differ;
  for (uint32_t i = 0; i < r->kept.len; i++) {
    SessionRepeat *then = r->kept.data[i];
    if (!same_shape(now, &then->key) || !compare_words(now, then, &differ)) continue;
    if (!differ) return then;
    if (differ < least) {
      least = differ;
      nearest = then;
    }
  }
  return nearest && ignores_difference(r, nearest, now) ? nearest : NULL;
}

static SessionRepeat *keep(SessionRepeats *r, Key *k) {
  SessionRepeat *new = mem_alloc(sizeof *new);
  new->key = *k;
  new->ignored = mem_alloc(k->nwords + 1);
  *k = (Key){.nwords = 0};
  vec_push(&r->kept, new);
  return new;
}

SessionRepeatAnswer session_repeats_look(SessionRepeats *r, const SessionCall *call,
                                         SessionRepeat **which) {
  SessionRepeatAnswer answer = SESSION_REPEAT_CHECK;
  pthread_mutex_lock(&r->lock);
  if (r->kept.len || may_ask(r)) {
    Key k = key_of(call);
    *which = find(r, &k);
    if (*which) {
      answer = (*which)->state == STATE_INSIDE  ? SESSION_REPEAT_KNOWN
               : (*which)->state == STATE_WAITS ? SESSION_REPEAT_WAITS
                                                : SESSION_REPEAT_CHECK;
    } else if (r->kept.len < MOST_KEPT && may_ask(r) && follows_from_key(r, &k)) {
      *which = keep(r, &k);
      answer = SESSION_REPEAT_NEW;
    }
    key_free(&k);
  }
  pthread_mutex_unlock(&r->lock);
  return answer;
}

void session_repeat_settle(SessionRepeats *r, SessionRepeat *which, bool inside) {
  pthread_mutex_lock(&r->lock);
  which->state = inside ? STATE_INSIDE : STATE_REFUSED;
  pthread_mutex_unlock(&r->lock);
}

// --- the allocations that a launch's pointers lead to, for patches ---

static int by_base(const void *a, const void *b) {
  uint64_t x = ((const WgExtent *)a)->base, y = ((const WgExtent *)b)->base;
  return (x > y) - (x < y);
}

uint32_t session_repeat_extents(const SessionCall *call, WgExtent *out, uint32_t most) {
  Key k = key_of(call);
  uint32_t n = 0, kept = 0;
  bool fits = true;
  for (uint32_t i = 0; i < k.nwords && fits; i++) {
    if (k.words[i].kind != SASS_WORD_LOW) continue;
    const Margin *m = &k.margins[i];
    uint64_t address = (uint64_t)k.words[i + 1].number << 32 | k.words[i].number;
    fits = n < most;
    if (fits) out[n++] = (WgExtent){address - m->before, m->before + m->after};
  }
  key_free(&k);
  qsort(out, n, sizeof *out, by_base);
  for (uint32_t i = 0; i < n; i++)
    if (!kept || out[kept - 1].base != out[i].base) out[kept++] = out[i];
  return fits ? kept : 0;
}

void session_repeat_count(void) {
  atomic_fetch_add_explicit(&runstats()->repeated_launches, 1, memory_order_relaxed);
}
