// The parts of the server: server.c answers requests, token.c checks who may ask, visitors.c limits
// connections that have not shown the token.
#ifndef WG_VIEW_SERVER_H
#define WG_VIEW_SERVER_H

#include "view/internal.h"

#include <pthread.h>

// --- token.c ---
enum { VIEW_TOKEN_BYTES = 16, VIEW_TOKEN_TEXT = 2 * VIEW_TOKEN_BYTES + 1 };
bool view_token_make(char token[VIEW_TOKEN_TEXT], Error *err);
const char *view_token_strip(
    const char *token,
    const char *url);  // "/TOKEN/app.js": "/app.js". NULL: it does not begin with the token

// --- visitors.c ---
enum { VIEW_CONNECTIONS = 512, VIEW_VISITORS = 256, VIEW_VISITOR_SECONDS = 10 };
typedef struct ViewVisitor {
  int fd;
  uint64_t since;
  bool used;
} ViewVisitor;
typedef struct ViewVisitors {
  pthread_mutex_t lock;
  ViewVisitor list[VIEW_VISITORS];
} ViewVisitors;
ViewVisitor *view_visitor_enter(ViewVisitors *v, int fd);  // a new connection
void view_visitor_leave(ViewVisitors *v, ViewVisitor *x,
                        int fd);  // it has shown the token, or was closed
void view_visitors_expire(ViewVisitors *v,
                          uint64_t now);  // closes those that have been silent for too long

// --- background_races.c ---
typedef struct ViewBackground ViewBackground;
ViewBackground *view_background_start(const char *path);
void view_background_stop(ViewBackground *b);                   // it gives up soon; NULL: nothing
void view_background_resume(ViewBackground *b);                 // goes on where it was stopped
void view_background_question(ViewBackground *b, bool begins);  // or ends; the search pauses
void view_answer_race_state(ViewBackground *b, ViewAnswer *a);

// --- compare.c ---
typedef struct ViewCompare ViewCompare;
ViewCompare *view_compare_start(const char *a, const char *b);  // run files
void view_compare_stop(ViewCompare *c);                         // NULL: nothing
void view_answer_compare(ViewCompare *c, ViewAnswer *a);

// --- expand.c ---
// The path of the new run file, to be freed; NULL: it could not be made, and the answer says why.
char *view_expand(const char *path, uint64_t launch, ViewAnswer *a);

#endif
