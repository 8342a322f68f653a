// Modules and kernels. They are never freed: findings, graphs and the program's own handles may
// refer to them for ever.
#include "session/internal.h"

static uint32_t last_module, last_kernel, last_site;
static VEC(SessionModule *) modules;

SessionModule *session_module(const char *name, uint64_t content_hash, const char *what) {
  SessionModule *m = mem_alloc(sizeof *m);
  m->name = mem_strdup(name ? name : "");
  m->what = mem_strdup(what ? what : "");
  m->hash = content_hash;
  pthread_mutex_lock(&session_lock);
  m->id = ++last_module;
  vec_push(&modules, m);
  pthread_mutex_unlock(&session_lock);
  return m;
}

static void announce_module(SessionModule *m) {
  if (m->sent == session_generation()) return;
  m->sent = session_generation();
  session_send(EVENT_MODULE, &(EventModule){m->id, m->hash, m->name, m->what});
}

void session_announce_kernel(SessionKernel *k) {
  if (k->sent == session_generation()) return;
  announce_module(k->module);
  k->sent = session_generation();
  session_send(EVENT_KERNEL, &(EventKernel){k->id, k->module->id, k->name});
  if (k->code) session_send(EVENT_COVERED, &(EventCovered){k->id, k->piece->code.nsites});
  else if (k->patched_by) session_send(EVENT_PATCHED, &(EventPatched){k->id, k->patched_by});
  else if (k->reason) session_send(EVENT_UNCOVERED, &(EventUncovered){k->id, k->reason, k->cure});
}

static const char *space_name(const Site *s) {
  if (s->classes & CLASS_TEXTURE) return "texture";
  if (s->classes & CLASS_SURFACE) return "surface";
  if (s->space == SPACE_GENERIC) return "generic";
  return s->space == SPACE_NONE ? NULL : ptx_space_name(s->space) + 1;
}

static void send_site(const Piece *p, uint32_t i) {
  const Site *s = &p->code.sites[i];
  uint32_t n = MIN(s->nplaces, 64u);
  uint64_t places[64 * 4];
  session_places(s->places, n, places);
  session_send(EVENT_SITE,
               &(EventSite){p->site_base + i, p->module->id, session_string(s->function),
                            s->ptx_line, s->classes, session_string(space_name(s)), s->bytes,
                            s->text, session_string(s->object), s->parameter, places, n * 4});
}

static void uncover(SessionKernel *k, const char *reason, const char *cure) {
  if (k->reason) return;
  k->reason = mem_strdup(reason);
  k->cure = cure ? mem_strdup(cure) : NULL;
  if (k->sent == session_generation())
    session_send(EVENT_UNCOVERED, &(EventUncovered){k->id, k->reason, k->cure});
  else session_announce_kernel(k);
}

// A kernel may be known before its piece is made, or after.
static void find_code(SessionKernel *k) {
  for (Piece *p = k->module->pieces; p && !k->code; p = p->next) {
    const WovenKernel *c = weave_kernel(&p->code, k->name);
    if (!c) continue;
    if (c->instrumented) {
      k->piece = p;
      atomic_store(&k->code, c);
      if (k->sent == session_generation())
        session_send(EVENT_COVERED, &(EventCovered){k->id, p->code.nsites});
    } else if (c->reason) {
      uncover(k, c->reason, NULL);
    }
  }
}

uint32_t session_sites(void) { return last_site; }

typedef struct Wanted {
  uint32_t number;
  Piece *piece;
} Wanted;
static void look_in(void *user, Piece *p) {
  Wanted *w = user;
  if (w->number >= p->site_base && w->number - p->site_base < p->code.nsites) w->piece = p;
}

bool session_site(uint32_t number, const Piece **piece, const Site **site) {
  Wanted w = {number, NULL};
  session_each_piece(look_in, &w);
  if (w.piece) {
    *piece = w.piece;
    *site = &w.piece->code.sites[number - w.piece->site_base];
  }
  return w.piece != NULL;
}

SessionKernel *session_site_kernel(const Piece *p, const Site *s) {
  return s->kernel < p->code.nkernels
             ? strmap_get(&p->module->kernels, p->code.kernels[s->kernel].name)
             : NULL;
}

Piece *session_add_piece(SessionModule *m, Woven *r) {
  Piece *p = mem_alloc(sizeof *p);
  p->code = *r;
  memset(r, 0, sizeof *r);
  p->module = m;
  p->site_base = last_site;
  last_site += p->code.nsites;
  if (last_site > WG_SITE_NUMBERS && p->site_base <= WG_SITE_NUMBERS && p->code.nsites)
    session_note(SEVERITY_WARNING,
                 "the program has more than %d places that are checked: findings of places loaded "
                 "from now on are not all counted",
                 WG_SITE_NUMBERS);
  p->next = m->pieces;
  m->pieces = p;
  announce_module(m);
  for (uint32_t i = 0; i < p->code.nsites; i++) send_site(p, i);
  return p;
}

void session_module_instrumented(SessionModule *m, Woven *r) {
  pthread_mutex_lock(&session_lock);
  session_add_piece(m, r);
  uint32_t it = 0;
  const char *name;
  void *k;
  while (strmap_next(&m->kernels, &it, &name, &k)) find_code(k);
  pthread_mutex_unlock(&session_lock);
}

void session_module_unloaded(SessionModule *m) {
  pthread_mutex_lock(&session_lock);
  if (m->sent == session_generation()) session_send(EVENT_UNLOAD, &(EventUnload){m->id});
  pthread_mutex_unlock(&session_lock);
}

// of the calling thread's calls
static _Thread_local ApiId api;
void session_thread_api(ApiId id) { api = id; }
ApiId session_api(void) { return api; }

SessionKernel *session_kernel(SessionModule *m, const char *name) {
  pthread_mutex_lock(&session_lock);
  SessionKernel *k = strmap_get(&m->kernels, name);
  if (!k) {
    k = mem_alloc(sizeof *k);
    k->module = m;
    k->name = mem_strdup(name);
    k->id = ++last_kernel;
    k->api = api;
    k->wanted = session_wants_kernel(name, NULL);
    strmap_put(&m->kernels, k->name, k);
    find_code(k);
  }
  pthread_mutex_unlock(&session_lock);
  return k;
}

ApiId session_kernel_api(const SessionKernel *k) { return k->api; }

const WovenKernel *session_kernel_code(const SessionKernel *k) {
  return atomic_load_explicit(&k->code, memory_order_acquire);
}

void session_kernel_uncovered(SessionKernel *k, const char *reason, const char *cure) {
  pthread_mutex_lock(&session_lock);
  uncover(k, reason, cure);
  pthread_mutex_unlock(&session_lock);
}

void session_kernel_note(SessionKernel *k, const char *text) {
  pthread_mutex_lock(&session_lock);
  session_announce_kernel(k);
  session_send(EVENT_KERNEL_NOTE, &(EventKernelNote){k->id, text});
  pthread_mutex_unlock(&session_lock);
}

void session_each_piece(void (*each)(void *user, Piece *p), void *user) {
  for (uint32_t i = 0; i < modules.len; i++)
    for (Piece *p = modules.data[i]->pieces; p; p = p->next) each(user, p);
}
