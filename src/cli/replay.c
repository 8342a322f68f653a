// Replays launches of a run file with --record=inputs. expand.c starts it as an ordinary program
// under Warpgrind. Buffers are mapped at their original addresses where possible; otherwise
// pointers in parameters are adjusted, and pointers in memory are not.
#define _GNU_SOURCE
#include "cli/expand.h"

#include <dlfcn.h>
#include <zstd.h>

#include "channel/channel.h"
#include "cli/driver_calls.h"

#define DO CLI_DRIVER_DO

// --- state ---

typedef struct Range {
  uint64_t base, size, now;
  CUmemGenericAllocationHandle memory;
} Range;
typedef struct Loaded {
  char *hash;
  CUmodule module;
} Loaded;
typedef struct Replay {
  Store *store;
  KeptAllocations allocations;
  VEC(Range) ranges;
  VEC(Loaded) modules;
  uint32_t applied;  // contents up to this step are in memory
  FILE *map;         // for expand.c: new and original ids of allocations and launches
  size_t granularity;
  bool moved_said;
} Replay;

// NVIDIA's driver (R580) reserves a requested address only if it is a multiple of this.
#define RESERVED_AT ((size_t)32 << 20)

static const CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

// --- memory ---

static int by_base(const void *a, const void *b) {
  uint64_t x = ((const KeptAllocation *)a)->base, y = ((const KeptAllocation *)b)->base;
  return x < y ? -1 : x > y;
}

