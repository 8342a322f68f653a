// racecheck's half for closed kernels (host_closed.c), with a device of host memory: which launches
// race with others and with copies.
#include <stdio.h>
#include <string.h>

#include "tools/racecheck/host_closed.c"
#include "tools/racecheck/host_copies.c"

pthread_mutex_t race_lock = PTHREAD_MUTEX_INITIALIZER;

// --- memory: four buffers of 64 bytes, two entries for each word ---

enum { BUFFERS = 4, BYTES = 64 };
static uint32_t memory[BUFFERS][BYTES / 4];
static uint64_t kept[BUFFERS][BYTES / 4 * 2];
static RaceEntries entries[BUFFERS];
static uint64_t address(unsigned i) { return (uintptr_t)memory[i]; }
bool session_ranges_look(uint64_t at, HeapRange *out) {
  WgMemoryRange m;
  if (!session_ranges_find(at, &m)) return false;
  *out = (HeapRange){.memory = m, .kind = SESSION_DEVICE};
  return true;
}
bool session_ranges_find(uint64_t at, WgMemoryRange *out) {
  for (unsigned i = 0; i < BUFFERS; i++)
    if (at - address(i) < BYTES) {
      *out = (WgMemoryRange){.base = address(i), .size = BYTES};
      return true;
    }
  return false;
}
RaceEntries *race_entries(SessionDevice *d, uint64_t base, uint64_t size) {
  unsigned i = (unsigned)((base - address(0)) / BYTES);
  entries[i] = (RaceEntries){.base = base, .size = size, .address = (uintptr_t)kept[i]};
  return &entries[i];
}

// --- the device ---

static RaceTold told;
static RaceDevice race = {.told = &told, .id = 1, .kernel = {.function = &race, .processors = 1}};
static ToolDevice device = {.state = &race};
static unsigned words_entered;
static bool launch_kernel(void *user, const void *stream, const SessionOwnKernel *k,
                          unsigned blocks, unsigned threads, void **params) {
  const WgRaceCopy *c = params[0];
  for (uint32_t side = 0; side < 2; side++)
    for (uint64_t i = 0; c->side[side].rows && i < race_copy_words_of(&c->side[side]); i++) {
      uint64_t at, with = race_copy_at(c, side, i, &at);
      words_entered += i == 0;
      if (with && !told.met[c->number].found) {
        told.met[c->number] = (WgRaceMet){with, at, WG_RACE_MET_ALL, !side};
        told.count++;
      }
    }
  return true;
}
static const SessionDeviceOps operations = {.launch_kernel = launch_kernel};
const SessionDeviceOps *race_ops(const RaceDevice *r, void **user) { return &operations; }
RaceDevice *race_device(SessionDevice *d) { return &race; }
RaceDevice *race_devices(void) { return &race; }
bool race_wants_pairs(void) { return true; }
uint32_t race_next_number(RaceDevice *r) { return ++r->number; }

// --- order: a launch comes after those of its own stream, and after all that were waited for ---

static const void *streams[WG_RACE_LAUNCHES];
static uint32_t waited;
bool session_order_concurrent(void) { return false; }
void session_order_uses(const void *stream) {}
void session_order_launch(SessionDevice *d, const void *stream, uint32_t number, bool overlaps,
                          bool tells_host, SessionUnordered *out) {
  *out = (SessionUnordered){0};
  for (uint32_t i = number - 1; number && i > waited && out->n < SESSION_UNORDERED; i--)
    if (streams[i] != stream) out->number[out->n++] = i;
  if (number) streams[number] = stream;
}
void session_order_number_copy(SessionDevice *d, uint32_t number, SessionUnordered *out) {
  session_order_launch(d, NULL, number, false, false, out);
}

// --- what is reported ---

static char said[160];
static unsigned nsaid;
void session_finding(const SessionFinding *f) {
  snprintf(said, sizeof said, "%s launch %u: %s", f->kind, f->launch, f->text);
  nsaid++;
}
uint64_t session_copy_stack(void) { return 0; }

// --- launches: the first parameter is loaded from, the second is stored to ---

static SessionKernel kernel;
static uint32_t launches, reads[] = {0};
static SassStore stores[] = {{8, SASS_BIT(SASS_F32), true}}, sums[] = {{8, 0, false}};
static const SassStores plain = {.list = stores, .n = 1, .reads = reads, .nreads = 1},
                        atomic = {.list = sums, .n = 1, .reads = reads, .nreads = 1};
static char a, b;  // streams

static void launch_on(const void *stream, unsigned in, unsigned out, const SassStores *what) {
  SessionClosedPointer list[] = {{0, address(in), address(in), BYTES, true, SASS_OTHER},
                                 {8, address(out), address(out), BYTES, true, SASS_OTHER}};
  SessionClosedLaunch l = {
      .kernel = &kernel, .number = ++launches, .stream = stream, .stores = what};
  l.pointers.data = list;
  l.pointers.len = 2;
  race_closed_begins(&device, &l);
  race_closed_ends(&device, &l);
  race_host_waited();
}
static void wait_for_all(void) { waited = race.number; }

static int failed;
static void expect(const char *what, unsigned findings, const char *part) {
  bool good = nsaid == findings && strstr(said, part);
  printf("%s %s", good ? "ok" : "FAIL", what);
  if (!good) printf(": %u findings, the last one: %s", nsaid, said);
  puts("");
  failed |= !good;
  nsaid = 0;
  said[0] = 0;
  wait_for_all();
}

int main(void) {
  launch_on(&a, 0, 1, &plain);
  launch_on(&b, 1, 2, &plain);
  expect("no free streams", 0, "");
  printf("%s\n", words_entered ? "FAIL words: entered without need" : "ok words");
  race_stream_created(&a, true);
  launch_on(&a, 0, 1, &plain);
  launch_on(&a, 1, 2, &plain);
  expect("one stream", 0, "");
  launch_on(&a, 0, 1, &plain);
  launch_on(&b, 1, 2, &plain);
  expect("read while written", 1, "to read from, to bytes that launch 5 writes");
  launch_on(&a, 0, 1, &plain);
  wait_for_all();
  launch_on(&b, 1, 2, &plain);
  expect("read behind a wait", 0, "");
  launch_on(&a, 0, 1, &plain);
  launch_on(&b, 3, 0, &plain);
  expect("written while read", 1, "race-host launch 10: a kernel of machine code gets a pointer");
  launch_on(&a, 0, 1, &plain);
  launch_on(&b, 0, 2, &plain);
  expect("read by two", 0, "");
  launch_on(&a, 0, 1, &atomic);
  launch_on(&b, 0, 1, &atomic);
  expect("atomic operations", 0, "");
  return failed;
}
