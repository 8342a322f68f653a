// Statically linked CUDA runtimes: the first bytes of each of their functions become a jump to
// ours.
//
// A runtime is found through the symbol table of the executable and of every library, also those
// loaded later; one that exports its functions (a shared libcudart that the program brought along
// by RPATH or full path) is redirected the same way. NVIDIA's code then never runs: functions we do
// not know are sent to one that says "not supported".
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "runtime/check_executable.h"
#include "runtime/internal.h"

typedef struct Target {
  const char *name;
  uint8_t *code;
  uint64_t size;
  const RtEntry *entry;
} Target;
typedef VEC(Target) Targets;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static StrMap entries;             // name -> RtEntry
static VEC(const uint8_t *) seen;  // program headers of objects already looked at
static unsigned long long seen_unloads;

static bool is_runtime_name(const char *name) {
  return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6);
}

static void build_entries(void) {
  uint32_t n;
  const RtEntry *e = rt_entry_table(&n);
  for (uint32_t i = 0; i < n; i++) strmap_put(&entries, e[i].name, (void *)&e[i]);
}

// All functions of a runtime in this file, and which version of the interface it has. Empty: it
// holds none. A few such names without the registration functions are a wrapper of the program's
// own, which is left alone.
enum { FEWEST_FUNCTIONS = 20 };

static int find_runtime(const ElfFile *f, uint8_t *base, Targets *found) {
  bool registers = false, ours = false, only_12 = false;
  uint32_t known = 0;
  for (int dynamic = 0; dynamic < 2 && !found->len; dynamic++) {
    ElfSymbol y;
    for (ElfSymbolWalk w = elf_symbols(f, dynamic); elf_next_symbol(&w, &y);) {
      // Compiled functions have sizes: one without is not the runtime's, whatever it is called.
      if (!is_runtime_name(y.name) || !y.defined || !y.size) continue;
      const RtEntry *e = strmap_get(&entries, y.name);
      registers |= !strcmp(y.name, "__cudaRegisterFatBinary");
      ours |= !strcmp(y.name, "__cuda_warpgrind_shim");
      only_12 |= e && e->in12 && !e->in13;
      known += e != NULL;
      vec_push(found, (Target){y.name, base + y.value, y.size, e});
    }
  }
  if (!registers || ours || known < FEWEST_FUNCTIONS) found->len = 0;
  return only_12 ? 12 : 13;
}

// Names we do not know count only between functions of the runtime: elsewhere they are the
// program's own.
static void drop_foreign(Targets *t, uint8_t **low, uint8_t **high) {
  *low = NULL;
  *high = NULL;
  for (uint32_t i = 0; i < t->len; i++) {
    const Target *x = &t->data[i];
    if (!x->entry) continue;
    if (!*low || x->code < *low) *low = x->code;
    uint8_t *end = x->code + MAX(x->size, patch_near_bytes);
    if (end > *high) *high = end;
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < t->len; i++) {
    const Target *x = &t->data[i];
    // by nvcc, per object
    bool generated = !strncmp(x->name, "__cudaRegisterLinkedBinary", 26) ||
                     !strcmp(x->name, "__cudaUnregisterBinaryUtil");
    if (x->entry || (x->code > *low && x->code < *high && !generated)) t->data[kept++] = *x;
  }
  t->len = kept;
}

static bool redirect(const char *path, const Targets *t, uint8_t *low, uint8_t *high, int version,
                     Error *e) {
  size_t island_bytes = 0, used = 0;
  // a jump longer than the function is fine only in the padding before the next one
  for (uint32_t i = 0; i < t->len; i++)
    if (t->data[i].size && t->data[i].size < patch_near_bytes && (uintptr_t)t->data[i].code % 16)
      return error_set(e,
                       "%s: %s is too short to be redirected. Link the CUDA runtime as a shared "
                       "library: nvcc -cudart=shared.",
                       path, t->data[i].name);
  for (uint32_t i = 0; i < t->len; i++)
    if (!t->data[i].entry) island_bytes += patch_call_bytes;
    else if (t->data[i].size < patch_far_bytes) island_bytes += (patch_far_bytes + 7) & ~(size_t)7;
  uint8_t *island = island_bytes ? patch_alloc_near(low, high, island_bytes) : NULL;
  if ((island_bytes && !island) || !patch_make_writable(low, (size_t)(high - low)))
    return error_set(e,
                     "%s: the CUDA runtime linked into it could not be redirected: the system "
                     "refused to change its code pages.",
                     path);
  for (uint32_t i = 0; i < t->len; i++) {
    const Target *x = &t->data[i];
    const void *ours = !x->entry ? NULL : version == 12 ? x->entry->abi12 : x->entry->abi13;
    if (ours && x->size >= patch_far_bytes) {
      patch_far_jump(x->code, ours);
      continue;
    }
    if (ours) patch_far_jump(island + used, ours);
    else
      patch_call_with(island + used, (const void *)(uintptr_t)rt_unsupported, mem_strdup(x->name));
    patch_near_jump(x->code, island + used);
    used += ours ? (patch_far_bytes + 7) & ~(size_t)7 : patch_call_bytes;
  }
  if (island) patch_make_executable(island, island_bytes);
  patch_make_executable(low, (size_t)(high - low));
  log_verbose("%s: CUDA runtime %d, %u functions redirected", path, version, t->len);
  return true;
}

