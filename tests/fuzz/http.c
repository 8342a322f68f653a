// Fuzz target: requests to the viewer, through the code that libmicrohttpd calls. Each must be
// answered; who does not know the token gets nothing. Input: the text of a request: "GET
// /api/thread?launch=1&thread=2", then lines of headers; "TOKEN" stands for the token, "HOST" for
// the server's own name.
// seeds: tests/fuzz/seeds/http/*
// needs: run file
#if __has_include(<microhttpd.h>)
#include "view/server.c"

#include <ctype.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 32 };
typedef struct Pair { char *name, *value; } Pair;
typedef struct Fake {
  Pair headers[MOST], arguments[MOST];
  unsigned nheaders, narguments, status, replies;
} Fake;
static Fake request;
static Str last;                           // body of the answer

// --- what libmicrohttpd does ---

static const char *fake_lookup(struct MHD_Connection *c, enum MHD_ValueKind kind,
                               const char *name) {
  const Pair *pairs = kind == MHD_GET_ARGUMENT_KIND ? request.arguments : request.headers;
  unsigned n = kind == MHD_GET_ARGUMENT_KIND ? request.narguments : request.nheaders;
  for (unsigned i = 0; i < n; i++)
    if (strcasecmp(pairs[i].name, name) == 0) return pairs[i].value;
  return NULL;
}

static int fake_values(struct MHD_Connection *c, enum MHD_ValueKind kind, MHD_KeyValueIterator each,
                       void *user) {
  unsigned i = 0;
  while (i < request.narguments &&
         each(user, kind, request.arguments[i].name, request.arguments[i].value) == MHD_YES)
    i++;
  return (int)i;
}

static struct MHD_Response *fake_response(size_t size, void *bytes,
                                          enum MHD_ResponseMemoryMode mode) {
  last.len = 0;
  if (size) str_addn(&last, bytes, size);
  return (struct MHD_Response *)&last;
}

static enum MHD_Result fake_header(struct MHD_Response *r, const char *name, const char *value) {
  return MHD_YES;
}
static enum MHD_Result fake_queue(struct MHD_Connection *c, unsigned status,
                                  struct MHD_Response *r) {
  request.status = status;
  request.replies++;
  return MHD_YES;
}
static void fake_destroy(struct MHD_Response *r) {}
static const union MHD_ConnectionInfo *fake_info(struct MHD_Connection *c,
                                                 enum MHD_ConnectionInfoType type, ...) {
  return NULL;
}
static enum MHD_Result fake_option(struct MHD_Connection *c, enum MHD_CONNECTION_OPTION option,
                                   ...) {
  return MHD_YES;
}

static void unescape(char *text) {
  char *to = text;
  for (const char *p = text; *p; p++) {
    unsigned byte;
    if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2]) &&
        sscanf(p + 1, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      p += 2;
    } else {
      *to++ = *p == '+' ? ' ' : *p;
    }
  }
  *to = 0;
}

static void add_arguments(char *query) {
  char *rest = NULL;
  for (char *p = strtok_r(query, "&", &rest); p && request.narguments < MOST;
       p = strtok_r(NULL, "&", &rest)) {
    char *value = strchr(p, '=');
    if (value) {
      *value++ = 0;
      unescape(value);
    }
    unescape(p);
    request.arguments[request.narguments++] = (Pair){p, value};
  }
}

static void add_header(char *line) {
  char *value = strchr(line, ':');
  if (!value || request.nheaders == MOST) return;
  *value++ = 0;
  request.headers[request.nheaders++] = (Pair){line, value + strspn(value, " ")};
}

// --- the server ---

static Server server = {.lock = PTHREAD_MUTEX_INITIALIZER,
                        .freed = PTHREAD_COND_INITIALIZER,
                        .visitors.lock = PTHREAD_MUTEX_INITIALIZER};
static ViewOptions options;

// The page is not part of it, nor is what another process does: calculations, recording a launch in
// full.
__asm__(
    ".data\n.globl view_page_html, view_page_html_end, view_page_js, view_page_js_end, "
    "view_page_css, view_page_css_end\n"
    "view_page_html: .byte 60\nview_page_html_end: .byte 0\nview_page_js: .byte "
    "59\nview_page_js_end: .byte 0\nview_page_css: .byte 32\nview_page_css_end: .byte 0\n.text\n");
bool calc_on_device(const char *kind, const char *ptx, const uint64_t arguments[3], uint64_t *bits,
                    char *name, size_t size) {
  return false;
}

char *view_expand(const char *path, uint64_t launch, ViewAnswer *a) {
  view_fail(a, 500, "this launch cannot be recorded");
  return NULL;
}

static void prepare(void) {
  Error err = {{0}};
  options.path = getenv("FUZZ_RUN_FILE");
  if (!options.path) abort();
  server.options = &options;
  server.files[0].path = server.files[1].path = options.path;
  CHECK(view_token_make(server.token, &err));
  snprintf(server.host[0], sizeof server.host[0], "127.0.0.1:1");
  snprintf(server.host[1], sizeof server.host[1], "localhost:1");
  http.MHD_lookup_connection_value = fake_lookup;
  http.MHD_get_connection_values = fake_values;
  http.MHD_get_connection_info = fake_info;
  http.MHD_set_connection_option = fake_option;
  http.MHD_create_response_from_buffer = fake_response;
  http.MHD_add_response_header = fake_header;
  http.MHD_queue_response = fake_queue;
  http.MHD_destroy_response = fake_destroy;
}

// With the token and the host's name in their places.
static char *text_of(const uint8_t *data, size_t size) {
  Str out = {0};
  for (size_t i = 0; i < size && data[i]; i++) {
    if (size - i >= 5 && !memcmp(data + i, "TOKEN", 5)) {
      str_add(&out, server.token);
      i += 4;
    } else if (size - i >= 4 && !memcmp(data + i, "HOST", 4)) {
      str_add(&out, server.host[0]);
      i += 3;
    } else str_addc(&out, (char)data[i]);
  }
  str_addc(&out, '\n');
  return out.data;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!options.path) prepare();
  request = (Fake){0};
  char *text = text_of(data, size), *line = text, *rest = NULL;
  line = strtok_r(text, "\n", &rest);
  char *url = line ? strchr(line, ' ') : NULL;
  if (url) {
    *url++ = 0;
    char *query = strchr(url, '?');
    if (query) {
      *query++ = 0;
      add_arguments(query);
    }
    unescape(url);
    while ((line = strtok_r(NULL, "\n", &rest))) add_header(line);
    size_t none = 0;
    void *state = NULL;
    CHECK(on_request(&server, NULL, url, text, "HTTP/1.1", NULL, &none, &state) == MHD_YES &&
          request.replies == 1);
    const char *host = fake_lookup(NULL, MHD_HEADER_KIND, "Host");
    bool knows = view_token_strip(server.token, url) && host && is_our_host(&server, host);
    CHECK(knows || (request.status == 403 && !last.len));
  }
  free(text);
  return 0;
}
#else                                      // without the library there is no server
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return 0; }
#endif
