// The server: loopback only, GET only, and only for a browser that calls it by its own name, so that no page of somebody else gets an answer.
// libmicrohttpd is loaded when it is needed: the command itself does not depend on it.
#include "view/internal.h"

#if __has_include(<microhttpd.h>)

#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define FUNCTIONS(F) F(MHD_start_daemon) F(MHD_stop_daemon) F(MHD_get_daemon_info) F(MHD_lookup_connection_value) F(MHD_get_connection_values) \
  F(MHD_create_response_from_buffer) F(MHD_add_response_header) F(MHD_queue_response) F(MHD_destroy_response)
static struct {
#define F(name) __typeof__(name) *name;
  FUNCTIONS(F)
#undef F
} http;

static bool load_library(Error *err) {
  void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
  if (!library) return error_set(err, "the library libmicrohttpd.so.12 is missing (Debian: apt-get install libmicrohttpd12). --static=FOLDER needs none.");
#define F(name) if (!(http.name = (__typeof__(name) *)dlsym(library, #name))) return error_set(err, "libmicrohttpd.so.12 has no " #name ".");
  FUNCTIONS(F)
#undef F
  return true;
}

// Several questions can be worked on at the same time, each at a desk of its own; a question that takes long does not hold up the others.
enum { DESKS = 4, WORKING = 64 };
typedef struct Server {
  const char *path;
  bool live;
  char host[2][64];                        // what the Host header may be
  pthread_mutex_t lock;
  pthread_cond_t freed;
  ViewDesk *desks[DESKS];
  bool busy[DESKS];
  struct { char what[32]; uint64_t since; } working[WORKING];      // since 0: none
} Server;

static ViewDesk *take_desk(Server *s, int *index, Error *err) {
  pthread_mutex_lock(&s->lock);
  for (;;) {
    for (*index = 0; *index < DESKS && s->busy[*index]; ++*index) {}
    if (*index < DESKS) break;
    pthread_cond_wait(&s->freed, &s->lock);
  }
  s->busy[*index] = true;
  pthread_mutex_unlock(&s->lock);
  if (!s->desks[*index]) s->desks[*index] = view_desk_open(s->path, err);
  if (s->desks[*index]) s->desks[*index]->live = s->live;
  return s->desks[*index];
}