static bool map_range(Replay *r, uint64_t low, uint64_t high, Error *err) {
  Range range = {.base = low, .size = high - low};
  CUdeviceptr at = 0;
  CUmemAccessDesc access = {.location = on_device.location,
                            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  DO(cuMemAddressReserve(&at, range.size, 0, low, 0), "no addresses can be reserved");
  DO(cuMemCreate(&range.memory, range.size, &on_device, 0), "there is not enough device memory");
  DO(cuMemMap(at, range.size, 0, range.memory, 0), "memory cannot be mapped");
  DO(cuMemSetAccess(at, range.size, &access, 1), "memory cannot be mapped");
  range.now = at;
  if (at != low && !r->moved_said) {
    log_line(
        "expand: cannot map the buffers at their original addresses. Pointers in parameters are "
        "adjusted; pointers in memory are not");
    r->moved_said = true;
  }
  vec_push(&r->ranges, range);
  return true;
}

// Codes of the calls of warpgrind.h; those for pools and pieces are not in the public header.
enum { RECORD_BEGIN = 5, RECORD_END = 6, POOL = 100, PIECE = 101 };
static void tell(int what, uint64_t at, size_t size) {
  int (*call)(int, const void *, size_t);
  *(void **)&call = dlsym(RTLD_DEFAULT, "wg_host_initialized");
  if (call) call(what, (const void *)(uintptr_t)at, size);
}

// Reports each allocation to the session.
static void tell_pieces(Replay *r, const Range *range) {
  tell(POOL, range->now, range->size);
  for (uint32_t i = 0; i < r->allocations.len; i++) {
    KeptAllocation *a = &r->allocations.data[i];
    if (a->is_variable || a->base - range->base >= range->size) continue;
    a->now = range->now + (a->base - range->base);
    tell(PIECE, a->now, a->size);
    fprintf(r->map, "allocation %llu %u\n", (unsigned long long)a->now, a->id);
  }
}

static bool make_memory(Replay *r, Error *err) {
  uint64_t unit = r->granularity, low = 0, high = 0;
  if (r->allocations.len)
    qsort(r->allocations.data, r->allocations.len, sizeof *r->allocations.data, by_base);
  for (uint32_t i = 0; i <= r->allocations.len; i++) {
    const KeptAllocation *a = i < r->allocations.len ? &r->allocations.data[i] : NULL;
    if (a && a->is_variable) continue;
    uint64_t first = a ? a->base / unit * unit : UINT64_MAX,
             end = a ? (a->base + a->size + unit - 1) / unit * unit : 0;
    if (high && first > high) {
      if (!map_range(r, low, high, err)) return false;
      high = 0;
    }
    if (!a) break;
    if (!high) low = first;
    high = MAX(high, end);
  }
  for (uint32_t i = 0; i < r->ranges.len; i++) tell_pieces(r, &r->ranges.data[i]);
  return true;
}

static void drop_memory(Replay *r) {
  for (uint32_t i = 0; i < r->ranges.len; i++) {
    Range *range = &r->ranges.data[i];
    cu.cuMemUnmap(range->now, range->size);
    cu.cuMemRelease(range->memory);
    cu.cuMemAddressFree(range->now, range->size);
  }
  r->ranges.len = 0;
  r->applied = 0;
}

// Are the allocations of `then` those that are mapped now? Copies their addresses to `then`.
// Variables are not mapped here.
static bool is_same(const KeptAllocations *now, KeptAllocations *then) {
  uint32_t mapped = 0, wanted = 0, found = 0;
  for (uint32_t i = 0; i < now->len; i++) mapped += !now->data[i].is_variable;
  for (uint32_t k = 0; k < then->len; k++) {
    wanted += !then->data[k].is_variable;
    for (uint32_t i = 0; i < now->len; i++)
      if (now->data[i].id == then->data[k].id && !now->data[i].is_variable) {
        then->data[k].now = now->data[i].now;
        found++;
      }
  }
  return mapped == wanted && found == mapped;
}

static bool allocate(Replay *r, const KeptLaunch *l, Error *err) {
  KeptAllocations then = {0};
  if (!kept_allocations_load(r->store->db, l, &then, err)) return false;
  if (r->ranges.len && is_same(&r->allocations, &then)) {
    kept_allocations_free(&r->allocations);
    r->allocations = then;
    return true;
  }
  drop_memory(r);
  kept_allocations_free(&r->allocations);
  r->allocations = then;
  return make_memory(r, err);
}

// --- code ---

static bool read_number(const uint8_t **p, size_t *left, uint32_t *out) {
  if (*left < 4) return false;
  memcpy(out, *p, 4);
  *p += 4;
  *left -= 4;
  return true;
}

static bool read_text(const uint8_t **p, size_t *left, uint32_t n, char **out) {
  if (*left < n) return false;
  *out = mem_alloc((size_t)n + 1);
  memcpy(*out, *p, n);
  *p += n;
  *left -= n;
  return true;
}

static bool unpack(sqlite3_stmt *s, int column, uint64_t n, Str *out, Error *err) {
  const void *data = sqlite3_column_blob(s, column);
  size_t len = (size_t)sqlite3_column_bytes(s, column);
  if (!data || n > 1 << 20) return error_set(err, "the run file is damaged");
  uint8_t *plain = mem_alloc(n + 1);
  bool ok = true;
  if (len == n) memcpy(plain, data, n);
  else ok = ZSTD_decompress(plain, n, data, len) == n;
  if (ok) str_addn(out, (const char *)plain, n);
  free(plain);
  return ok || error_set(err, "the run file is damaged");
}

static bool read_code(Replay *r, const KeptLaunch *l, Str *out, Error *err) {
  uint64_t hash = strtoull(l->hash, NULL, 16), at = CHANNEL_CODE_ADDRESS(hash);
  sqlite3_stmt *s = NULL;
  bool ok = sqlite3_prepare_v2(
                r->store->db,
                "SELECT bytes, data FROM trace_contents WHERE process = ?1 AND step = ?2 AND "
                "address >= ?3 AND address < ?3 + 0x100000000 ORDER BY address",
                -1, &s, NULL) == SQLITE_OK;
  sqlite3_bind_int64(s, 1, l->process);
  sqlite3_bind_int64(s, 2, CHANNEL_CODE_STEP);
  sqlite3_bind_int64(s, 3, (int64_t)at);
  while (ok && kept_next(s, &ok, err))
    ok = unpack(s, 1, (uint64_t)sqlite3_column_int64(s, 0), out, err);
  sqlite3_finalize(s);
  return (ok && out->len) ||
         (err->text[0]
              ? false
              : error_set(err, "the code of %s was not kept: there is no PTX of it", l->kernel));
}

static bool load_units(const uint8_t *p, size_t left, uint32_t n, CUmodule *out, Error *err) {
  CUlinkState link = NULL;
  void *cubin = NULL;
  size_t size;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t name_len, options_len, text_len;
    char *name, *options, *text;
    if (!read_number(&p, &left, &name_len) || !read_number(&p, &left, &options_len) ||
        !read_number(&p, &left, &text_len) || !read_text(&p, &left, name_len, &name) ||
        !read_text(&p, &left, options_len, &options) || !read_text(&p, &left, text_len, &text))
      return error_set(err, "the run file is damaged: code");
    if (n == 1) {
      DO(cuModuleLoadData(out, text), "the code of the kernel cannot be loaded");
      return true;
    }
    if (!link) DO(cuLinkCreate(0, NULL, NULL, &link), "the code of the kernel cannot be linked");
    DO(cuLinkAddData(link, CU_JIT_INPUT_PTX, text, text_len + 1, name, 0, NULL, NULL),
       "the code of the kernel cannot be linked");
  }
  DO(cuLinkComplete(link, &cubin, &size), "the code of the kernel cannot be linked");
  DO(cuModuleLoadData(out, cubin), "the code of the kernel cannot be loaded");
  return true;
}

