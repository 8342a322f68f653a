// Handlers of interrupts: functions of the program, by the name of their interrupt.
#include "interrupt/interrupt.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(InterruptHandler) handlers;

// The handler that was defined last counts: a test may replace the one of its library.
void interrupt_add_handler(const InterruptHandler *h) {
  InterruptHandler copy = *h;
  copy.name = mem_strdup(h->name);
  copy.file = h->file ? mem_strdup(h->file) : NULL;
  pthread_mutex_lock(&lock);
  vec_push(&handlers, copy);
  pthread_mutex_unlock(&lock);
}

bool interrupt_has_handlers(void) {
  pthread_mutex_lock(&lock);
  bool any = handlers.len != 0;
  pthread_mutex_unlock(&lock);
  return any;
}

bool interrupt_find_handler(const char *name, InterruptHandler *out) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (uint32_t i = handlers.len; i-- > 0 && !found;)
    if (!strcmp(handlers.data[i].name, name)) {
      *out = handlers.data[i];
      found = true;
    }
  pthread_mutex_unlock(&lock);
  return found;
}

static bool fits(const InterruptHandler *h, const InterruptCall *c) {
  if (!h->typed) return true;
  return h->nparams == c->nparams && h->result_bytes == c->result_bytes &&
         !memcmp(h->param_bytes, c->param_bytes, sizeof *h->param_bytes * c->nparams);
}

static void add_type(Str *s, uint32_t result, uint32_t n, const uint32_t *bytes) {
  str_printf(s, "%u parameter%s", n, n == 1 ? "" : "s");
  for (uint32_t i = 0; i < n; i++) str_printf(s, "%s%u", i ? ", " : " (", bytes[i]);
  if (n) str_add(s, n == 1 && bytes[0] == 1 ? " byte)" : " bytes)");
  if (result) str_printf(s, " and a result of %u", result);
}

static bool say_types(const InterruptHandler *h, const InterruptCall *c, const char *place,
                      Error *err) {
  Str call = {0}, handler = {0};
  add_type(&call, c->result_bytes, c->nparams, c->param_bytes);
  add_type(&handler, h->result_bytes, h->nparams, h->param_bytes);
  error_set(err, "interrupt %s is called at %s with %s; its handler at %s:%u takes %s", c->name,
            place, call.data, h->file ? h->file : "?", h->line, handler.data);
  str_free(&call);
  str_free(&handler);
  return false;
}

bool interrupt_check_handlers(const InterruptKernel *k, Error *err) {
  for (uint32_t i = 0; i < k->ncalls; i++) {
    const InterruptCall *c = &k->calls[i];
    InterruptHandler h;
    char place[512];
    if (c->file) snprintf(place, sizeof place, "%s:%u", c->file, c->line);
    else snprintf(place, sizeof place, "an unknown line (compile with -lineinfo)");
    if (!interrupt_find_handler(c->name, &h))
      return error_set(err, "interrupt %s is called at %s in kernel %s, and has no handler",
                       c->name, place, k->name);
    if (!fits(&h, c)) return say_types(&h, c, place, err);
  }
  return true;
}
