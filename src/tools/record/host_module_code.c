#define _GNU_SOURCE
// The PTX of modules. --record=inputs keeps all of it, once for each hash, so that launches can be
// re-run. --record keeps the PTX of kernels that are launched, with the functions they call: a copy
// of each module's text stays in the process until then.
#include "tools/record/host.h"

#include "ptx/ptx.h"

#include <ctype.h>

enum { COPIES_MOST = 256 << 20, PIECE = 16000 };

// The text of a module that has kernels which were not launched yet.
typedef struct ModuleText {
  char *text;
  StrMap sent;               // names of kernels
  PtxFrameVariables frames;  // of unoptimised code
  bool knows_frames;
} ModuleText;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map sent_modules, texts;  // by hash; by SessionModule
static uint64_t copied;

bool record_wants_code(const SessionModule *m) {
  pthread_mutex_lock(&lock);
  bool fresh = record_options.inputs
                   ? !u64map_get(&sent_modules, m->hash)
                   : record_options.operations && !u64map_get(&texts, (uintptr_t)m);
  if (fresh && record_options.inputs) u64map_put(&sent_modules, m->hash, &sent_modules);
  pthread_mutex_unlock(&lock);
  return fresh;
}

static void add_number(Str *s, uint32_t n) { str_addn(s, (const char *)&n, sizeof n); }

static void send_module(const SessionModule *m, const SessionCode *units, uint32_t n) {
  Str blob = {0};
  str_addn(&blob, (const char *)&m->hash, sizeof m->hash);
  add_number(&blob, n);
  for (uint32_t i = 0; i < n; i++) {
    const char *name = units[i].name ? units[i].name : "",
               *options = units[i].options ? units[i].options : "";
    add_number(&blob, (uint32_t)strlen(name));
    add_number(&blob, (uint32_t)strlen(options));
    add_number(&blob, (uint32_t)units[i].len);
    str_addn(&blob, name, strlen(name));
    str_addn(&blob, options, strlen(options));
    str_addn(&blob, units[i].text, units[i].len);
  }
  session_send(EVENT_STRING, &(EventString){0, ""});  // makes sure that there is a lane
  channel_contents(CHANNEL_CODE_STEP, CHANNEL_CODE_ADDRESS(m->hash), blob.data, blob.len);
  str_free(&blob);
}

// Modules of several files: line numbers are those of each file, so only one file can be kept.
static void copy_module(const SessionModule *m, const SessionCode *units, uint32_t n) {
  ModuleText *t = mem_alloc(sizeof *t);
  pthread_mutex_lock(&lock);
  if (n == 1 && copied + units[0].len <= COPIES_MOST) {
    copied += units[0].len;
    t->text = mem_alloc(units[0].len + 1);
    memcpy(t->text, units[0].text, units[0].len);
  }
  u64map_put(&texts, (uintptr_t)m, t);
  pthread_mutex_unlock(&lock);
}

void record_code(const SessionModule *m, const SessionCode *units, uint32_t n) {
  if (record_options.inputs) send_module(m, units, n);
  else copy_module(m, units, n);
}

// --- one kernel ---

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

// Whether the text from..to has the name as a word.
static bool mentions(const char *from, const char *to, const char *name, size_t n) {
  for (const char *p = from; (p = memmem(p, (size_t)(to - p), name, n)); p += n)
    if (!is_word(p[-1]) && (p + n >= to || !is_word(p[n]))) return true;
  return false;
}

typedef struct Function {
  const char *start, *end, *name;
  size_t n;
  bool entry, wanted;
} Function;
typedef VEC(Function) Functions;

static const char *line_start(const char *text, const char *p) {
  while (p > text && p[-1] != '\n') p--;
  return p;
}

// The next function with a body; false: none.
static bool next_function(const char *text, const char *from, Function *f) {
  for (const char *p = from; *p; p++) {
    if (*p != '.' || (strncmp(p, ".entry", 6) && strncmp(p, ".func", 5))) continue;
    bool entry = p[1] == 'e';
    const char *q = p + (entry ? 6 : 5);
    q += strspn(q, " \t\r\n");
    if (*q == '(') q += strcspn(q, ")") + 1;  // what it returns
    q += strspn(q, " \t\r\n");
    size_t n = 0;
    while (is_word(q[n])) n++;
    const char *open = q + n;
    open += strcspn(open, "{;");
    if (*open != '{') {
      p = open - (*open == 0);
      continue;
    }
    int depth = 0;
    const char *end = open;
    for (; *end; end++) {
      depth += *end == '{' ? 1 : *end == '}' ? -1 : 0;
      if (!depth) break;
    }
    *f = (Function){line_start(text, p), *end ? end + 1 : end, q, n, entry, false};
    return true;
  }
  return false;
}

