// Names of one function body. Each distinct spelling has one Name; its `top` is the innermost
// declaration in force.
#include "ptx/parse.h"

void symbols_reset(Symbols *s) {
  // clear only the slots in use: small functions stay cheap
  for (uint32_t i = 0; i < s->names.len; i++) {
    uint32_t j = s->names.data[i].hash & (s->nslots - 1);
    while (s->slots[j]) {
      s->slots[j] = 0;
      j = (j + 1) & (s->nslots - 1);
    }
  }
  s->names.len = s->syms.len = s->scope_start.len = 0;
  s->single_numbered = s->digit_prefixes = 0;
}

void symbols_free(Symbols *s) {
  vec_free(&s->names);
  vec_free(&s->syms);
  vec_free(&s->scope_start);
  free(s->slots);
  s->slots = NULL;
}

static void grow_slots(Symbols *s) {
  uint32_t n = s->nslots ? s->nslots * 2 : 1024;
  free(s->slots);
  s->slots = mem_alloc(n * sizeof *s->slots);
  s->nslots = n;
  for (uint32_t i = 0; i < s->names.len; i++) {
    uint32_t j = s->names.data[i].hash & (n - 1);
    while (s->slots[j]) j = (j + 1) & (n - 1);
    s->slots[j] = i + 1;
  }
}

static inline int32_t lookup(const Symbols *s, const char *text, uint32_t len, uint32_t hash) {
  if (!s->nslots) return -1;
  for (uint32_t j = hash & (s->nslots - 1); s->slots[j]; j = (j + 1) & (s->nslots - 1)) {
    const Name *n = &s->names.data[s->slots[j] - 1];
    if (n->hash == hash && n->len == len && !memcmp(n->text, text, len))
      return (int32_t)s->slots[j] - 1;
  }
  return -1;
}

uint32_t symbols_name(Symbols *s, const char *text, uint32_t len, uint32_t hash) {
  int32_t found = lookup(s, text, len, hash);
  if (found >= 0) return (uint32_t)found;
  if (2 * (s->names.len + 1) > s->nslots) grow_slots(s);
  uint32_t j = hash & (s->nslots - 1);
  while (s->slots[j]) j = (j + 1) & (s->nslots - 1);
  vec_push(&s->names, (Name){.text = text, .len = len, .hash = hash, .top = -1});
  s->slots[j] = s->names.len;
  return s->names.len - 1;
}

void symbols_open(Symbols *s) { vec_push(&s->scope_start, s->syms.len); }

void symbols_close(Symbols *s) {
  uint32_t start = s->scope_start.data[--s->scope_start.len];
  while (s->syms.len > start) {
    const Sym *y = &s->syms.data[--s->syms.len];
    s->names.data[y->name].top = y->outer;
  }
}

uint32_t symbols_depth(const Symbols *s) { return s->scope_start.len; }

static Sym *top_of(const Symbols *s, int32_t name) {
  return name < 0 || s->names.data[name].top < 0 ? NULL : &s->syms.data[s->names.data[name].top];
}

// The number in `text` from `cut` on, as a range would write it; false: a range does not write such
// a name.
static bool range_number(const char *text, uint32_t len, uint32_t cut, uint32_t *number) {
  if (cut >= len || len - cut > 8 || (text[cut] == '0' && len - cut > 1)) return false;
  *number = 0;
  for (uint32_t i = cut; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    *number = *number * 10 + (uint32_t)(text[i] - '0');
  }
  return true;
}

// Every other way to cut a name into prefix and number, for the rare ranges whose prefix ends in a
// digit.
static Sym *find_odd_range(const Symbols *s, const Token *t, uint32_t *index) {
  for (uint32_t cut = t->prefix_len + 1; cut < t->len; cut++) {
    uint32_t n;
    if (!range_number(t->at, t->len, cut, &n)) continue;
    Sym *range = top_of(s, lookup(s, t->at, cut, RANGE_HASH(ptx_hash_word(t->at, cut))));
    if (range && n < range->count) {
      *index = n;
      return range;
    }
  }
  return NULL;
}

Sym *symbols_find(Symbols *s, const Token *t, uint32_t *index) {
  *index = 0;
  Sym *range = NULL, *single = NULL;
  if (t->has_suffix) {
    range = top_of(s, lookup(s, t->at, t->prefix_len, RANGE_HASH(t->prefix_hash)));
    if (range && t->suffix >= range->count) range = NULL;
    // the common case: %r5 was declared by a range, not by itself
    if (range && !s->single_numbered && t->at[0] == '%') {
      *index = t->suffix;
      return range;
    }
  }
  single = top_of(s, lookup(s, t->at, t->len, t->hash));
  if (range && (!single || range->scope > single->scope)) {
    *index = t->suffix;
    return range;
  }
  if (!single && s->digit_prefixes) return find_odd_range(s, t, index);
  return single;
}

