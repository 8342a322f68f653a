// Measures that come from outside of the tools: commands of OpenCL, with their times.
#include "session/internal.h"

uint64_t session_calls_stack(void) { return session_stack(); }

void session_measure(const SessionMeasure *m) {
  pthread_mutex_lock(&session_lock);
  uint64_t what = session_string(m->what), kernel = session_string(m->kernel);
  session_send(EVENT_MEASURE,
               &(EventMeasure){what, kernel, 0, 0, m->text, m->stack, m->values, m->n});
  pthread_mutex_unlock(&session_lock);
}
