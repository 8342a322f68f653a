// The list of allocations against the simplest one there could be: random allocations, frees and
// questions, and tables that are brought up to date.
#include "cuda/abi.h"
#include "session/internal.h"

bool session_wants(unsigned what) { return true; }

enum { MOST = 4000, SPACE = 20000, HANDLES = 40 };
static uint32_t textures[HANDLES],
    surfaces[HANDLES];  // width of the object with this handle; 0: there is none
typedef struct Plain { uint64_t base, size; uint32_t state; } Plain;
static Plain plain[MOST];
static uint32_t n;
static int failed;
static void check(bool ok, const char *what, unsigned step) {
  if (!ok && failed++ < 10) printf("FAIL step %u: %s\n", step, what);
}

static uint32_t next_random(void) {
  static uint64_t x = 88172645463325252ull;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return (uint32_t)(x >> 32);
}

// by address; what it lies over goes
static void plain_add(uint64_t base, uint64_t size) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n; i++)
    if (plain[i].base + plain[i].size <= base || plain[i].base >= base + size)
      plain[kept++] = plain[i];
  uint32_t at = kept;
  for (; at && plain[at - 1].base > base; at--) plain[at] = plain[at - 1];
  plain[at] = (Plain){base, size, WG_MEMORY_LIVE};
  n = kept + 1;
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
  for (uint32_t i = 0; i < t->count && i < n; i++)
    check(plain[i].base == r[i].base && plain[i].size == r[i].size && plain[i].state == r[i].state,
          "a row of the table", step);
}

static void compare_images(const char *table, unsigned step) {
  const WgMemoryTable *t = (const WgMemoryTable *)table;
  const WgImage *image = (const WgImage *)((const WgMemoryRange *)(t + 1) + t->count);
  uint32_t at = 0;
  for (uint64_t handle = 0; handle < HANDLES; handle++) {
    if (textures[handle]) {
      check(at < t->images && image[at].key == WG_IMAGE_KEY(handle, 0) &&
                image[at].width == textures[handle],
            "a texture", step);
      at++;
    }
    if (surfaces[handle]) {
      check(at < t->images && image[at].key == WG_IMAGE_KEY(handle, 1) &&
                image[at].width == surfaces[handle] * 4,
            "a surface", step);
      at++;
    }
  }
  check(at == t->images, "the number of textures and surfaces", step);
}

static void change_image(void) {
  uint32_t handle = next_random() % HANDLES,
           width = next_random() % 3 ? 1 + next_random() % 100 : 0;
  bool surface = next_random() % 2;
  (surface ? surfaces : textures)[handle] = width;
  if (surface && width)
    session_surface_created(
        handle, &(CUDA_ARRAY3D_DESCRIPTOR){
                    .Width = width, .Height = 2, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1});
  else if (surface) session_surface_destroyed(handle);
  else if (width)
    session_texture_created(
        handle, &(CUDA_RESOURCE_DESC){
                    .resType = CU_RESOURCE_TYPE_LINEAR,
                    .res.linear = {.devPtr = 64,
                                   .format = CU_AD_FORMAT_FLOAT,
                                   .numChannels = 1,
                                   .sizeInBytes = 4 * width}});
  else session_texture_destroyed(handle);
}

int main(void) {
  static char tables[3][sizeof(WgMemoryTable) + MOST * sizeof(WgMemoryRange) +
                        2 * HANDLES * sizeof(WgImage)];
  static TableImage images[3];
  for (unsigned step = 0; step < 60000; step++) {
    uint64_t address = 1 + next_random() % SPACE;
    HeapRange r;
    switch (next_random() % 4) {
    case 0:
    case 1: {
      uint64_t size = 1 + next_random() % (next_random() % 20 ? 8 : 300);
      session_ranges_add(
          &(HeapRange){.memory = {.base = address, .size = size}, .kind = SESSION_DEVICE});
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
      check(!p || (r.memory.base == p->base && r.memory.size == p->size &&
                   r.memory.state == p->state),
            "look: another one", step);
    }
    }
    uint64_t before = session_ranges_version();
    if (step % 5 == 0) {
      change_image();
      check(session_ranges_version() != before, "a change that no launch hears of", step);
    }
    if (step % 7 == 0) {
      compare_table(&images[step % 3], tables[step % 3], sizeof tables[0], step);
      compare_images(tables[step % 3], step);
    }
  }
  printf(failed ? "FAIL ranges\n" : "ok ranges\n");
  return failed != 0;
}
