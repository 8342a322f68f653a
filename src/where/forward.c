// Finds the lines of the forward pass that steps of PyTorch's backward pass belong to. Backward
// passes run in PyTorch's own threads, which have no Python frames.
//
// PyTorch numbers the nodes of its graph as the forward pass makes them (the sequence number that
// its profiler shows, too). Our library is loaded before PyTorch's, so calls of the function that
// gives these numbers come to ours, which keeps the Python frames with the number. In the backward
// pass PyTorch says which node is being evaluated, and the node has its number. With a version of
// PyTorch that lacks these functions no lines are known.
#define _GNU_SOURCE
#include "where/internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#define GIVE_NUMBER _ZN2at15sequence_number17get_and_incrementEv
#define GIVE_NUMBER_NAME "_ZN2at15sequence_number17get_and_incrementEv"
static const char current_node_name[] = "_ZN5torch8autograd16get_current_nodeEv",
                  thread_id_name[] = "_ZN2at14RecordFunction15currentThreadIdEv";

// std::shared_ptr: an object and its reference counts
typedef struct Shared {
  const char *object;
  char *counts;
} Shared;
// Offsets in torch::autograd::Node: after its vtable and the pointer to itself. thread: PyTorch's
// number of the thread that made the node.
enum { NODE_NUMBER = 24, NODE_THREAD = 48, USES = 8 };

static struct {
  uint64_t (*give_number)(void);
  uint64_t (*thread_id)(void);
  void (*current_node)(void);  // returns a Shared through the caller's pointer
} torch;
static _Atomic int found;  // 1: give_number; 2: all
static _Atomic bool wanted;

// Frames by number and thread; older ones make room.
enum { KEPT = 1 << 17, MOST_TEXTS = 1 << 16 };
typedef struct Made {
  uint64_t number, thread;
  const char *frames;
} Made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Made *made;
static U64Map texts;  // hash -> frames

void where_keep_forward(void) { wanted = true; }

// caller: an address in a library that is linked with PyTorch's
static void find_torch(const void *caller) {
  Dl_info info;
  void *library = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  void *give = library ? dlsym(library, GIVE_NUMBER_NAME) : NULL, *node, *thread;
  if (!give) return;
  node = dlsym(library, current_node_name);
  thread = dlsym(library, thread_id_name);
  pthread_mutex_lock(&lock);
  torch.give_number = (uint64_t(*)(void))(uintptr_t)give;
  torch.current_node = (void (*)(void))(uintptr_t)node;
  torch.thread_id = (uint64_t(*)(void))(uintptr_t)thread;
  found = node && thread ? 2 : 1;
  pthread_mutex_unlock(&lock);
}

static Made *place_of(uint64_t number, uint64_t thread) {
  return &made[(number + thread * 40503) % KEPT];
}

static const char *keep_text(Str *frames) {
  uint64_t hash = base_hash(frames->data, frames->len);
  char *text = u64map_get(&texts, hash);
  if (text || texts.len >= MOST_TEXTS) return text;
  text = mem_strdup(frames->data);
  u64map_put(&texts, hash, text);
  return text;
}

static void keep(uint64_t number) {
  Str frames = {0};
  if (!where_python(&frames)) return;
  uint64_t thread = torch.thread_id();
  pthread_mutex_lock(&lock);
  if (!made) made = mem_alloc(KEPT * sizeof *made);
  *place_of(number, thread) = (Made){number, thread, keep_text(&frames)};
  pthread_mutex_unlock(&lock);
  str_free(&frames);
}

uint64_t GIVE_NUMBER(void);
__attribute__((visibility("default"))) uint64_t GIVE_NUMBER(void) {
  static _Thread_local uint64_t own;  // used if PyTorch's is not found
  if (!found) find_torch(__builtin_return_address(0));
  if (!found) return own++;
  uint64_t number = torch.give_number();
  if (wanted && found == 2) keep(number);
  return number;
}

// A C++ function that returns an object takes the object's address as a hidden first argument, or
// in a register of its own.
static Shared current_node(void) {
  Shared s = {0};
#if defined(__aarch64__)
  register void *to __asm__("x8") = &s;
  register void (*f)(void) __asm__("x9") = torch.current_node;
  __asm__ volatile("blr x9"
                   : "+r"(to), "+r"(f)
                   :
                   : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x10", "x11", "x12", "x13",
                     "x14", "x15", "x16", "x17", "x18", "x30", "memory", "cc", "v0", "v1", "v2",
                     "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21", "v22",
                     "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#else
  ((void (*)(Shared *))(uintptr_t)torch.current_node)(&s);
#endif
  return s;
}

static void add_line(Str *out, const char *line, size_t n) {
  str_printf(out, "%.*s in the forward pass\n", (int)n, line);
}

// PyTorch holds the node while it evaluates it, so our reference is never the last.
uint32_t where_forward(Str *out) {
  uint32_t n = 0;
  if (found != 2 || !wanted) return 0;
  Shared node = current_node();
  if (!node.object) return 0;
  uint64_t number, thread;
  memcpy(&number, node.object + NODE_NUMBER, 8);
  memcpy(&thread, node.object + NODE_THREAD, 8);
  if (node.counts) __atomic_sub_fetch((int *)(void *)(node.counts + USES), 1, __ATOMIC_ACQ_REL);
  pthread_mutex_lock(&lock);
  const Made *m = made ? place_of(number, thread) : NULL;
  const char *line = m && m->number == number && m->thread == thread ? m->frames : NULL;
  pthread_mutex_unlock(&lock);
  for (; line && *line; n++) {
    size_t length = strcspn(line, "\n");
    add_line(out, line, length);
    line += length + (line[length] == '\n');
  }
  return n;
}