// Is a single name one of the registers of a range of the innermost scope?
static bool in_range_of_scope(const Symbols *s, const char *text, uint32_t len) {
  uint32_t number;
  for (uint32_t cut = len; cut-- > 1 && text[cut] >= '0' && text[cut] <= '9';) {
    if (!range_number(text, len, cut, &number)) continue;
    const Sym *range = top_of(s, lookup(s, text, cut, RANGE_HASH(ptx_hash_word(text, cut))));
    if (range && range->scope == s->scope_start.len && number < range->count) return true;
  }
  return false;
}

// The other way round: does the innermost scope have a single name that is one of the range's
// registers?
static bool holds_single(const Symbols *s, const Name *prefix, uint32_t count) {
  uint32_t start = s->scope_start.len ? s->scope_start.data[s->scope_start.len - 1] : 0, number;
  for (uint32_t i = start; i < s->syms.len; i++) {
    const Name *n = &s->names.data[s->syms.data[i].name];
    if (s->syms.data[i].kind != SYM_RANGE && n->len > prefix->len &&
        !memcmp(n->text, prefix->text, prefix->len) &&
        range_number(n->text, n->len, prefix->len, &number) && number < count)
      return true;
  }
  return false;
}

Sym *symbols_declare(Symbols *s, SymKind kind, uint32_t name, uint32_t count) {
  Name *n = &s->names.data[name];
  Sym *old = top_of(s, (int32_t)name);
  uint32_t depth = s->scope_start.len;
  if (old && old->scope == depth) return NULL;
  if (kind == SYM_RANGE ? holds_single(s, n, count) : in_range_of_scope(s, n->text, n->len))
    return NULL;
  if (kind != SYM_RANGE && n->text[0] == '%' && n->text[n->len - 1] >= '0' &&
      n->text[n->len - 1] <= '9')
    s->single_numbered++;
  if (kind == SYM_RANGE && n->text[n->len - 1] >= '0' && n->text[n->len - 1] <= '9')
    s->digit_prefixes++;
  int32_t outer = n->top;
  vec_push(&s->syms,
           (Sym){.kind = kind, .scope = depth, .name = name, .count = count, .outer = outer});
  s->names.data[name].top = (int32_t)s->syms.len - 1;
  return &s->syms.data[s->syms.len - 1];
}

// Has `text` been the name of a register or label, or is it inside a range such as %r<100>?
static bool is_taken(const Symbols *s, const char *text, uint32_t len) {
  int32_t n = lookup(s, text, len, ptx_hash_word(text, len));
  if (n >= 0 && s->names.data[n].taken) return true;
  uint32_t digits = 0;
  while (digits < len && text[len - 1 - digits] >= '0' && text[len - 1 - digits] <= '9') digits++;
  for (uint32_t k = s->digit_prefixes ? 1 : digits; k && k <= digits; k++) {
    const char *number = text + len - k;
    if (k > 9 || (*number == '0' && k > 1)) continue;
    n = lookup(s, text, len - k, RANGE_HASH(ptx_hash_word(text, len - k)));
    if (n >= 0 && strtoull(number, NULL, 10) < s->names.data[n].range_count) return true;
  }
  return false;
}

const char *symbols_unique(Symbols *s, Arena *a, uint32_t name) {
  Name *n = &s->names.data[name];
  const char *base = arena_strndup(a, n->text, n->len);
  if (!is_taken(s, base, n->len)) {
    n->taken = 1;
    return base;
  }
  for (uint32_t k = n->taken ? n->taken : 1;; k++) {
    char *text = arena_printf(a, "%s__%u", base, k);
    uint32_t len = (uint32_t)strlen(text);
    if (is_taken(s, text, len)) continue;
    s->names.data[name].taken = k + 1;
    uint32_t spelled = symbols_name(s, text, len, ptx_hash_word(text, len));  // may move names.data
    s->names.data[spelled].taken = 1;
    return text;
  }
}

const char *symbols_unique_prefix(Symbols *s, Arena *a, uint32_t name, uint64_t count) {
  Name *n = &s->names.data[name];
  const char *base = arena_strndup(a, n->text, n->len), *text = base;
  // A second range of the same prefix, or single names before it: take another prefix.
  bool clash = n->range_count != 0;
  for (uint32_t i = 0; i < s->names.len && !clash; i++) {
    const Name *o = &s->names.data[i];
    clash = o->taken && o->range_count == 0 && o->len > n->len &&
            !memcmp(o->text, n->text, n->len) && o->text[n->len] >= '0' && o->text[n->len] <= '9';
  }
  for (uint32_t k = (uint32_t)n->taken + 1; clash; k++) {
    text = arena_printf(a, "%s__%u_", base, k);
    uint32_t len = (uint32_t)strlen(text);
    uint32_t spelled = symbols_name(s, text, len, RANGE_HASH(ptx_hash_word(text, len)));
    if (s->names.data[spelled].range_count) continue;
    s->names.data[spelled].range_count = count;
    s->names.data[name].taken = k;
    return text;
  }
  s->names.data[name].range_count = count;
  return text;
}
