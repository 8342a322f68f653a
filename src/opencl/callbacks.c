// Runs the callbacks of events on a thread of our own: callbacks may call OpenCL, and the driver's
// threads must not.
#include "opencl/opencl.h"

#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static VEC(cl_event) watched;  // held
static bool running;

// Removes a callback whose status the event has reached; false: there is none.
static bool take(cl_event e, cl_int status, OclEventCall *out) {
  bool found = false;
  ocl_begin();
  for (uint32_t i = 0; !found && i < e->calls.len; i++) {
    if (status > e->calls.data[i].status) continue;
    *out = e->calls.data[i];
    e->calls.len--;
    memmove(&e->calls.data[i], &e->calls.data[i + 1], (e->calls.len - i) * sizeof *out);
    found = true;
  }
  ocl_end();
  return found;
}

// true: the event has no callback left.
static bool serve(cl_event e) {
  OclEventCall call;
  cl_int status = ocl_event_status(e);
  while (take(e, status, &call)) call.call(e, status < 0 ? status : call.status, call.user);
  ocl_begin();
  bool done = !e->calls.len;
  ocl_end();
  return done;
}

static void *watch(void *unused) {
  enum { POLL_MICROSECONDS = 50 };
  for (;;) {
    pthread_mutex_lock(&lock);
    while (!watched.len) pthread_cond_wait(&more, &lock);
    uint32_t n = watched.len;
    pthread_mutex_unlock(&lock);
    bool served = false;
    for (uint32_t i = 0; i < n;) {
      pthread_mutex_lock(&lock);
      cl_event e = watched.data[i];
      pthread_mutex_unlock(&lock);
      if (!serve(e)) {
        i++;
        continue;
      }
      pthread_mutex_lock(&lock);
      watched.len--;
      memmove(&watched.data[i], &watched.data[i + 1], (watched.len - i) * sizeof e);
      pthread_mutex_unlock(&lock);
      ocl_drop(e);
      served = true;
      n--;
    }
    if (!served) usleep(POLL_MICROSECONDS);
  }
  return NULL;
}

void ocl_event_watch(cl_event e) {
  pthread_t thread;
  ocl_hold(e);
  pthread_mutex_lock(&lock);
  vec_push(&watched, e);
  if (!running) running = thread_start(&thread, watch, NULL) == 0;
  pthread_cond_signal(&more);
  pthread_mutex_unlock(&lock);
}
