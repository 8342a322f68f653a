// A page without a server: the page, and all answers that it may request, in files that a browser
// loads as scripts (a page from a file must not read other files). Answers are those of the server,
// put together in pieces: data/run.js has all that is not about operations; data/t-LAUNCH-N.js 256
// threads of a launch; data/e-BUFFER-N.js the operations on 4096 bytes of a buffer;
// data/b-BUFFER.js its contents after each step that changed them. viewer/src/run/static.ts reads
// them.
#include "base/sizes.h"
#include "view/internal.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
  OPERATIONS_MOST = 1000000,
  THREADS_MOST = 1 << 20,
  CONTENTS_MOST = 256 << 20,
  THREADS_OF_PIECE = 256,
  BYTES_OF_PIECE = 4096,
  OPS_OF_ANSWER = 2000,
  LEVEL = 3,  // of compression: 6 takes twice as long, for a tenth less
  WRITERS = 8
};

typedef struct Writer {
  ViewDesk *desk;
  const char *folder;
  Error *err;
  bool failed;
  ViewEmbedded *embedded;
} Writer;

static bool save(Writer *w, const char *name, const void *data, size_t n) {
  Str path = {0};
  str_printf(&path, "%s/%s", w->folder, name);
  if (!w->failed && !file_write(path.data, data, n, w->err)) w->failed = true;
  str_free(&path);
  return !w->failed;
}

static void base64(const uint8_t *p, size_t n, Str *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                 (i + 2 < n ? p[i + 2] : 0);
    char four[4] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                    i + 2 < n ? digits[v & 63] : '='};
    str_addn(out, four, 4);
  }
}

// data/NAME.js: warpgrindPiece("NAME", "…"), the text deflated and in base64.
static bool save_piece(Writer *w, const char *name, const Str *text) {
  uLongf n = compressBound(text->len);
  uint8_t *packed = mem_alloc(n);
  const char *bytes = text->data ? text->data : "";
  if (compress2(packed, &n, (const Bytef *)bytes, text->len, LEVEL) != Z_OK) n = 0;
  Str out = {0}, file = {0};
  str_printf(&out, "warpgrindPiece(\"%s\",\"", name);
  base64(packed, n, &out);
  str_add(&out, "\");\n");
  str_printf(&file, "data/%s.js", name);
  save(w, file.data, out.data, out.len);
  str_free(&out);
  str_free(&file);
  free(packed);
  return !w->failed;
}

// Adds a line: the question, a tab, the answer.
static bool add_answer(Writer *w, Str *to, const char *question) {
  char text[256];
  snprintf(text, sizeof text, "/api/%s", question);
  ViewRequest q = {.path = text};
  char *rest = strchr(text, '?');
  if (rest) *rest++ = 0;
  for (char *p = rest; p && *p && q.nparameters < VIEW_PARAMETERS;) {
    char *equals = strchr(p, '='), *next = strchr(p, '&');
    CHECK(equals);
    *equals = 0;
    if (next) *next++ = 0;
    q.parameters[q.nparameters].name = p;
    q.parameters[q.nparameters++].value = equals + 1;
    p = next;
  }
  ViewAnswer a;
  view_answer(w->desk, &q, &a);
  str_printf(to, "%s\t", question);
  str_addn(to, a.body.data ? a.body.data : "", a.body.len);
  str_addc(to, '\n');
  str_free(&a.body);
  if (!w->failed && !store_is_whole(w->desk->store, w->err)) w->failed = true;
  if (!w->failed && w->desk->run_error) w->failed = !error_set(w->err, "%s", w->desk->run_error);
  return a.status == 200 && !w->failed;
}

static bool add_pages(Writer *w, Str *to, const char *question) {  // until there are no more
  for (uint64_t skip = 0;; skip += OPS_OF_ANSWER) {
    Str q = {0};
    str_printf(&q, "%s&skip=%llu&most=%d", question, (unsigned long long)skip, OPS_OF_ANSWER);
    size_t at = to->len;
    bool ok = add_answer(w, to, q.data);
    str_free(&q);
    if (!ok || !to->data || !strstr(to->data + at, "\"more\":true")) return ok;
  }
}

// May threads of the launch race? Only then each is asked, which takes long.
static bool may_race(ViewDesk *d, uint32_t launch) {
  return !view_one(d, "SELECT count(*) FROM meta WHERE key = 'races_found'", "") ||
         view_one(d, "SELECT count(*) FROM race_found WHERE launch = ?", "i", (int64_t)launch);
}

