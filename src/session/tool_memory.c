// Device memory for tools. Small blocks are powers of two carved from chunks, large ones are
// allocations of their own. A block that is given back stays in the pool for the next one of its
// size, since kernels that were launched before may still write to it. Beyond MOST_KEPT bytes large
// ones go back to the device when the next block is taken: the driver is then in a call that
// allocates, and holds the locks for that.
#include "session/tool_memory.h"

#include "session/internal.h"

// small blocks have up to 64 KB
enum { LEAST = 64, CHUNK = 1 << 20, SMALL_CLASSES = 11, MOST_KEPT = 64 << 20 };

typedef struct Block {
  uint64_t address;
  size_t bytes;
} Block;
typedef struct Pool {
  SessionDevice *device;
  ToolId tool;
  uint64_t fresh, fresh_end;  // of the newest chunk
  VEC(uint64_t) chunks;
  VEC(uint64_t) small[SMALL_CLASSES];  // given back
  VEC(Block) large;                    // in use
  VEC(Block) kept;                     // given back, oldest first
  size_t kept_bytes;
  bool given_up;
  struct Pool *next;
} Pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Pool *pools;

static Pool *pool_of(SessionDevice *d, ToolId tool, bool make) {
  for (Pool *p = pools; p; p = p->next)
    if (p->device == d && p->tool == tool) return p;
  if (!make) return NULL;
  Pool *p = mem_alloc(sizeof *p);
  p->device = d;
  p->tool = tool;
  p->next = pools;
  return pools = p;
}

static unsigned class_of(size_t bytes) {
  unsigned c = 0;
  while (((size_t)LEAST << c) < bytes) c++;
  return c;
}

static uint64_t take_small(Pool *p, unsigned c, const SessionDeviceOps *ops, void *user,
                           bool *fresh) {
  size_t bytes = (size_t)LEAST << c;
  if (p->small[c].len) return p->small[c].data[--p->small[c].len];
  if (p->fresh_end - p->fresh < bytes) {
    uint64_t chunk = ops->alloc(user, CHUNK);
    if (!chunk) return 0;
    vec_push(&p->chunks, chunk);
    p->fresh = chunk;
    p->fresh_end = chunk + CHUNK;
  }
  *fresh = true;
  p->fresh += bytes;
  return p->fresh - bytes;
}

static void drop_oldest(Pool *p, const SessionDeviceOps *ops, void *user) {
  Block b = p->kept.data[0];
  memmove(&p->kept.data[0], &p->kept.data[1], --p->kept.len * sizeof b);
  p->kept_bytes -= b.bytes;
  (ops->give_back ? ops->give_back : ops->free)(user, b.address);
}

static uint64_t take_large(Pool *p, size_t bytes, const SessionDeviceOps *ops, void *user,
                           bool *fresh) {
  uint64_t address = 0;
  for (uint32_t i = p->kept.len; i-- > 0 && !address;)
    if (p->kept.data[i].bytes == bytes) {
      address = p->kept.data[i].address;
      memmove(&p->kept.data[i], &p->kept.data[i + 1], (--p->kept.len - i) * sizeof *p->kept.data);
      p->kept_bytes -= bytes;
    }
  *fresh = !address;
  while (p->kept_bytes > MOST_KEPT) drop_oldest(p, ops, user);
  if (!address) address = ops->alloc(user, bytes);
  while (!address && p->kept.len) {
    drop_oldest(p, ops, user);
    address = ops->alloc(user, bytes);
  }
  if (address) vec_push(&p->large, (Block){address, bytes});
  return address;
}

uint64_t session_tool_memory_take(SessionDevice *d, ToolId tool, size_t bytes, bool *fresh) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  pthread_mutex_lock(&lock);
  Pool *p = pool_of(d, tool, true);
  unsigned c = class_of(bytes);
  uint64_t address = p->given_up         ? 0
                     : c < SMALL_CLASSES ? take_small(p, c, ops, user, fresh)
                                         : take_large(p, bytes, ops, user, fresh);
  pthread_mutex_unlock(&lock);
  return address;
}

void session_tool_memory_give(SessionDevice *d, ToolId tool, uint64_t address, size_t bytes) {
  pthread_mutex_lock(&lock);
  Pool *p = pool_of(d, tool, false);
  unsigned c = class_of(bytes);
  if (p && c < SMALL_CLASSES) vec_push(&p->small[c], address);
  else if (p) {
    for (uint32_t i = 0; i < p->large.len; i++)
      if (p->large.data[i].address == address) {
        p->large.data[i] = p->large.data[--p->large.len];
        break;
      }
    vec_push(&p->kept, (Block){address, bytes});
    p->kept_bytes += bytes;
  }
  pthread_mutex_unlock(&lock);
}

bool session_tool_memory_give_up(SessionDevice *d, ToolId tool) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(d, &user);
  void (*give)(void *, uint64_t) = ops->give_back ? ops->give_back : ops->free;
  pthread_mutex_lock(&lock);
  Pool *p = pool_of(d, tool, true);
  bool any = p->chunks.len || p->large.len || p->kept.len;
  for (uint32_t i = 0; i < p->chunks.len; i++) give(user, p->chunks.data[i]);
  for (uint32_t i = 0; i < p->large.len; i++) give(user, p->large.data[i].address);
  for (uint32_t i = 0; i < p->kept.len; i++) give(user, p->kept.data[i].address);
  p->chunks.len = p->large.len = p->kept.len = 0;
  p->fresh = p->fresh_end = p->kept_bytes = 0;
  for (unsigned c = 0; c < SMALL_CLASSES; c++) p->small[c].len = 0;
  p->given_up = true;
  pthread_mutex_unlock(&lock);
  return any;
}

static void close_pool(Pool *p, bool alive) {
  void *user;
  const SessionDeviceOps *ops = session_device_ops(p->device, &user);
  for (uint32_t i = 0; alive && i < p->chunks.len; i++) ops->free(user, p->chunks.data[i]);
  for (uint32_t i = 0; alive && i < p->large.len; i++) ops->free(user, p->large.data[i].address);
  for (uint32_t i = 0; alive && i < p->kept.len; i++) ops->free(user, p->kept.data[i].address);
  vec_free(&p->chunks);
  for (unsigned c = 0; c < SMALL_CLASSES; c++) vec_free(&p->small[c]);
  vec_free(&p->large);
  vec_free(&p->kept);
  free(p);
}

void session_tool_memory_close(SessionDevice *d, bool alive) {
  Pool *gone = NULL;
  pthread_mutex_lock(&lock);
  for (Pool **at = &pools; *at;) {
    Pool *p = *at;
    if (p->device != d) {
      at = &p->next;
      continue;
    }
    *at = p->next;
    p->next = gone;
    gone = p;
  }
  pthread_mutex_unlock(&lock);
  for (Pool *p = gone, *next; p; p = next) {
    next = p->next;
    close_pool(p, alive);
  }
}
