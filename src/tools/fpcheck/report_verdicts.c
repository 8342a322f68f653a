// The fate of each kernel's exceptions: where they were born and stored, who read them, whether
// they were copied to the host or vanished; the worst first. Only --fp-flow follows them inside a
// kernel; across launches WgFpMemory knows the writer of an exception that another kernel read.
#include "tools/fpcheck/report.h"

typedef enum { BORN, COPIED, LEAVES, DECIDES, VANISHES, REACHED, STEPS } Step;
static const char *const words[] = {[BORN] = "born at",
                                    [COPIED] = "copied to the host, stored at",
                                    [LEAVES] = "written to memory at",
                                    [DECIDES] = "decide at",
                                    [VANISHES] = "vanish at"};

typedef struct Story Story;
typedef struct Reader {
  Story *story;
  const RunFinding *input;
} Reader;
struct Story {  // of one kernel, whichever process ran it
  const RunKernel *kernel;
  VEC(const RunFinding *) steps[STEPS];
  VEC(Reader) readers;   // other kernels that read what it stored
  VEC(Story *) writers;  // kernels whose stores it reads, perhaps its own in an earlier launch
  bool from_outside;     // it reads an exception that no kernel of the run has stored
  bool explained;        // … or by an explained kernel, or one is born in it
  bool retested;         // --fp-rerun tested all of it
  bool visited, asked;
  unsigned rank;         // 0: not known yet
  const Story *through;  // the reader with that rank
};
typedef struct Stories {
  VEC(Story *) all;
  StrMap by_name;
  StrMap kernels;
  bool followed;
  const ApiWords *words;
} Stories;
enum { HOST = 1, DECISION, MEMORY, DIES, UNSEEN };

static Step step_of(const RunFinding *f) {
  uint32_t op = WG_FP_WHAT_OP((uint32_t)f->extra[2]);
  if (f->suppressed) return STEPS;
  switch (f->kind->number) {
    case KIND_FP_NAN:
    case KIND_FP_INF:
    case KIND_FP_DIV0: return BORN;
    case KIND_FP_OUTPUT: return COPIED;
    case KIND_FP_COMPARE: return DECIDES;
    case KIND_FP_REACHED: return REACHED;
    case KIND_FP_FLOW: return op == WG_FP_STORED ? LEAVES : op == WG_FP_VANISHES ? VANISHES : STEPS;
    default: return STEPS;
  }
}

static Story *story_of(Stories *s, const RunKernel *k) {
  Story *known = strmap_get(&s->by_name, k->name);
  if (known) return known;
  known = mem_alloc(sizeof *known);
  known->kernel = k;
  strmap_put(&s->by_name, k->name, known);
  vec_push(&s->all, known);
  return known;
}

static void gather(Stories *s, const Run *r) {
  s->words = api_words(r->api);
  for (uint32_t i = 0; i < r->kernels.len; i++)
    strmap_put(&s->kernels, r->kernels.data[i]->name, r->kernels.data[i]);
  for (uint32_t i = 0; i < r->findings.len; i++) {
    const RunFinding *f = r->findings.data[i];
    Step step = step_of(f);
    s->followed |= f->kind->number == KIND_FP_FLOW;
    if (!f->kernel || (step == STEPS && f->kind->number != KIND_FP_INPUT)) continue;
    Story *mine = story_of(s, f->kernel);
    if (step != STEPS) {
      vec_push(&mine->steps[step], f);
      continue;
    }
    const RunKernel *writer = f->origin && f->origin->function
                                  ? strmap_get(&s->kernels, f->origin->function)
                                  : NULL;
    if (writer) vec_push(&mine->writers, story_of(s, writer));
    else mine->from_outside = true;
    if (writer && strcmp(writer->name, f->kernel->name))
      vec_push(&story_of(s, writer)->readers, ((Reader){mine, f}));
  }
  for (uint32_t i = 0; i < r->kernels.len; i++) {
    Story *x = strmap_get(&s->by_name, r->kernels.data[i]->name);
    if (x) x->retested |= r->kernels.data[i]->retested;
  }
}

static bool is_explained(const Story *x) {
  for (uint32_t i = 0; i < x->writers.len; i++)
    if (x->writers.data[i]->explained) return true;
  return x->from_outside || x->steps[BORN].len;
}

// Marks explained kernels from writer to reader, until nothing changes.
static void explain(Stories *s) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < s->all.len; i++) {
      Story *x = s->all.data[i];
      if (x->explained || !is_explained(x)) continue;
      x->explained = changed = true;
    }
  }
}

// The rank includes the kernels that read its stores, as far as these are known.
static unsigned rank(const Stories *s, Story *x) {
  if (x->rank) return x->rank;
  if (x->visited) return UNSEEN;
  x->visited = true;
  unsigned best = x->steps[COPIED].len                                              ? HOST
                  : x->steps[DECIDES].len                                           ? DECISION
                  : x->steps[LEAVES].len || x->readers.len || x->steps[REACHED].len ? MEMORY
                  : s->followed                                                     ? DIES
                                                                                    : UNSEEN;
  for (uint32_t i = 0; i < x->readers.len; i++) {
    unsigned theirs = rank(s, x->readers.data[i].story);
    if (theirs < best) {
      best = theirs;
      x->through = x->readers.data[i].story;
    }
  }
  return x->rank = best;
}

static void add_line(const RunSite *s, Str *out) {
  if (s && s->nplaces) {
    const RunPlace *p = &s->places[s->nplaces - 1];  // the line of the kernel itself
    const char *name = p->file ? strrchr(p->file, '/') : NULL;
    str_printf(out, "%s:%u", name ? name + 1 : p->file ? p->file : "?", p->line);
  } else if (s && s->ptx_line) str_printf(out, "PTX line %u", s->ptx_line);
  else str_add(out, "a place in its machine code");
}