// In the loader's list the program itself has no file name; argv[0] and /proc/self/exe may be
// something else.
static bool file_of_address(const void *address, char *out, size_t size) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps) return false;
  char line[4608];
  bool found = false;
  while (!found && fgets(line, sizeof line, maps)) {
    unsigned long long from, to;
    int at = 0;
    if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &from, &to, &at) < 2 || !at) continue;
    if ((uintptr_t)address < from || (uintptr_t)address >= to || line[at] != '/') continue;
    line[strcspn(line, "\n")] = 0;
    found = (size_t)snprintf(out, size, "%s", line + at) < size;
  }
  fclose(maps);
  return found;
}

static bool look_at(struct dl_phdr_info *info, Error *e) {
  char own[4096];
  const char *path = info->dlpi_name;
  bool is_program = !*path;
  if (is_program && file_of_address(info->dlpi_phdr, own, sizeof own)) path = own;
  else if (is_program && getauxval(AT_EXECFN)) path = (const char *)getauxval(AT_EXECFN);
  else if (!strchr(path, '/')) return true;  // linux-vdso
  if (is_program && !runtime_check_executable(path, e)) return false;
  ElfFile f;
  // the file may be deleted by now
  if (!elf_open(path, &f) && !(is_program && elf_open("/proc/self/exe", &f))) return true;
  Targets targets = {0};
  bool ok = true;
  int version = find_runtime(&f, (uint8_t *)info->dlpi_addr, &targets);
  if (targets.len) {
    uint8_t *low, *high;
    drop_foreign(&targets, &low, &high);
    ok = redirect(path, &targets, low, high, version, e);
  } else if (elf_has_stripped_runtime(&f)) {  // a library of somebody else's, cuBLAS for example:
                                              // the program may not need it
    log_line("%s contains a CUDA runtime without a symbol table, which cannot be redirected to the "
             "virtual device: its CUDA calls will fail",
             path);
  }
  vec_free(&targets);
  elf_close(&f);
  return ok;
}

typedef struct Walk {
  Error *error;
  bool ok;
} Walk;

static bool was_seen(const void *phdr) {
  for (uint32_t i = 0; i < seen.len; i++)
    if (seen.data[i] == (const uint8_t *)phdr) return true;
  return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *user) {
  Walk *w = user;
  // something was unloaded: its addresses may be another object's now
  if (info->dlpi_subs != seen_unloads) {
    vec_free(&seen);
    seen_unloads = info->dlpi_subs;
  }
  if (was_seen(info->dlpi_phdr)) return 0;
  vec_push(&seen, (const uint8_t *)info->dlpi_phdr);
  // our own functions have these names too
  const uint8_t *self = (const uint8_t *)(uintptr_t)visit;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uint8_t *start = (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && self >= start &&
        self < start + info->dlpi_phdr[i].p_memsz)
      return 0;
  }
  w->ok = look_at(info, w->error);
  return !w->ok;
}

// Sends every statically linked CUDA runtime of the loaded objects to ours. Called once at start
// and after every dlopen; objects that were redirected already are skipped. Returns false if an
// object holds a runtime that cannot be served.
static bool redirect_loaded(Error *e) {
  Walk w = {e, true};
  pthread_mutex_lock(&lock);
  if (!entries.len) build_entries();
  dl_iterate_phdr(visit, &w);
  pthread_mutex_unlock(&lock);
  return w.ok;
}

// --- at start and after every dlopen ---

static void give_up(const Error *e) {
  log_error("%s", e->text);
  _exit(125);
}

static void objects_changed(void) {
  Error e = {0};
  if (!redirect_loaded(&e)) give_up(&e);
}

static void *first_objects(void *unused) {
  objects_changed();
  return unused;
}

// After driver/'s own start (101): log and environment are usable then.
__attribute__((constructor(102))) static void start(void) {
  const char *device = getenv("WARPGRIND_DEVICE");
  if (device && !strcmp(device, "gpu")) return;  // there NVIDIA's runtime serves the program
  // In a thread of its own, whose allocations lie apart: what we free must not come back to the
  // program as dirty memory. Some programs count on the zeros that the first allocations of a fresh
  // process have (PolyBench's GESUMMV).
  pthread_t apart;
  if (pthread_create(&apart, thread_attributes(), first_objects, NULL) == 0)
    pthread_join(apart, NULL);
  else objects_changed();
  malloc_trim(0);
  if (!rt_watch_loader(objects_changed))
    log_verbose("libraries opened later cannot be watched: a static CUDA runtime in one of them "
                "will not find a device");
}
