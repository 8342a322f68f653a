// The list of allocations against the simplest one there could be: random allocations, frees and questions, and tables that are brought up to date.
#include "session/internal.h"

enum { MOST = 4000, SPACE = 20000 };
typedef struct Plain { uint64_t base, size; uint32_t state; } Plain;
static Plain plain[MOST];
static uint32_t n;
static int failed;
static void check(bool ok, const char *what, unsigned step) {
  if (!ok && failed++ < 10) printf("FAIL step %u: %s\n", step, what);
}

static uint32_t next_random(void) {
  static uint64_t x = 88172645463325252ull;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return (uint32_t)(x >> 32);
}

static void plain_add(uint64_t base, uint64_t size) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++)
    if (plain[i].base + plain[i].size <= base || plain[i].base >= base + size) plain[kept++] = plain[i];
  n = kept;
  plain[n++] = (Plain){base, size, WG_MEMORY_LIVE};
}

static Plain *plain_find(uint64_t address) {
  for (uint32_t i = 0; i < n; i++)
    if (address - plain[i].base < plain[i].size) return &plain[i];
  return NULL;
}

static void compare_table(TableImage *image, char *table, size_t room, unsigned step) {
  uint64_t version;
  check(session_ranges_write(image, table, room, &version), "the table does not fit", step);
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgMemoryRange *r = (const WgMemoryRange *)(t + 1);
  check(t->count == n, "the table has another length", step);
  for (uint32_t i = 0; i < t->count; i++) {
    const Plain *p = plain_find(r[i].base);
    check(p && p->base == r[i].base && p->size == r[i].size && p->state == r[i].state, "a row of the table", step);
    check(!i || r[i - 1].base + r[i - 1].size <= r[i].base, "the order of the table", step);
  }
}

int main(void) {
  static char tables[3][sizeof(WgMemoryTable) + MOST * sizeof(WgMemoryRange)];
  static TableImage images[3];
  for (unsigned step = 0; step < 60000; step++) {
    uint64_t address = 1 + next_random() % SPACE;
    HeapRange r;
    switch (next_random() % 4) {
    case 0:
    case 1: {
      uint64_t size = 1 + next_random() % (next_random() % 20 ? 8 : 300);
      session_ranges_add(&(HeapRange){.memory = {.base = address, .size = size}, .kind = SESSION_DEVICE});
      plain_add(address, size);
      break;
    }
    case 2: {
      Plain *p = plain_find(address);
      bool live = p && p->base == address && p->state == WG_MEMORY_LIVE;
      check(session_ranges_free(address, 1, &r) == live, "free", step);
      if (live) p->state = WG_MEMORY_FREED;
      break;
    }
    default: {
      Plain *p = plain_find(address);
      check(session_ranges_look(address, &r) == (p != NULL), "look", step);
      check(!p || (r.memory.base == p->base && r.memory.size == p->size && r.memory.state == p->state), "look: another one", step);
    }
    }
    if (step % 7 == 0) compare_table(&images[step % 3], tables[step % 3], sizeof tables[0], step);
  }
  printf(failed ? "FAIL ranges\n" : "ok ranges\n");
  return failed != 0;
}