// Adds each line once, with the count of all its findings. Returns how many lines there are.
static uint32_t add_places(const RunFinding *const *f, uint32_t n, uint32_t most, Str *out) {
  typedef struct Line {
    const char *name;
    uint64_t count;
  } Line;
  Arena a = {0};
  StrMap known = {0};
  Line *lines = ARENA_ARRAY(&a, Line, n);
  uint32_t nlines = 0;
  for (uint32_t i = 0; i < n; i++) {
    Str name = {0};
    add_line(f[i]->site, &name);
    Line *l = strmap_get(&known, name.data);
    if (!l) {
      l = &lines[nlines++];
      l->name = arena_strdup(&a, name.data);
      strmap_put(&known, l->name, l);
    }
    l->count += f[i]->count;
    str_free(&name);
  }
  for (uint32_t i = 0; i < MIN(nlines, most); i++) {
    str_printf(out, "%s%s", i ? ", " : "", lines[i].name);
    if (lines[i].count > 1) str_printf(out, " (%llu times)", (unsigned long long)lines[i].count);
  }
  strmap_free(&known);
  arena_free(&a);
  return nlines;
}

static void add_story(const Stories *s, Story *x, Str *out) {
  enum { SHOWN = 8 };
  static const char *const verdicts[] = {
      [HOST] = "they reach an output that is copied to the host",
      [DECISION] = "they decide what is done",
      [MEMORY] = "they reach memory",
      [DIES] = "they die in the {kernel}",
      [UNSEEN] = "they were not seen to leave it (--fp-flow follows them inside)"};
  unsigned how = rank(s, x);
  str_printf(out, "exceptions of %s: ", x->kernel->readable);
  words_add(out, s->words, verdicts[how]);
  if (x->through) str_printf(out, ", through %s", x->through->kernel->readable);
  str_addc(out, '\n');
  for (Step step = BORN; step <= VANISHES; step++) {
    if (!x->steps[step].len) continue;
    str_printf(out, "  %s ", words[step]);
    uint32_t lines = add_places(x->steps[step].data, x->steps[step].len, SHOWN, out);
    if (lines > SHOWN) str_printf(out, " and %u more", lines - SHOWN);
    str_addc(out, '\n');
  }
  for (uint32_t i = 0; i < MIN(x->readers.len, (uint32_t)SHOWN); i++) {
    str_printf(out, "  stored at ");
    add_line(x->readers.data[i].input->origin, out);
    str_printf(out, ", read by %s at ", x->readers.data[i].story->kernel->readable);
    add_line(x->readers.data[i].input->site, out);
    str_addc(out, '\n');
  }
}

static bool reads_from(Story *x, const Story *wanted) {
  if (x->asked) return false;
  x->asked = true;
  for (uint32_t i = 0; i < x->writers.len; i++)
    if (x->writers.data[i] == wanted || reads_from(x->writers.data[i], wanted)) return true;
  return false;
}

// Fast mode saw an exception leave the kernel, but none was born there and none came in, except
// from the kernel itself. If several kernels pass a NaN on to each other, all of them are suspects.
static bool is_unexplained(Stories *s, Story *x) {
  for (uint32_t i = 0; i < s->all.len; i++) s->all.data[i]->asked = false;
  return x->steps[REACHED].len && !x->explained && (!x->writers.len || reads_from(x, x));
}

static void tell(Stories *s, Str *out) {
  enum { KERNELS = 20 };
  uint32_t shown = 0;
  for (uint32_t i = 0; i < s->all.len; i++) {
    Story *x = s->all.data[i];
    if (!is_unexplained(s, x)) continue;
    if (x->retested)
      words_printf(out, s->words,
                   "%s: NaN or infinity was seen and the second run found none that is born in it: "
                   "it came in by a way that is not followed, such as {shared} memory\n",
                   x->kernel->readable);
    else
      words_printf(out, s->words,
                   "%s: NaN or infinity was seen, but not where it came from: --fp-mode=full tests "
                   "every instruction, --fp-rerun those of such {kernels} in a second run\n",
                   x->kernel->readable);
  }
  for (unsigned how = HOST; how <= UNSEEN; how++)
    for (uint32_t i = 0; i < s->all.len; i++) {
      Story *x = s->all.data[i];
      if (!x->steps[BORN].len || rank(s, x) != how) continue;
      if (shown++ < KERNELS) add_story(s, x, out);
    }
  if (shown > KERNELS) str_printf(out, "and exceptions of %u more kernels\n", shown - KERNELS);
}

static void forget(Stories *s) {
  for (uint32_t i = 0; i < s->all.len; i++) {
    for (Step step = 0; step < STEPS; step++) vec_free(&s->all.data[i]->steps[step]);
    vec_free(&s->all.data[i]->readers);
    vec_free(&s->all.data[i]->writers);
    free(s->all.data[i]);
  }
  vec_free(&s->all);
  strmap_free(&s->by_name);
  strmap_free(&s->kernels);
}

bool fp_report_unexplained(const Run *r, const char *kernel) {
  Stories s = {.followed = false};
  gather(&s, r);
  explain(&s);
  Story *x = strmap_get(&s.by_name, kernel);
  bool unexplained = x && is_unexplained(&s, x);
  forget(&s);
  return unexplained;
}

void fp_report_verdicts(Run *r, Str *out) {
  Stories s = {.followed = false};
  gather(&s, r);
  explain(&s);
  tell(&s, out);
  forget(&s);
}