static bool load_module(Replay *r, const KeptLaunch *l, CUmodule *out, Error *err) {
  for (uint32_t i = 0; i < r->modules.len; i++)
    if (!strcmp(r->modules.data[i].hash, l->hash)) {
      *out = r->modules.data[i].module;
      return true;
    }
  Str blob = {0};
  if (!read_code(r, l, &blob, err)) return false;
  const uint8_t *p = (const uint8_t *)blob.data + 8;
  size_t left = blob.len >= 8 ? blob.len - 8 : 0;
  uint32_t n = 0;
  if (!read_number(&p, &left, &n) || !n) return error_set(err, "the run file is damaged: code");
  if (!load_units(p, left, n, out, err)) return false;
  vec_push(&r->modules, (Loaded){mem_strdup(l->hash), *out});
  return true;
}

// --- contents ---

static void find_variables(Replay *r, CUmodule module) {
  for (uint32_t i = 0; i < r->allocations.len; i++) {
    KeptAllocation *a = &r->allocations.data[i];
    CUdeviceptr at;
    size_t size;
    if (!a->is_variable) continue;
    bool is_there = cu.cuModuleGetGlobal(&at, &size, module, a->name) == CUDA_SUCCESS &&
                    size == a->size;
    a->now = is_there ? at : 0;
    if (is_there) fprintf(r->map, "allocation %llu %u\n", (unsigned long long)at, a->id);
  }
}

static bool put(Replay *r, uint64_t address, const char *bytes, uint64_t n, Error *err) {
  for (uint32_t i = 0; i < r->allocations.len; i++) {
    const KeptAllocation *a = &r->allocations.data[i];
    uint64_t from = MAX(address, a->base), to = MIN(address + n, a->base + a->size);
    if (from < to && a->now)
      DO(cuMemcpyHtoD(a->now + (from - a->base), bytes + (from - address), to - from),
         "memory cannot be written");
  }
  return true;
}

// A memory set that the memory does not contain yet. value: its lowest bytes count.
typedef struct KeptSet {
  uint64_t at, width, rows, pitch;
  uint32_t step, value, value_bytes;
} KeptSet;
typedef struct KeptSets {
  VEC(KeptSet) list;
  uint32_t next;
} KeptSets;

static bool load_sets(Replay *r, const KeptLaunch *l, KeptSets *out, Error *err) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(r->store->db,
                         "SELECT number, destination, width, height, to_pitch, value, value_bytes "
                         "FROM step WHERE process = ?1 AND kind = 'set' AND recorded AND number > "
                         "?2 AND number <= ?3 ORDER BY number",
                         -1, &s, NULL) != SQLITE_OK)
    return error_set(err, "the run file cannot be read: %s", store_message(r->store->db));
  sqlite3_bind_int64(s, 1, l->process);
  sqlite3_bind_int64(s, 2, r->applied);
  sqlite3_bind_int64(s, 3, l->step);
  bool ok = true;
  while (kept_next(s, &ok, err)) {
    uint64_t n[7];
    for (int i = 0; i < 7; i++) n[i] = (uint64_t)sqlite3_column_int64(s, i);
    if (n[6] == 1 || n[6] == 2 || n[6] == 4)
      vec_push(&out->list,
               (KeptSet){n[1], n[2], n[3], n[4], (uint32_t)n[0], (uint32_t)n[5], (uint32_t)n[6]});
  }
  sqlite3_finalize(s);
  return ok;
}