static void write_threads(Writer *w, uint32_t launch, uint64_t threads) {
  bool races = may_race(w->desk, launch);
  for (uint64_t first = 0; first < threads && !w->failed; first += THREADS_OF_PIECE) {
    Str text = {0}, q = {0};
    for (uint64_t thread = first; thread < MIN(first + THREADS_OF_PIECE, threads); thread++) {
      TraceOps ops = {0};
      if (!trace_of_thread(w->desk->trace, launch, thread, (TracePage){0, OPERATIONS_MOST}, &ops,
                           w->err)) {
        w->failed = true;
        break;
      }
      if (ops.n) {
        q.len = 0;
        str_printf(&q, "thread?launch=%u&thread=%llu", launch, (unsigned long long)thread);
        add_pages(w, &text, q.data);
      }
      if (ops.n && races) {
        q.len = 0;
        str_printf(&q, "conflicts?launch=%u&thread=%llu&skip=0&most=%d", launch,
                   (unsigned long long)thread, OPS_OF_ANSWER);
        add_answer(w, &text, q.data);
      }
      for (uint32_t i = 0; i < ops.n; i++) {
        if (ops.list[i].kind != TRACE_LOAD && ops.list[i].kind != TRACE_ATOMIC) continue;
        q.len = 0;
        str_printf(&q, "writers?record=%llu&lane=%u", (unsigned long long)ops.list[i].record,
                   ops.list[i].lane);
        add_answer(w, &text, q.data);
      }
      trace_ops_free(&ops);
    }
    char name[64];
    snprintf(name, sizeof name, "t-%u-%llu", launch,
             (unsigned long long)(first / THREADS_OF_PIECE));
    if (!w->failed && text.len) save_piece(w, name, &text);
    str_free(&text);
    str_free(&q);
  }
}

static void write_elements(Writer *w, const ViewAllocation *b) {
  for (uint64_t at = 0; at < b->size && !w->failed; at += BYTES_OF_PIECE) {
    Str text = {0}, q = {0};
    char name[64];
    str_printf(&q, "element?allocation=%u&address=0x%llx&bytes=%llu", b->id,
               (unsigned long long)(b->base + at),
               (unsigned long long)MIN((uint64_t)BYTES_OF_PIECE, b->size - at));
    add_pages(w, &text, q.data);
    snprintf(name, sizeof name, "e-%u-%llu", b->id, (unsigned long long)(at / BYTES_OF_PIECE));
    save_piece(w, name, &text);
    str_free(&text);
    str_free(&q);
  }
}

static void write_contents(Writer *w, const ViewAllocation *b, const uint32_t *steps,
                           uint32_t nsteps) {
  uint8_t *now = mem_alloc(2 * b->size + 1), *before = mem_alloc(2 * b->size + 1);
  Str text = {0};
  for (uint32_t i = 0; i < nsteps && !w->failed; i++) {
    if (!trace_contents(w->desk->trace, &(TraceSlice){b->id, steps[i], 0, b->size}, now,
                        now + b->size, w->err)) {
      w->failed = true;
      break;
    }
    if (i && memcmp(now, before, 2 * b->size) == 0) continue;
    str_printf(&text, "%u\t", steps[i]);
    base64(now, 2 * b->size, &text);
    str_addc(&text, '\n');
    memcpy(before, now, 2 * b->size);
  }
  char name[64];
  snprintf(name, sizeof name, "b-%u", b->id);
  if (!w->failed) save_piece(w, name, &text);
  str_free(&text);
  free(now);
  free(before);
}

static void add_sources(Writer *w, Str *to) {
  const char *file;
  for (uint32_t i = 0; (file = view_file_name(w->desk, i)); i++) {
    Str q = {0}, text = {0}, real = {0};
    Error why = {{0}};
    str_printf(&q, "source?file=%u", i);
    add_answer(w, to, q.data);
    bool ok = view_source_read(w->desk, file, &text, &real, &why);
    if (w->embedded) w->embedded(ok ? real.data : file, ok ? NULL : why.text);
    str_free(&q);
    str_free(&text);
    str_free(&real);
  }
}

