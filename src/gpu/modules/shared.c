// A program may load the same image again and again, or into several contexts. For the session that
// is one module: it hears of its kernels, sites and counters once.
#include "gpu/modules/modules.h"

struct GpuShared {
  GpuHash key;
  SessionModule *session;
  bool *told;
  uint32_t ntold;  // by piece
  struct GpuShared *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map by_key;  // the low half; what shares it is in a list

static GpuShared *find(GpuHash key) {
  for (GpuShared *s = u64map_get(&by_key, key.low); s; s = s->next)
    if (s->key.high == key.high) return s;
  return NULL;
}

GpuShared *gpu_shared(const GpuCode *code, GpuHash key) {
  pthread_mutex_lock(&lock);
  // without PTX, the image cannot be recognised when it is loaded again
  GpuShared *s = code->nunits ? find(key) : NULL;
  if (!s) {
    s = mem_alloc(sizeof *s);
    s->key = key;
    s->session = session_module(code->name, code->hash.low, code->what);
    if (code->nunits) {
      s->next = u64map_get(&by_key, key.low);
      u64map_put(&by_key, key.low, s);
    }
  }
  pthread_mutex_unlock(&lock);
  return s;
}

SessionModule *gpu_shared_session(const GpuShared *s) { return s->session; }

bool gpu_shared_tell(GpuShared *s, uint32_t piece, Woven *result) {
  pthread_mutex_lock(&lock);
  if (piece >= s->ntold) {
    s->told = mem_realloc(s->told, piece + 1);
    memset(s->told + s->ntold, 0, piece + 1 - s->ntold);
    s->ntold = piece + 1;
  }
  bool is_new = !s->told[piece];
  s->told[piece] = true;
  if (is_new) session_module_instrumented(s->session, result);
  else weave_free(result);
  pthread_mutex_unlock(&lock);
  return is_new;
}