static bool set(Replay *r, const KeptSet *k, Error *err) {
  enum { BLOCK = 1 << 20 };
  static char block[BLOCK];
  for (uint32_t i = 0; i < MIN(k->width, (uint64_t)BLOCK); i++)
    block[i] = (char)(k->value >> i % k->value_bytes * 8);
  for (uint64_t y = 0; y < k->rows; y++)
    for (uint64_t at = 0; at < k->width; at += BLOCK)
      if (!put(r, k->at + y * k->pitch + at, block, MIN(k->width - at, (uint64_t)BLOCK), err))
        return false;
  return true;
}

static bool set_before(Replay *r, KeptSets *sets, uint64_t step, Error *err) {
  for (; sets->next < sets->list.len && sets->list.data[sets->next].step < step; sets->next++)
    if (!set(r, &sets->list.data[sets->next], err)) return false;
  return true;
}

// Applies contents and sets in program order. If a page has several contents, only the newest
// count; pages that overlap it keep their place in the order.
static bool apply(Replay *r, const KeptLaunch *l, Error *err) {
  sqlite3_stmt *s = NULL;
  Str page = {0};
  KeptSets sets = {0};
  if (!load_sets(r, l, &sets, err)) return false;
  bool ok = sqlite3_prepare_v2(
                r->store->db,
                "SELECT c.address, c.bytes, c.data, c.step FROM trace_contents c JOIN (SELECT "
                "max(step * 4294967296 + id) AS newest, id FROM trace_contents "
                "WHERE process = ?1 AND step > ?2 AND step <= ?3 GROUP BY address, bytes) n ON "
                "c.id = n.id ORDER BY c.step, c.id",
                -1, &s, NULL) == SQLITE_OK;
  if (!ok) return error_set(err, "the run file cannot be read: %s", store_message(r->store->db));
  sqlite3_bind_int64(s, 1, l->process);
  sqlite3_bind_int64(s, 2, r->applied);
  sqlite3_bind_int64(s, 3, l->step);
  while (ok && kept_next(s, &ok, err)) {
    page.len = 0;
    ok = set_before(r, &sets, (uint64_t)sqlite3_column_int64(s, 3), err) &&
         unpack(s, 2, (uint64_t)sqlite3_column_int64(s, 1), &page, err) &&
         put(r, (uint64_t)sqlite3_column_int64(s, 0), page.data, page.len, err);
  }
  ok = ok && set_before(r, &sets, UINT64_MAX, err);
  sqlite3_finalize(s);
  vec_free(&sets.list);
  str_free(&page);
  r->applied = l->step;
  return ok;
}

// --- the launch ---

static void move_pointers(const Replay *r, uint8_t *bytes, size_t n) {
  for (size_t at = 0; at + 8 <= n; at += 8) {
    uint64_t word;
    memcpy(&word, bytes + at, 8);
    for (uint32_t i = 0; i < r->allocations.len; i++) {
      const KeptAllocation *a = &r->allocations.data[i];
      if (!a->now || a->now == a->base || word - a->base >= a->size) continue;
      word += a->now - a->base;
      memcpy(bytes + at, &word, 8);
      break;
    }
  }
}

static bool read_parameters(Replay *r, const KeptLaunch *l, void **list, uint32_t most,
                            Error *err) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(
          r->store->db,
          "SELECT number, bytes, value FROM parameter WHERE launch = ? ORDER BY number", -1, &s,
          NULL) != SQLITE_OK)
    return error_set(err, "the run file cannot be read: %s", store_message(r->store->db));
  sqlite3_bind_int64(s, 1, l->id);
  bool ok = true;
  while (ok && kept_next(s, &ok, err)) {
    uint64_t i = (uint64_t)sqlite3_column_int64(s, 0), n = (uint64_t)sqlite3_column_int64(s, 1);
    if (i >= most || (uint64_t)sqlite3_column_bytes(s, 2) < n) {
      ok = error_set(err, "parameter %llu of launch %u was too large to be kept",
                     (unsigned long long)i + 1, l->number);
      break;
    }
    list[i] = mem_alloc(n + 8);
    memcpy(list[i], sqlite3_column_blob(s, 2), n);
    move_pointers(r, list[i], n);
  }
  sqlite3_finalize(s);
  return ok;
}

