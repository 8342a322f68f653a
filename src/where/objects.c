// The executable and the libraries of the process, as listed by the dynamic loader.
#define _GNU_SOURCE
#include "where/internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

// The loader's lock-free search (glibc 2.35 and newer) is looked up at run time: the library must
// load under older ones too. Not in a constructor: ours run before libc's.
struct dl_find_object;
typedef int FindObject(void *, struct dl_find_object *);

static FindObject *loaders_search(void) {
  static _Atomic uintptr_t known;  // 1: there is none
  if (!known) {
    uintptr_t f = (uintptr_t)dlsym(RTLD_DEFAULT, "_dl_find_object");
    known = f ? f : 1;
  }
  return known == 1 ? NULL : (FindObject *)known;
}

typedef struct Search {
  uint64_t pc;
  UnwindObject *out;
} Search;

static int search_object(struct dl_phdr_info *info, size_t size, void *user) {
  Search *s = user;
  uint64_t start = UINT64_MAX, end = 0;
  const uint8_t *hdr = NULL;
  bool inside = false;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uint64_t at = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_GNU_EH_FRAME) hdr = (const uint8_t *)(uintptr_t)at;
    if (p->p_type != PT_LOAD) continue;
    if (s->pc >= at && s->pc < at + p->p_memsz) inside = true;
    start = MIN(start, at);
    end = MAX(end, at + p->p_memsz);
  }
  if (inside) *s->out = (UnwindObject){start, end, hdr};
  return inside;
}

bool where_object_of(uint64_t pc, UnwindObject *out) {
  FindObject *find_object = loaders_search();
  if (find_object) {
    // glibc's struct: flags, start and end of the mapping, the link map, the unwind table; room
    // after it for what may come.
    struct {
      unsigned long long flags;
      void *start, *end, *link_map, *eh_frame;
      unsigned long long room[16];
    } found;
    if (find_object((void *)(uintptr_t)pc, (struct dl_find_object *)&found) != 0) return false;
    *out = (UnwindObject){(uint64_t)(uintptr_t)found.start, (uint64_t)(uintptr_t)found.end,
                          found.eh_frame};
    return true;
  }
  Search s = {pc, out};
  return dl_iterate_phdr(search_object, &s) != 0;
}

static void read_build_id(const uint8_t *notes, size_t size, WhereObject *o) {
  while (size >= 12) {
    uint32_t head[3];  // length of the name, of the contents, type
    memcpy(head, notes, sizeof head);
    size_t name = ((size_t)head[0] + 3) & ~(size_t)3, body = ((size_t)head[1] + 3) & ~(size_t)3;
    if (name > size - 12 || body > size - 12 - name) return;
    if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(notes + 12, "GNU", 4) == 0) {
      o->build_id_len = MIN(head[1], (uint32_t)sizeof o->build_id);
      memcpy(o->build_id, notes + 12 + name, o->build_id_len);
      return;
    }
    notes += 12 + name + body;
    size -= 12 + name + body;
  }
}

typedef struct Listing {
  void (*each)(void *, const WhereObject *);
  void *user;
  bool first;
} Listing;

static int list_object(struct dl_phdr_info *info, size_t size, void *user) {
  Listing *l = user;
  WhereObject o = {.path = info->dlpi_name, .start = UINT64_MAX, .bias = info->dlpi_addr};
  char program[4096];
  bool first = l->first;
  l->first = false;
  if (first && (!o.path || !*o.path)) {  // the loader lists the program first, without a name
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[MAX(n, 0)] = 0;
    o.path = program;
  }
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uint64_t at = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_NOTE && !o.build_id_len)
      read_build_id((const uint8_t *)(uintptr_t)at, p->p_memsz, &o);
    if (p->p_type != PT_LOAD) continue;
    o.start = MIN(o.start, at);
    o.end = MAX(o.end, at + p->p_memsz);
  }
  if (o.end && o.path && *o.path) l->each(l->user, &o);
  return 0;
}

void where_objects(void (*each)(void *user, const WhereObject *o), void *user) {
  Listing l = {each, user, true};
  dl_iterate_phdr(list_object, &l);
}

static int read_version(struct dl_phdr_info *info, size_t size, void *user) {
  uint64_t *version = user;
  *version = (uint64_t)info->dlpi_adds << 32 | (uint32_t)info->dlpi_subs;
  return 1;
}

uint64_t where_objects_version(void) {
  uint64_t version = 0;
  dl_iterate_phdr(read_version, &version);
  return version;
}
