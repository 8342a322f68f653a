// Errors that a call cannot return and that the program never queries: those of
// kernel<<<…>>>(…). A thread that asks (cudaGetLastError …) has seen all of its own errors.
#include "tools/memcheck/host.h"

typedef struct Ignored {
  const void *thread;
  uint64_t stack;
  char *text;
} Ignored;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(Ignored) ignored;
static _Thread_local char this_thread;  // its address identifies the thread
static _Thread_local bool any;          // errors of this thread are in the list

enum { MOST = 1000 };  // errors that are kept: a loop of launches that fail need not list all

void unchecked_error_raised(const char *text) {
  Ignored i = {&this_thread, session_stack(), mem_strdup(text)};
  any = true;
  pthread_mutex_lock(&lock);
  bool room = ignored.len < MOST;
  if (room) vec_push(&ignored, i);
  pthread_mutex_unlock(&lock);
  if (!room) free(i.text);
}

void unchecked_errors_seen(void) {
  if (!any) return;
  any = false;
  uint32_t kept = 0;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < ignored.len; i++) {
    if (ignored.data[i].thread == &this_thread) free(ignored.data[i].text);
    else ignored.data[kept++] = ignored.data[i];
  }
  ignored.len = kept;
  pthread_mutex_unlock(&lock);
}

void unchecked_errors_report(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < ignored.len; i++) {
    session_finding(&(SessionFinding){
        .kind = "unchecked-error", .text = ignored.data[i].text, .stack = ignored.data[i].stack});
    free(ignored.data[i].text);
  }
  ignored.len = 0;
  pthread_mutex_unlock(&lock);
}