// All that is not about operations.
static void write_run(Writer *w, const uint32_t *launches, uint32_t nlaunches) {
  Str text = {0}, q = {0};
  add_answer(w, &text, "run");
  add_answer(w, &text, "flow?skip=0&most=100000");
  add_answer(w, &text, "buffers?most=100000");
  add_answer(w, &text, "types");
  add_answer(w, &text, "profile");
  add_answer(w, &text, "findings?most=5000");
  if (w->desk->trace) add_answer(w, &text, "watches");
  ViewRows r = view_rows(w->desk, "SELECT id FROM finding WHERE suppressed = 0 LIMIT 5000", "");
  while (view_next(&r)) {
    q.len = 0;
    str_printf(&q, "finding?id=%llu", (unsigned long long)view_column(&r, 0));
    add_answer(w, &text, q.data);
  }
  ViewFacts facts = {0};
  for (uint32_t i = 0; i < nlaunches; i++) {
    q.len = 0;
    str_printf(&q, "launch?id=%u", launches[i]);
    add_answer(w, &text, q.data);
    if (w->desk->trace) {
      q.len = 0;
      str_printf(&q, "races?launch=%u", launches[i]);
      add_answer(w, &text, q.data);
    }
    u64map_put(&facts.launches, launches[i], w);
  }
  add_sources(w, &text);
  r = view_rows(w->desk, "SELECT id FROM step WHERE kind <> 'launch' LIMIT 200000", "");
  while (view_next(&r)) {
    q.len = 0;
    str_printf(&q, "step?id=%llu", (unsigned long long)view_column(&r, 0));
    add_answer(w, &text, q.data);
  }
  r = view_rows(w->desk, "SELECT id FROM site LIMIT 200000", "");
  while (view_next(&r)) u64map_put(&facts.sites, view_column(&r, 0), w);
  r = view_rows(w->desk, "SELECT id FROM step LIMIT 200000", "");
  while (view_next(&r)) u64map_put(&facts.steps, view_column(&r, 0), w);
  for (uint32_t i = 0; i < w->desk->allocations.len; i++)
    u64map_put(&facts.allocations, w->desk->allocations.data[i].id, w);
  w->desk->without_facts = false;
  str_add(&text, "facts\t{");
  view_facts_write(w->desk, &facts, &text);
  str_add(&text, "}\n");
  view_facts_free(&facts);
  save_piece(w, "run", &text);
  str_free(&text);
  str_free(&q);
}

static bool is_small(ViewDesk *d, uint32_t nsteps, uint64_t threads, Error *err) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < d->allocations.len; i++)
    bytes = size_add(bytes, d->allocations.data[i].size);
  uint64_t operations = trace_count(d->trace);
  if (operations > OPERATIONS_MOST)
    return error_set(err,
                     "this run has %llu operations, and a page without a server can have %d: use "
                     "warpgrind view without --static, or record less (--kernel=, --threads=).",
                     (unsigned long long)operations, OPERATIONS_MOST);
  if (threads > THREADS_MOST)
    return error_set(err,
                     "this run has %llu threads, and a page without a server can have %d: use "
                     "warpgrind view without --static.",
                     (unsigned long long)threads, THREADS_MOST);
  if (bytes > CONTENTS_MOST || size_multiply(bytes, MAX(nsteps, 1u)) > CONTENTS_MOST)
    return error_set(err,
                     "the buffers of this run have %llu bytes after each of %u steps, and a page "
                     "without a server can have %d MB: use warpgrind view without --static.",
                     (unsigned long long)bytes, nsteps, CONTENTS_MOST >> 20);
  return true;
}

static bool write_page(Writer *w) {
  const ViewFile *html = view_page_file("/index.html");
  // a zero follows it
  const char *mark = "<script src=\"app.js\"></script>",
             *at = strstr((const char *)html->data, mark);
  CHECK(at);
  Str page = {0};
  str_addn(&page, (const char *)html->data, (size_t)(at - (const char *)html->data));
  str_add(&page, "<script>window.warpgrindIsStatic = true;</script>\n");
  str_addn(&page, at, html->size - (size_t)(at - (const char *)html->data));
  save(w, "index.html", page.data, page.len);
  str_free(&page);
  const char *const names[] = {"app.js", "app.css"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    char path[32];
    snprintf(path, sizeof path, "/%s", names[i]);
    const ViewFile *f = view_page_file(path);
    save(w, names[i], f->data, f->size);
  }
  return !w->failed;
}

static bool make_folder(const char *path, Error *err) {
  return mkdir(path, 0700) == 0 || errno == EEXIST ||
         error_set(err, "%s: the folder cannot be made: %s.", path, strerror(errno));
}

// Pages that this command did not write are not overwritten.
static bool may_write_into(const char *folder, Error *err) {
  static const char *const names[] = {"index.html", "app.js", "app.css"};
  Str path = {0}, page = {0};
  bool any = false, ours = false;
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    path.len = 0;
    str_printf(&path, "%s/%s", folder, names[i]);
    bool there = access(path.data, F_OK) == 0;
    any = any || there;
    if (there && !i && file_read(path.data, &page, err))
      ours = strstr(page.data, "window.warpgrindIsStatic") != NULL;
  }
  str_free(&path);
  str_free(&page);
  return !any || ours ||
         error_set(err,
                   "%s holds a page that Warpgrind did not write: it is not overwritten. Give "
                   "another folder.",
                   folder);
}

// Launches and buffers, shared out among threads; each has a desk of its own.
typedef struct Work {
  const ViewOptions *options;
  const char *folder;
  const uint32_t *launches, *steps;
  const uint64_t *threads;
  uint32_t nlaunches, nsteps, nbuffers;
  bool tell, failed;
  uint32_t next;  // with lock
  Error *err;
  pthread_mutex_t lock;
} Work;

