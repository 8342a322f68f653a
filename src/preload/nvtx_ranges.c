// NVTX ranges: a program names parts of its work. Its NVTX code loads the library that
// NVTX_INJECTION64_PATH names and hands it tables of function pointers to fill. Layouts and
// numbers: nvtx3/nvtxDetail/nvtxTypes.h of CUDA 13, the same since NVTX 3.0.
#include "preload/preload.h"

#include <pthread.h>
#include <stdint.h>
#include <wchar.h>

#include "session/session.h"

// --- types of NVTX ---

typedef struct Attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void *message;
} Attributes;
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE = 2, MESSAGE_REGISTERED = 3 };

typedef void (*AnyFunction)(void);
typedef struct ExportedCallbacks {
  size_t bytes;
  int (*get_table)(int module, AnyFunction ***table, unsigned *size);
} ExportedCallbacks;
enum { EXPORTED_CALLBACKS = 1, MODULE_CORE = 1, MODULE_DOMAINS = 5 };

// A domain's handle is its name, a string's handle is a copy. Both live as long as the program.
typedef char Domain;

// --- names ---

static char *copy(const char *text) {
  Str s = {0};
  str_add(&s, text ? text : "");
  return s.data;
}

// As UTF-8.
static char *narrow(const wchar_t *wide) {
  Str s = {0};
  str_add(&s, "");
  for (; wide && *wide; wide++) {
    uint32_t c = (uint32_t)*wide;
    unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    str_addc(&s, (char)(first[more] | c >> 6 * more));
    while (more--) str_addc(&s, (char)(0x80 | (c >> 6 * more & 0x3f)));
  }
  return s.data;
}

static char *name_in(const Domain *domain, const char *name) {
  Str s = {0};
  if (domain && *domain) str_printf(&s, "%s: ", domain);
  str_add(&s, name ? name : "");
  return s.data;
}

static char *message_of(const Domain *domain, const Attributes *a) {
  size_t needed = offsetof(Attributes, message) + sizeof a->message;
  if (!a || a->size < needed || !a->message) return name_in(domain, "unnamed");
  if (a->message_type != MESSAGE_WIDE) return name_in(domain, a->message);
  char *text = narrow(a->message), *name = name_in(domain, text);
  free(text);
  return name;
}

// --- ranges of a thread: the last that began ends first, in each domain ---

typedef struct Open {
  const Domain *domain;
  char *name;
  uint64_t begin_ns;
} Open;
static _Thread_local VEC(Open) nested;

static int push(const Domain *domain, char *name) {
  int level = 0;
  for (uint32_t i = 0; i < nested.len; i++) level += nested.data[i].domain == domain;
  vec_push(&nested, (Open){domain, name, clock_ns()});
  return level;
}

static int pop(const Domain *domain) {
  int level = -1;
  uint32_t last = UINT32_MAX;
  for (uint32_t i = 0; i < nested.len; i++)
    if (nested.data[i].domain == domain) {
      last = i;
      level++;
    }
  if (last == UINT32_MAX) return -1;
  Open o = nested.data[last];
  for (uint32_t i = last; i + 1 < nested.len; i++) nested.data[i] = nested.data[i + 1];
  nested.len--;
  session_range_ended(&(SessionRange){o.name, o.begin_ns, clock_ns(), last, true});
  free(o.name);
  return level;
}

// --- ranges of the process: one thread begins them, any ends them ---

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static U64Map started;  // Open, by number
static uint64_t last_id;

static uint64_t start(const Domain *domain, char *name) {
  Open *o = mem_alloc(sizeof *o);
  *o = (Open){domain, name, clock_ns()};
  pthread_mutex_lock(&lock);
  uint64_t id = ++last_id;
  u64map_put(&started, id, o);
  pthread_mutex_unlock(&lock);
  return id;
}

static void end(uint64_t id) {
  pthread_mutex_lock(&lock);
  Open *o = u64map_remove(&started, id);
  pthread_mutex_unlock(&lock);
  if (!o) return;
  session_range_ended(&(SessionRange){o->name, o->begin_ns, clock_ns(), 0, false});
  free(o->name);
  free(o);
}

// --- NVTX's functions ---

static uint64_t start_with(const Attributes *a) { return start(NULL, message_of(NULL, a)); }
static uint64_t start_named(const char *name) { return start(NULL, name_in(NULL, name)); }
static uint64_t start_wide(const wchar_t *name) { return start(NULL, narrow(name)); }
static int push_with(const Attributes *a) { return push(NULL, message_of(NULL, a)); }
static int push_named(const char *name) { return push(NULL, name_in(NULL, name)); }
static int push_wide(const wchar_t *name) { return push(NULL, narrow(name)); }
static int pop_any(void) { return pop(NULL); }

static uint64_t domain_start(const Domain *d, const Attributes *a) {
  return start(d, message_of(d, a));
}
static void domain_end(const Domain *d, uint64_t id) { end(id); }
static int domain_push(const Domain *d, const Attributes *a) { return push(d, message_of(d, a)); }
static void *domain_string(const Domain *d, const char *text) { return copy(text); }
static void *domain_wide_string(const Domain *d, const wchar_t *text) { return narrow(text); }
static Domain *domain_create(const char *name) { return copy(name); }
static Domain *domain_create_wide(const wchar_t *name) { return narrow(name); }

typedef struct Served {
  int module, number;
  AnyFunction function;
} Served;
static const Served served[] = {
    {MODULE_CORE, 4, (AnyFunction)start_with},
    {MODULE_CORE, 5, (AnyFunction)start_named},
    {MODULE_CORE, 6, (AnyFunction)start_wide},
    {MODULE_CORE, 7, (AnyFunction)end},
    {MODULE_CORE, 8, (AnyFunction)push_with},
    {MODULE_CORE, 9, (AnyFunction)push_named},
    {MODULE_CORE, 10, (AnyFunction)push_wide},
    {MODULE_CORE, 11, (AnyFunction)pop_any},
    {MODULE_DOMAINS, 2, (AnyFunction)domain_start},
    {MODULE_DOMAINS, 3, (AnyFunction)domain_end},
    {MODULE_DOMAINS, 4, (AnyFunction)domain_push},
    {MODULE_DOMAINS, 5, (AnyFunction)pop},
    {MODULE_DOMAINS, 10, (AnyFunction)domain_string},
    {MODULE_DOMAINS, 11, (AnyFunction)domain_wide_string},
    {MODULE_DOMAINS, 12, (AnyFunction)domain_create},
    {MODULE_DOMAINS, 13, (AnyFunction)domain_create_wide},
};

// Libraries have ranges around every call: without a listener they must cost nothing.
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void *(*get_export)(uint32_t id)) {
  const ExportedCallbacks *from = get_export ? get_export(EXPORTED_CALLBACKS) : NULL;
  if (!from || from->bytes < sizeof *from || !session_hears_ranges()) return 0;
  for (unsigned i = 0; i < ARRAY_LEN(served); i++) {
    AnyFunction **table = NULL;
    unsigned size = 0;
    int number = served[i].number;
    if (!from->get_table(served[i].module, &table, &size) || !table) return 0;
    if ((unsigned)number < size && table[number]) *table[number] = served[i].function;
  }
  return 1;
}