// A file that is being written is not kept open: whoever writes it wants it for itself at the end.
static void give_desk(Server *s, int index) {
  if (s->live && s->desks[index]) {
    view_desk_close(s->desks[index]);
    s->desks[index] = NULL;
  }
  pthread_mutex_lock(&s->lock);
  s->busy[index] = false;
  pthread_cond_signal(&s->freed);
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

static const char *const headers[][2] = {
  {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
  {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}, {"Cross-Origin-Resource-Policy", "same-origin"}, {"Cross-Origin-Opener-Policy", "same-origin"},
  {"Cache-Control", "no-store"}};

static enum MHD_Result reply(struct MHD_Connection *c, unsigned status, const char *type, const void *data, size_t n, enum MHD_ResponseMemoryMode mode) {
  struct MHD_Response *r = http.MHD_create_response_from_buffer(n, (void *)(uintptr_t)data, mode);
  if (!r) return MHD_NO;
  http.MHD_add_response_header(r, "Content-Type", type);
  for (size_t i = 0; i < ARRAY_LEN(headers); i++) http.MHD_add_response_header(r, headers[i][0], headers[i][1]);
  enum MHD_Result ok = http.MHD_queue_response(c, status, r);
  http.MHD_destroy_response(r);
  return ok;
}

static enum MHD_Result reply_text(struct MHD_Connection *c, unsigned status, const char *text) {
  return reply(c, status, "text/plain; charset=utf-8", text, strlen(text), MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result add_parameter(void *request, enum MHD_ValueKind kind, const char *name, const char *value) {
  ViewRequest *q = request;
  if (q->nparameters == VIEW_PARAMETERS) { error_set(&q->error, "there are too many parameters"); return MHD_NO; }
  if (!name || !value || strlen(value) > VIEW_VALUE_MAX) { error_set(&q->error, "a parameter has no value, or a very long one"); return MHD_NO; }
  q->parameters[q->nparameters].name = name;
  q->parameters[q->nparameters++].value = value;
  return MHD_YES;
}

static bool is_our_host(const Server *s, const char *host) { return host && (strcmp(host, s->host[0]) == 0 || strcmp(host, s->host[1]) == 0); }

// A browser says where a page comes from that asks across origins.
static bool is_our_origin(const Server *s, const char *origin) { return !origin || (strncmp(origin, "http://", 7) == 0 && is_our_host(s, origin + 7)); }

static enum MHD_Result on_request(void *server, struct MHD_Connection *c, const char *url, const char *method, const char *version, const char *data, size_t *size, void **state) {
  Server *s = server;
  const char *site = http.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
  if (!is_our_host(s, http.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host"))) return reply_text(c, 403, "This server answers to its own address only.\n");
  if (strcmp(method, "GET") != 0) return reply_text(c, 405, "Only GET is understood.\n");
  if (!is_our_origin(s, http.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin"))) return reply_text(c, 403, "Pages of others get no answer.\n");
  if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && strncmp(url, "/api/", 5) == 0) return reply_text(c, 403, "Pages of others get no answer.\n");
  if (strncmp(url, "/api/", 5) != 0) {
    const ViewFile *f = view_page_file(url);
    return f ? reply(c, 200, f->type, f->data, f->size, MHD_RESPMEM_PERSISTENT) : reply_text(c, 404, "There is no such page.\n");
  }
  ViewRequest q = {.path = url};
  ViewAnswer a = {0};
  if (strcmp(url, "/api/progress") == 0) answer_progress(s, &a);
  else if (!view_is_endpoint(url)) view_fail(&a, 404, "there is no such question");
  else {
    http.MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, add_parameter, &q);
    if (q.error.text[0]) view_fail(&a, 400, q.error.text);
    else {
      int index, work = begin_work(s, url + 5);
      Error err = {{0}};
      ViewDesk *d = take_desk(s, &index, &err);
      if (d) view_answer(d, &q, &a);
      else view_fail(&a, 500, err.text);
      give_desk(s, index);
      end_work(s, work);
    }
  }
  enum MHD_Result ok = reply(c, a.status, a.type, a.body.data ? a.body.data : "", a.body.len, MHD_RESPMEM_MUST_COPY);
  str_free(&a.body);
  return ok;
}

bool view_serve(const ViewOptions *o, Error *err) {
  if (!view_page_is_there()) return error_set(err, "this warpgrind was built without the page: npm could not be used when it was built (docs/viewer.md).");
  if (!load_library(err)) return false;
  Server s = {.path = o->path, .live = o->live, .lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};
  if (!(s.desks[0] = view_desk_open(o->path, err))) return false;
  if (!s.live && view_is_being_written(s.desks[0])) {
    s.live = true;
    fprintf(stderr, "warpgrind: the program still runs: the page follows it, as with --live\n");
  }
  if (s.live) give_desk(&s, 0);
  // Before any thread is made, so that all of them leave these signals to this one.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  signal(SIGPIPE, SIG_IGN);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(o->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_Daemon *daemon = http.MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, o->port, NULL, NULL, on_request, &s,
    MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address, MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_CONNECTION_TIMEOUT, 300u, MHD_OPTION_END);
  const union MHD_DaemonInfo *info = daemon ? http.MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
  bool ok = info != NULL;
  if (!ok) error_set(err, "port %u of this machine cannot be used: somebody else has it, or it needs a privilege. Without --port any free one is taken.", o->port);
  else {
    char url[64];
    snprintf(s.host[0], sizeof s.host[0], "127.0.0.1:%u", info->port);
    snprintf(s.host[1], sizeof s.host[1], "localhost:%u", info->port);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", info->port);
    int which;
    if (!o->ready || o->ready(url, o->user)) sigwait(&signals, &which);
  }
  if (daemon) http.MHD_stop_daemon(daemon);
  for (int i = 0; i < DESKS; i++)
    if (s.desks[i]) view_desk_close(s.desks[i]);
  return ok;
}

#else

bool view_serve(const ViewOptions *o, Error *err) {
  return error_set(err, "this warpgrind was built without libmicrohttpd (Debian: libmicrohttpd-dev) and cannot serve pages. --static=FOLDER writes one that needs no server.");
}

#endif