static bool launch(Replay *r, const KeptLaunch *l, Error *err) {
  enum { MOST = 4096 };
  CUmodule module;
  CUfunction function;
  void *params[MOST] = {0};
  if (!allocate(r, l, err) || !load_module(r, l, &module, err)) return false;
  find_variables(r, module);
  if (!apply(r, l, err) || !read_parameters(r, l, params, MOST, err)) return false;
  DO(cuModuleGetFunction(&function, module, l->kernel), "the kernel is not in its module");
  CUlaunchAttribute attributes[2];
  CUlaunchConfig c = {.gridDimX = l->grid[0],
                      .gridDimY = l->grid[1],
                      .gridDimZ = l->grid[2],
                      .blockDimX = l->block[0],
                      .blockDimY = l->block[1],
                      .blockDimZ = l->block[2],
                      .sharedMemBytes = l->shared,
                      .attrs = attributes};
  if (l->shared > 48 << 10)
    DO(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          (int)l->shared),
       "the kernel cannot have as much shared memory");
  if (l->cooperative) {
    attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[c.numAttrs++].value.cooperative = 1;
  }
  if ((uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
    attributes[c.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[c.numAttrs].value.clusterDim.x = l->cluster[0];
    attributes[c.numAttrs].value.clusterDim.y = l->cluster[1];
    attributes[c.numAttrs++].value.clusterDim.z = l->cluster[2];
  }
  fprintf(r->map, "launch %u %u\n", l->number, l->id);
  fflush(r->map);
  DO(cuLaunchKernelEx(&c, function, params, NULL), "the launch was refused");
  DO(cuCtxSynchronize(), "the launch failed");
  return true;
}

// Starts at the launch whose inputs are complete; launches before the first wanted one run without
// being recorded.
static uint32_t first_needed(Replay *r, uint32_t process, uint32_t first, uint32_t last,
                             Error *err) {
  KeptLaunch l;
  for (uint32_t n = first; n <= last; n++) {
    if (!kept_launch_load(r->store->db, process, n, &l, err)) continue;
    first = MIN(first, l.since);
    kept_launch_free(&l);
    break;
  }
  err->text[0] = 0;
  return first;
}

static bool replay(char **argv, Error *err) {
  enum { LAUNCH_SECONDS = 600 };  // to read the inputs of one launch
  Replay r = {.store = run_open(argv[0], false, err)};
  uint32_t process = (uint32_t)strtoul(argv[1], NULL, 10),
           first = (uint32_t)strtoul(argv[2], NULL, 10),
           last = (uint32_t)strtoul(argv[3], NULL, 10);
  CUdevice device;
  if (!r.store) return false;
  r.map = fopen(argv[4], "w");
  if (!r.map) return error_set(err, "%s cannot be written", argv[4]);
  if (!cli_driver_start(&device, err)) return false;
  DO(cuMemGetAllocationGranularity(&r.granularity, &on_device, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
     "memory cannot be mapped");
  r.granularity = MAX(r.granularity, RESERVED_AT);
  for (uint32_t n = first_needed(&r, process, first, last, err); n <= last; n++) {
    KeptLaunch l;
    store_set_deadline(r.store, LAUNCH_SECONDS);
    if (!kept_launch_load(r.store->db, process, n, &l, err)) {
      if (first == last && n == first) return false;
      if (n >= first) log_line("expand: %s", err->text);
      err->text[0] = 0;
      continue;
    }
    tell(n >= first ? RECORD_BEGIN : RECORD_END, 0, 0);
    if (!launch(&r, &l, err)) return false;
    kept_launch_free(&l);
  }
  bool written = !ferror(r.map);
  written = fclose(r.map) == 0 && written;
  return written || error_set(err, "%s cannot be written", argv[4]);
}

int cli_replay(int argc, char **argv) {
  Error err = {{0}};
  if (argc != 6) return cli_fail("expand: %d arguments instead of 5.", argc - 1);
  return replay(argv + 1, &err) ? 0 : cli_fail("expand: %s.", err.text);
}
