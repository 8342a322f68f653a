// The server: loopback only, GET only, only for visitors who know the token of the address
// (token.c), and only under its own host name. libmicrohttpd is loaded when it is needed: the
// command itself does not depend on it.
#include "view/server.h"

#if __has_include(<microhttpd.h>)

#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <signal.h>
#include <unistd.h>

#define FUNCTIONS(F) \
  F(MHD_start_daemon) \
  F(MHD_stop_daemon) \
  F(MHD_get_daemon_info) \
  F(MHD_lookup_connection_value) \
  F(MHD_get_connection_values) \
  F(MHD_get_connection_info) \
  F(MHD_set_connection_option) \
  F(MHD_create_response_from_buffer) \
  F(MHD_add_response_header) F(MHD_queue_response) F(MHD_destroy_response)
static struct {
#define F(name) __typeof__(name) *name;
  FUNCTIONS(F)
#undef F
} http;

static bool load_library(Error *err) {
  void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return error_set(err, "the library libmicrohttpd.so.12 is missing (Debian: apt-get install "
                          "libmicrohttpd12). --static=FOLDER needs none.");
#define F(name) \
  if (!(http.name = (__typeof__(name) *)dlsym(library, #name))) \
    return error_set(err, "libmicrohttpd.so.12 has no " #name ".");
  FUNCTIONS(F)
#undef F
  return true;
}

// Several questions can be worked on at the same time, each at a desk of its own; a question that
// takes long does not hold up the others.
enum { DESKS = 4, WORKING = 64, IDLE_SECONDS = 300, REQUEST_BYTES = 32 << 10 };
typedef struct Desks {
  const char *path;  // NULL: there is no such file
  ViewDesk *desks[DESKS];
  bool busy[DESKS];
} Desks;
typedef struct Server {
  const ViewOptions *options;
  Desks files[2];  // the second is the run that the first is compared with
  bool live;
  _Atomic bool ending;  // no more questions are taken
  char token[VIEW_TOKEN_TEXT];
  ViewVisitors visitors;
  char host[2][64];            // what the Host header may be
  ViewBackground *background;  // NULL: the file is being written
  ViewCompare *compare;        // NULL: there is one file
  pthread_mutex_t lock;
  pthread_cond_t freed;
  struct {
    char what[32];
    uint64_t since;
  } working[WORKING];  // since 0: none
} Server;

static ViewDesk *take_desk(Server *s, Desks *f, int *index, Error *err) {
  pthread_mutex_lock(&s->lock);
  for (;;) {
    for (*index = 0; *index < DESKS && f->busy[*index]; ++*index) {}
    if (*index < DESKS) break;
    pthread_cond_wait(&s->freed, &s->lock);
  }
  f->busy[*index] = true;
  ViewDesk *d = f->desks[*index];
  pthread_mutex_unlock(&s->lock);
  if (!d) d = view_desk_open(f->path, err);
  if (d) d->live = s->live;
  if (d) d->sources = &s->options->sources;
  pthread_mutex_lock(&s->lock);
  f->desks[*index] = d;
  pthread_mutex_unlock(&s->lock);
  return d;
}

// A file that is being written is not kept open: its writer locks it at the end.
static void give_desk(Server *s, Desks *f, int index) {
  pthread_mutex_lock(&s->lock);
  ViewDesk *d = s->live ? f->desks[index] : NULL;
  if (d) f->desks[index] = NULL;
  pthread_mutex_unlock(&s->lock);
  if (d) view_desk_close(d);
  pthread_mutex_lock(&s->lock);
  f->busy[index] = false;
  pthread_cond_broadcast(&s->freed);
  pthread_mutex_unlock(&s->lock);
}

static int begin_work(Server *s, const char *what) {
  pthread_mutex_lock(&s->lock);
  int i = 0;
  while (i < WORKING && s->working[i].since) i++;
  if (i < WORKING) {
    s->working[i].since = clock_ns();
    snprintf(s->working[i].what, sizeof s->working[i].what, "%s", what);
  }
  pthread_mutex_unlock(&s->lock);
  return i;
}

static void end_work(Server *s, int i) {
  if (i >= WORKING) return;
  pthread_mutex_lock(&s->lock);
  s->working[i].since = 0;
  pthread_mutex_unlock(&s->lock);
}

static void answer_progress(Server *s, ViewAnswer *a) {
  *a = (ViewAnswer){.status = 200, .type = "application/json"};
  str_add(&a->body, "{");
  json_open(&a->body, "working", '[');
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < WORKING; i++) {
    if (!s->working[i].since) continue;
    json_open(&a->body, NULL, '{');
    json_text(&a->body, "what", s->working[i].what);
    json_number(&a->body, "milliseconds", (clock_ns() - s->working[i].since) / 1000000);
    str_add(&a->body, "}");
  }
  pthread_mutex_unlock(&s->lock);
  str_add(&a->body, "]}");
}

// race_state; race_stop and race_resume do so, and then say it too
static void answer_races(ViewBackground *b, const char *what, ViewAnswer *a) {
  if (strcmp(what, "stop") == 0) view_background_stop(b);
  else if (strcmp(what, "resume") == 0) view_background_resume(b);
  if (strcmp(what, "stop") && strcmp(what, "resume") && strcmp(what, "state"))
    view_fail(a, 404, "there is no such question");
  else view_answer_race_state(b, a);
}

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
     "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"}};

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type,
                             const void *data, size_t n, enum MHD_ResponseMemoryMode mode) {
  struct MHD_Response *r = http.MHD_create_response_from_buffer(n, (void *)(uintptr_t)data, mode);
  if (!r) return MHD_NO;
  http.MHD_add_response_header(r, "Content-Type", type);
  for (size_t i = 0; i < ARRAY_LEN(headers); i++)
    http.MHD_add_response_header(r, headers[i][0], headers[i][1]);
  enum MHD_Result ok = http.MHD_queue_response(c, status, r);
  http.MHD_destroy_response(r);
  return ok;
}

