// Source lines of sampled instructions. CUPTI hands over each cubin when the driver loads it, and
// looks the line of an instruction up in its line table. Cubins without one are not kept.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "gpu/times/stalls.h"
#include "gpu/times/times.h"

typedef struct LoadedCubin {
  uint64_t crc;
  void *bytes;
  size_t n;
} LoadedCubin;

static struct {
#define FUNCTION(name, parameters) int(*name) parameters;
  CUPTI_LINE_FUNCTIONS
#undef FUNCTION
} cupti;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(LoadedCubin) cubins;
static U64Map known;  // key_of(): GpuStallLine
static bool opened;

static void keep(const CuptiModule *m) {
  static const char table[] = ".debug_line";
  if (!m->cubin || !memmem(m->cubin, m->bytes, table, sizeof table)) return;
  LoadedCubin c = {.bytes = mem_alloc(m->bytes), .n = m->bytes};
  memcpy(c.bytes, m->cubin, m->bytes);
  CuptiCrc crc = {sizeof crc, c.n, c.bytes, 0};
  int result = cupti.cuptiGetCubinCrc(&crc);
  c.crc = crc.crc;
  log_verbose("CUPTI loads a cubin of %zu bytes with lines (result %d)", c.n, result);
  pthread_mutex_lock(&lock);
  vec_push(&cubins, c);
  pthread_mutex_unlock(&lock);
}

static void resource(void *user, int domain, uint32_t id, const void *data) {
  if (domain == CUPTI_RESOURCES && id == CUPTI_MODULE_LOADED)
    keep(((const CuptiResource *)data)->what);
}

static bool open_functions(void) {
  void *library = gpu_cupti_library();
  if (!library) return false;
#define FUNCTION(name, parameters) \
  if (!(*(void **)&cupti.name = dlsym(library, #name))) return false;
  CUPTI_LINE_FUNCTIONS
#undef FUNCTION
  return true;
}

static void open_once(void) {
  static void *subscriber;
  opened = open_functions() && !cupti.cuptiSubscribe(&subscriber, resource, NULL) &&
           !cupti.cuptiEnableCallback(1, subscriber, CUPTI_RESOURCES, CUPTI_MODULE_LOADED);
  if (!opened) log_verbose("CUPTI does not tell which code is loaded: samples have no lines");
}

void gpu_stall_lines_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_once);
}

static uint64_t key_of(const CuptiPlace *p) {
  return p->code * 0x9e3779b97f4a7c15ull ^ ((uint64_t)p->function << 32 | p->offset) ^ 1;
}

// With the lock held.
static GpuStallLine look_up(const CuptiPlace *p) {
  GpuStallLine found = {0};
  for (uint32_t i = 0; i < cubins.len && !found.file; i++) {
    const LoadedCubin *c = &cubins.data[i];
    if (c->crc != p->code) continue;
    CuptiLine line = {.size = sizeof line,
                      .cubin = c->bytes,
                      .function = p->name,
                      .bytes = c->n,
                      .offset = p->offset};
    if (cupti.cuptiGetSassToSourceCorrelation(&line) || !line.line || !line.file) continue;
    Str path = {0};
    if (line.folder && *line.folder && line.file[0] != '/') str_printf(&path, "%s/", line.folder);
    str_add(&path, line.file);
    found = (GpuStallLine){path.data, line.line};  // kept as long as the process lives
    free(line.file);
    free(line.folder);
  }
  return found;
}

GpuStallLine gpu_stall_line(const CuptiPlace *p) {
  if (!opened) return (GpuStallLine){0};
  pthread_mutex_lock(&lock);
  GpuStallLine *l = u64map_get(&known, key_of(p));
  if (!l) {
    l = mem_alloc(sizeof *l);
    *l = look_up(p);
    u64map_put(&known, key_of(p), l);
  }
  GpuStallLine line = *l;
  pthread_mutex_unlock(&lock);
  return line;
}