static void find_functions(const char *text, const char *kernel, Functions *out) {
  Function f;
  for (const char *p = text; next_function(text, p, &f); p = f.end) {
    f.wanted = f.entry && f.n == strlen(kernel) && !strncmp(f.name, kernel, f.n);
    vec_push(out, f);
  }
  // functions called by a wanted function are wanted, too
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < out->len; i++)
      for (uint32_t k = 0; k < out->len; k++) {
        Function *a = &out->data[i], *b = &out->data[k];
        if (a->entry || a->wanted || !b->wanted || !mentions(b->start + 1, b->end, a->name, a->n))
          continue;
        a->wanted = more = true;
      }
  }
}

static uint32_t line_number(const char *text, const char *at) {
  uint32_t n = 1;
  for (const char *p = text; p < at && (p = memchr(p, '\n', (size_t)(at - p))); p++) n++;
  return n;
}

static void send_text(uint32_t launch, const char *text, const char *from, const char *to) {
  uint32_t line = line_number(text, from);
  char piece[PIECE + 1];
  do {
    size_t n = MIN((size_t)(to - from), (size_t)PIECE);
    memcpy(piece, from, n);
    piece[n] = 0;
    from += n;
    session_send(EVENT_KERNEL_CODE, &(EventKernelCode){launch, line, from < to, piece});
  } while (from < to);
}

// Whether a sent function refers to the name that a line declares: its last word before [ or ;.
static bool is_used(const Functions *all, const char *p, size_t n) {
  size_t end = strcspn(p, "[;=");
  while (end && !is_word(p[end - 1])) end--;
  size_t start = end;
  while (start && is_word(p[start - 1])) start--;
  for (uint32_t i = 0; end <= n && start < end && i < all->len; i++)
    if (all->data[i].wanted &&
        mentions(all->data[i].start + 1, all->data[i].end, p + start, end - start))
      return true;
  return false;
}

// Declarations of shared variables outside of functions.
static void send_declarations(uint32_t launch, const char *text, const Functions *all) {
  const char *end = text;
  for (uint32_t i = 0; i <= all->len; i++) {
    const char *to = i < all->len ? all->data[i].start : text + strlen(text);
    for (const char *p = end; p < to; p += strcspn(p, "\n"), p += *p == '\n') {
      size_t n = MIN(strcspn(p, "\n"), (size_t)(to - p));
      if (n > 8 && n < 4096 && memmem(p, n, ".shared", 7) && is_used(all, p, n))
        send_text(launch, text, p, p + n);
    }
    if (i < all->len) end = all->data[i].end;
  }
}

// Variables of frames that functions of the kernel have: a line each, as run/frame_variables.c
// reads them.
static void send_frames(uint32_t launch, ModuleText *t, const Functions *all) {
  Str lines = {0};
  pthread_mutex_lock(&lock);
  if (!t->knows_frames) ptx_frame_variables(t->text, &t->frames);
  t->knows_frames = true;
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < t->frames.len && lines.len < PIECE - 1024; i++) {
    const PtxFrameVariable *v = &t->frames.data[i];
    bool used = false;
    for (uint32_t k = 0; k < all->len && !used; k++)
      used = all->data[k].wanted &&
             mentions(all->data[k].start + 1, all->data[k].end, v->frame, strlen(v->frame));
    if (used)
      str_printf(&lines, "%s\t%llu\t%llu\t%s\t%s\t%s\n", v->frame, (unsigned long long)v->offset,
                 (unsigned long long)v->bytes, v->name, v->type, v->dims);
  }
  if (lines.len) session_send(EVENT_KERNEL_CODE, &(EventKernelCode){launch, 0, false, lines.data});
  str_free(&lines);
}

void record_kernel_launched(const SessionCall *c) {
  if (!record_options.operations || !c->launch->kernel) return;
  const SessionModule *m = c->launch->kernel->module;
  const char *name = c->launch->kernel->name;
  pthread_mutex_lock(&lock);
  ModuleText *t = u64map_get(&texts, (uintptr_t)m);
  bool fresh = t && t->text && !strmap_get(&t->sent, name);
  if (fresh) strmap_put(&t->sent, mem_strdup(name), t);
  pthread_mutex_unlock(&lock);
  if (!fresh) return;
  Functions all = {0};
  find_functions(t->text, name, &all);
  send_declarations(c->number, t->text, &all);
  for (int entry = 1; entry >= 0; entry--)
    for (uint32_t i = 0; i < all.len; i++)
      if (all.data[i].wanted && all.data[i].entry == (entry == 1))
        send_text(c->number, t->text, all.data[i].start, all.data[i].end);
  send_frames(c->number, t, &all);
  vec_free(&all);
}
