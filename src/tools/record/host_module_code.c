// --record=inputs: the PTX of modules, once for each hash, so that launches can be re-run.
#include "tools/record/host.h"

bool record_wants_code(const SessionModule *m) {
  static pthread_mutex_t sent_lock = PTHREAD_MUTEX_INITIALIZER;
  static U64Map sent;
  if (!record_options.inputs) return false;
  pthread_mutex_lock(&sent_lock);
  bool fresh = !u64map_get(&sent, m->hash);
  if (fresh) u64map_put(&sent, m->hash, &sent);
  pthread_mutex_unlock(&sent_lock);
  return fresh;
}

static void add_number(Str *s, uint32_t n) { str_addn(s, (const char *)&n, sizeof n); }

void record_code(const SessionModule *m, const SessionCode *units, uint32_t n) {
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