static void fail(Work *k, const Error *err) {
  pthread_mutex_lock(&k->lock);
  if (!k->failed) *k->err = *err;
  k->failed = true;
  pthread_mutex_unlock(&k->lock);
}

static bool take(Work *k, uint32_t *item) {
  uint32_t all = k->nlaunches + k->nbuffers;
  pthread_mutex_lock(&k->lock);
  bool any = !k->failed && k->next < all;
  *item = any ? k->next++ : 0;
  if (any && k->tell) fprintf(stderr, "\r%u %% ", 100 * *item / all);
  pthread_mutex_unlock(&k->lock);
  return any;
}

static void *write_items(void *user) {
  Work *k = user;
  Error err = {{0}};
  ViewDesk *d = view_desk_open(k->options->path, &err);
  if (!d) {
    fail(k, &err);
    return NULL;
  }
  d->sources = &k->options->sources;
  d->without_facts = true;
  store_set_deadline(d->store, 0);
  sqlite3_exec(d->db, "BEGIN", NULL, NULL, NULL);
  Writer w = {.desk = d, .folder = k->folder, .err = &err};
  for (uint32_t i; !w.failed && take(k, &i);) {
    if (i < k->nlaunches) {
      write_threads(&w, k->launches[i], k->threads[i]);
      continue;
    }
    const ViewAllocation *b = &d->allocations.data[MIN(i - k->nlaunches, d->allocations.len - 1)];
    write_elements(&w, b);
    write_contents(&w, b, k->steps, k->nsteps);
  }
  if (w.failed || !store_is_whole(d->store, &err)) fail(k, &err);
  sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
  view_desk_close(d);
  return NULL;
}

static void write_operations(Work *k) {
  pthread_t threads[WRITERS];
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  unsigned wanted = (unsigned)MIN(MAX(cores, 1), WRITERS) - 1, n = 0;
  while (n < wanted && thread_start(&threads[n], write_items, k) == 0) n++;
  write_items(k);
  for (unsigned i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

bool view_write(const ViewOptions *o, const char *folder, ViewEmbedded *embedded, Error *err) {
  if (!view_page_is_there())
    return error_set(err, "this warpgrind was built without the page: npm could not be used when "
                          "it was built (docs/viewer.md).");
  ViewDesk *d = view_desk_open(o->path, err);
  if (!d) return false;
  view_say_what_is_missing(d);
  d->sources = &o->sources;
  VEC(uint32_t) launches = {0}, steps = {0};
  VEC(uint64_t) threads = {0};
  uint64_t all = 0;
  store_set_deadline(d->store, 0);
  ViewRows r = view_rows(d,
                         "SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z FROM launch "
                         "ORDER BY id LIMIT 200000",
                         "");
  while (view_next(&r)) {
    uint64_t n = 1;
    for (int i = 1; i <= 6; i++) n = size_multiply(n, view_column(&r, i));
    vec_push(&launches, (uint32_t)view_column(&r, 0));
    vec_push(&threads, n);
    all = size_add(all, n);
  }
  r = view_rows(d, "SELECT id FROM step ORDER BY id LIMIT 200000", "");
  while (view_next(&r)) vec_push(&steps, (uint32_t)view_column(&r, 0));
  Str data = {0};
  str_printf(&data, "%s/data", folder);
  bool ok = !r.failed || error_set(err, "%s: %s.", o->path, r.error.text);
  ok = ok && (!d->trace || is_small(d, steps.len, all, err)) && make_folder(folder, err) &&
       may_write_into(folder, err) && make_folder(data.data, err);
  if (ok) {
    Writer w = {.desk = d, .folder = folder, .err = err, .embedded = embedded};
    bool tell = isatty(STDERR_FILENO);
    write_page(&w);
    Work work = {.options = o,
                 .folder = folder,
                 .launches = launches.data,
                 .nlaunches = d->trace ? launches.len : 0,
                 .threads = threads.data,
                 .steps = steps.data,
                 .nsteps = steps.len,
                 .nbuffers = d->trace ? d->allocations.len : 0,
                 .tell = tell,
                 .err = err};
    pthread_mutex_init(&work.lock, NULL);
    write_operations(&work);
    w.failed |= work.failed;
    // so that not every question has to lock the file
    sqlite3_exec(d->db, "BEGIN", NULL, NULL, NULL);
    if (!w.failed) write_run(&w, launches.data, launches.len);
    sqlite3_exec(d->db, "COMMIT", NULL, NULL, NULL);
    if (tell) fprintf(stderr, "\r                     \r");
    ok = !w.failed && store_is_whole(d->store, err);
  }
  str_free(&data);
  vec_free(&launches);
  vec_free(&steps);
  vec_free(&threads);
  view_desk_close(d);
  return ok;
}