static enum MHD_Result reply_text(struct MHD_Connection *c, unsigned status, const char *text) {
  return reply(c, status, "text/plain; charset=utf-8", text, strlen(text), MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result add_parameter(void *request, enum MHD_ValueKind kind, const char *name,
                                     const char *value) {
  ViewRequest *q = request;
  if (q->nparameters == VIEW_PARAMETERS) {
    error_set(&q->error, "there are too many parameters");
    return MHD_NO;
  }
  size_t most = name && strcmp(name, "values") == 0 ? VIEW_VALUES_MAX : VIEW_VALUE_MAX;
  if (!name || !value || strlen(value) > most) {
    error_set(&q->error, "a parameter has no value, or a very long one");
    return MHD_NO;
  }
  q->parameters[q->nparameters].name = name;
  q->parameters[q->nparameters++].value = value;
  return MHD_YES;
}

static bool is_our_host(const Server *s, const char *host) {
  return host && (strcmp(host, s->host[0]) == 0 || strcmp(host, s->host[1]) == 0);
}

// A browser says where a page comes from that asks across origins.
static bool is_our_origin(const Server *s, const char *origin) {
  return !origin || (strncmp(origin, "http://", 7) == 0 && is_our_host(s, origin + 7));
}

// Says nothing, not even what this is.
static enum MHD_Result refuse(struct MHD_Connection *c) {
  return reply(c, 403, "text/plain; charset=utf-8", "", 0, MHD_RESPMEM_PERSISTENT);
}

static int descriptor_of(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = http.MHD_get_connection_info(
      c, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static void on_connection(void *server, struct MHD_Connection *c, void **visitor,
                          enum MHD_ConnectionNotificationCode what) {
  Server *s = server;
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    *visitor = view_visitor_enter(&s->visitors, descriptor_of(c));
  else view_visitor_leave(&s->visitors, *visitor, descriptor_of(c));
}

// The connection has shown the token: it may be idle for longer.
static void welcome(Server *s, struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = http.MHD_get_connection_info(
      c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  if (info) view_visitor_leave(&s->visitors, info->socket_context, descriptor_of(c));
  http.MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_SECONDS);
}

static bool may_ask(const Server *s, struct MHD_Connection *c, const char *path) {
  const char *site = http.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
  bool same_site = !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
  return path && is_our_host(s, http.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host")) &&
         is_our_origin(s, http.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin")) &&
         (same_site || strncmp(path, "/api/", 5) != 0);
}

static void answer_question(Server *s, Desks *f, struct MHD_Connection *c, const char *url,
                            ViewAnswer *a) {
  ViewRequest q = {.path = url};
  http.MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, add_parameter, &q);
  if (q.error.text[0]) {
    view_fail(a, 400, q.error.text);
    return;
  }
  int index, work = begin_work(s, url + 5);
  Error err = {{0}};
  view_background_question(s->background, true);
  ViewDesk *d = take_desk(s, f, &index, &err);
  if (d) view_answer(d, &q, a);
  else if (s->live) view_fail(a, 503, "waiting: the program has not written its run file yet");
  else view_fail(a, 500, err.text);
  give_desk(s, f, index);
  view_background_question(s->background, false);
  end_work(s, work);
}

// The expanded run is shown below other/, from then on.
static void answer_expand(Server *s, struct MHD_Connection *c, ViewAnswer *a) {
  ViewRequest q = {.path = "/api/expand"};
  http.MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, add_parameter, &q);
  uint64_t launch = view_number(&q, "launch", UINT32_MAX);
  if (q.error.text[0] || q.nparameters != 1 || !launch || s->live || s->compare) {
    view_fail(a, 400, s->compare ? "this page compares two runs already" : "which launch?");
    return;
  }
  int work = begin_work(s, "expand");
  char *path = view_expand(s->options->path, launch, a);
  end_work(s, work);
  if (!path) return;
  Desks *f = &s->files[1];
  pthread_mutex_lock(&s->lock);
  // idle desks of the previous expanded run are dropped, but not closed
  for (int i = 0; i < DESKS; i++)
    if (!f->busy[i]) f->desks[i] = NULL;
  f->path = path;
  pthread_mutex_unlock(&s->lock);
}

static enum MHD_Result on_request(void *server, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state) {
  Server *s = server;
  url = view_token_strip(s->token, url);
  if (s->ending) return MHD_NO;
  if (!may_ask(s, c, url)) return refuse(c);
  welcome(s, c);
  if (strcmp(method, "GET") != 0) return reply_text(c, 405, "Only GET is understood.\n");
  // Below other/ is the same page, with the answers of the second run.
  unsigned file = s->files[1].path && strncmp(url, "/other/", 7) == 0;
  if (file) url += 6;
  if (strncmp(url, "/api/", 5) != 0) {
    const ViewFile *f = view_page_file(url);
    view_background_question(s->background, true);
    view_background_question(s->background, false);
    return f ? reply(c, 200, f->type, f->data, f->size, MHD_RESPMEM_PERSISTENT)
             : reply_text(c, 404, "There is no such page.\n");
  }
  ViewAnswer a = {0};
  if (strcmp(url, "/api/progress") == 0) answer_progress(s, &a);
  else if (strcmp(url, "/api/compare_state") == 0)
    view_answer_compare(file ? NULL : s->compare, &a);
  else if (strncmp(url, "/api/race_", 10) == 0)
    answer_races(file ? NULL : s->background, url + 10, &a);
  else if (!file && strcmp(url, "/api/expand") == 0) answer_expand(s, c, &a);
  else if (!view_is_endpoint(url)) view_fail(&a, 404, "there is no such question");
  else answer_question(s, &s->files[file], c, url, &a);
  enum MHD_Result ok = reply(c, a.status, a.type, a.body.data ? a.body.data : "", a.body.len,
                             MHD_RESPMEM_MUST_COPY);
  str_free(&a.body);
  return ok;
}

static bool is_working(Server *s) {
  bool yes = false;
  pthread_mutex_lock(&s->lock);
  for (int i = 0; i < WORKING; i++) yes |= s->working[i].since != 0;
  for (int i = 0; i < 2 * DESKS; i++) {
    ViewDesk *d = s->files[i / DESKS].desks[i % DESKS];
    if (d) sqlite3_interrupt(d->db);
  }
  pthread_mutex_unlock(&s->lock);
  return yes;
}

// Stops all questions. One that does not notice ends with the process.
static void stop(Server *s, struct MHD_Daemon *daemon) {
  enum { PATIENCE_MS = 400, PAUSE_MS = 20 };
  s->ending = true;
  view_background_stop(s->background);
  view_compare_stop(s->compare);
  for (int waited = 0; is_working(s); waited += PAUSE_MS) {
    if (waited >= PATIENCE_MS) return;
    usleep(PAUSE_MS * 1000);
  }
  http.MHD_stop_daemon(daemon);
  for (int i = 0; i < 2 * DESKS; i++) {
    ViewDesk *d = s->files[i / DESKS].desks[i % DESKS];
    if (d) view_desk_close(d);
  }
}

static struct MHD_Daemon *start(Server *s, uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return http.MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, port, NULL,
      NULL, on_request, s, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
      MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)VIEW_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)VIEW_VISITOR_SECONDS, MHD_OPTION_END);
}

// Blocked before any thread is made, so that all of them leave these signals to this one.
static sigset_t block_signals(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

static void serve(Server *s, unsigned port, const sigset_t *signals) {
  char url[128];
  snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/", port, s->token);
  if (s->options->ready && !s->options->ready(url, s->options->user)) return;
  while (sigtimedwait(signals, NULL, &(struct timespec){.tv_sec = 1}) < 0)
    view_visitors_expire(&s->visitors, clock_ns());
}

bool view_serve(const ViewOptions *o, Error *err) {
  static Server s = {.lock = PTHREAD_MUTEX_INITIALIZER,
                     .freed = PTHREAD_COND_INITIALIZER,
                     .visitors.lock = PTHREAD_MUTEX_INITIALIZER};
  if (!view_page_is_there())
    return error_set(err, "this warpgrind was built without the page: npm could not be used when "
                          "it was built (docs/viewer.md).");
  if (!load_library(err) || !view_token_make(s.token, err)) return false;
  s.options = o;
  s.live = o->live;
  s.files[0].path = o->path;
  s.files[1].path = o->other;
  ViewDesk *first = s.files[0].desks[0] = view_desk_open(o->path, err);
  if (!first && !s.live) return false;
  if (o->other && !(s.files[1].desks[0] = view_desk_open(o->other, err))) return false;
  if (first) view_say_what_is_missing(first);
  if (!s.live && view_is_being_written(first)) {
    s.live = true;
    fprintf(stderr, "warpgrind: the program still runs: the page follows it, as with --live\n");
  }
  if (s.live && first) give_desk(&s, &s.files[0], 0);
  sigset_t signals = block_signals();
  if (!s.live) s.background = view_background_start(o->path);
  if (o->other) s.compare = view_compare_start(o->path, o->other);
  struct MHD_Daemon *daemon = start(&s, o->port);
  const union MHD_DaemonInfo *info = daemon ? http.MHD_get_daemon_info(daemon,
                                                                       MHD_DAEMON_INFO_BIND_PORT)
                                            : NULL;
  if (info) snprintf(s.host[0], sizeof s.host[0], "127.0.0.1:%u", info->port);
  if (info) snprintf(s.host[1], sizeof s.host[1], "localhost:%u", info->port);
  bool ok = info != NULL;
  if (ok) serve(&s, info->port, &signals);
  else
    error_set(err,
              "port %u of this machine cannot be used: somebody else has it, or it needs a "
              "privilege. Without --port any free one is taken.",
              o->port);
  if (daemon) stop(&s, daemon);
  return ok;
}

#else

bool view_serve(const ViewOptions *o, Error *err) {
  return error_set(err,
                   "this warpgrind was built without libmicrohttpd (Debian: libmicrohttpd-dev) and "
                   "cannot serve pages. --static=FOLDER writes one that needs no server.");
}

#endif
