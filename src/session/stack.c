// Host stacks: each different one is sent once and then named by its number. Objects (the program
// and its libraries) are sent before the first stack that may lie in them.
#include "session/internal.h"

typedef struct SentStack {
  uint64_t id, hash;
  uint32_t sent;
  struct SentStack *next;
} SentStack;
static U64Map stacks;  // hash -> SentStack
static uint64_t last_stack;
static U64Map objects;  // hash of what identifies it -> generation in which it was sent
static uint64_t objects_version;

static void send_object(void *user, const WhereObject *o) {
  uint64_t key[4] = {o->start, o->end, o->bias, base_hash(o->path, strlen(o->path))}, id[3] = {0};
  uint64_t hash = base_hash(key, sizeof key);
  uintptr_t now = session_generation();
  if ((uintptr_t)u64map_get(&objects, hash) == now) return;
  u64map_put(&objects, hash, (void *)now);
  memcpy(id, o->build_id, MIN(sizeof id, sizeof o->build_id));
  session_send(EVENT_OBJECT,
               &(EventObject){o->start, o->end, o->bias, o->path, o->build_id_len, id, 3});
}

static void send_objects(void) {
  uint64_t version = where_objects_version() * 64 + session_generation();
  if (version == objects_version) return;
  objects_version = version;
  where_objects(send_object, NULL);
}

uint64_t session_stack(void) { return session_stack_below(NULL); }

// The stack that the calling thread sent last: a loop of launches has the same each time.
static _Thread_local struct {
  uint64_t hash, id;
  uint32_t generation;
} last_sent;

uint64_t session_stack_below(const char *lines) {
  if (!session_options()->host_stacks) return 0;
  uint64_t frames[WHERE_MAX];
  uint32_t n = where_capture(frames, WHERE_MAX);
  Str python = {0};
  if (lines) str_add(&python, lines);
  if (!where_python(&python)) where_forward(&python);
  if (!n && !python.len) return 0;
  uint64_t hash = base_hash(frames, n * sizeof frames[0]);
  if (python.len) hash ^= base_hash(python.data, python.len) * 31;
  if (last_sent.id && last_sent.hash == hash && last_sent.generation == session_generation()) {
    str_free(&python);
    return last_sent.id;
  }
  pthread_mutex_lock(&session_lock);
  SentStack *s = u64map_get(&stacks, hash);
  if (!s) {
    s = mem_alloc(sizeof *s);
    *s = (SentStack){.id = ++last_stack, .hash = hash};
    u64map_put(&stacks, hash, s);
  }
  if (s->sent != session_generation()) {
    s->sent = session_generation();
    send_objects();
    session_send(EVENT_STACK, &(EventStack){s->id, frames, n, python.data});
  }
  last_sent.hash = hash;
  last_sent.id = s->id;
  last_sent.generation = s->sent;
  pthread_mutex_unlock(&session_lock);
  str_free(&python);
  return s->id;
}

void session_hide_frames(const void *code) { where_hide(code); }

uint64_t session_copy_stack(void) { return session_wants_copies() ? session_stack() : 0; }
