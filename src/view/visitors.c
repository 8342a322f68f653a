// Connections that have not shown the token yet. Limits keep silent connections from blocking
// others: each must show the token within seconds, and a new one replaces the oldest when there is
// no room.
#include "view/server.h"

#include <sys/socket.h>

// The thread that serves the connection notices and closes it.
static void hang_up(ViewVisitor *x) {
  shutdown(x->fd, SHUT_RDWR);
  *x = (ViewVisitor){.used = false};
}

static ViewVisitor *find_room(ViewVisitors *v) {
  ViewVisitor *oldest = &v->list[0];
  for (int i = 0; i < VIEW_VISITORS; i++) {
    if (!v->list[i].used) return &v->list[i];
    if (v->list[i].since < oldest->since) oldest = &v->list[i];
  }
  hang_up(oldest);
  return oldest;
}

ViewVisitor *view_visitor_enter(ViewVisitors *v, int fd) {
  pthread_mutex_lock(&v->lock);
  ViewVisitor *x = find_room(v);
  *x = (ViewVisitor){.fd = fd, .since = clock_ns(), .used = true};
  pthread_mutex_unlock(&v->lock);
  return x;
}

void view_visitor_leave(ViewVisitors *v, ViewVisitor *x, int fd) {
  pthread_mutex_lock(&v->lock);
  if (x && x->used && x->fd == fd)
    *x = (ViewVisitor){.used = false};  // else another connection has its place
  pthread_mutex_unlock(&v->lock);
}

void view_visitors_expire(ViewVisitors *v, uint64_t now) {
  const uint64_t patience = VIEW_VISITOR_SECONDS * 1000000000ull;
  pthread_mutex_lock(&v->lock);
  for (int i = 0; i < VIEW_VISITORS; i++)
    if (v->list[i].used && now > v->list[i].since + patience) hang_up(&v->list[i]);
  pthread_mutex_unlock(&v->lock);
}
