// Copies the parts of a loaded image that Warpgrind needs: the PTX that it would use, in its stored
// form, and a hash of it.
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>

#include "gpu/modules/modules.h"
#include "interrupt/interrupt.h"

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// "sm_80, sm_90a": the targets of one kind of entry, each once.
static void list_targets(const Image *image, ImageEntryKind kind, Str *out) {
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *e = &image->entries.data[i];
    char target[24], text[32];
    if (e->kind != kind) continue;
    snprintf(text, sizeof text, " %s,", image_entry_target(e, target));
    if (!out->data || !strstr(out->data, text)) str_add(out, text);
  }
  if (out->len) out->data[--out->len] = 0;
}

// Says why the image has no PTX for us, from its table of contents alone: image_choose_ptx unpacks
// code, which would take long for libraries with hundreds of megabytes of it.
static bool has_no_ptx(GpuCode *c, const Image *image, unsigned sm) {
  Str ptx = {0}, elf = {0}, lto = {0}, text = {0};
  char suffix = 0;
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *e = &image->entries.data[i];
    if (e->kind == IMAGE_ENTRY_PTX && image_entry_fits(e, sm)) return false;
    if (e->arch == sm && e->suffix == 'a') suffix = 'a';
  }
  list_targets(image, IMAGE_ENTRY_PTX, &ptx);
  list_targets(image, IMAGE_ENTRY_ELF, &elf);
  list_targets(image, IMAGE_ENTRY_LTO, &lto);
  if (ptx.len)
    str_printf(&text, "there is PTX only for%s, which does not fit compute capability %u.%u",
               ptx.data, sm / 10, sm % 10);
  else str_add(&text, "there is no PTX");
  if (elf.len)
    str_printf(&text, "%s machine code for%s", ptx.len ? ", besides" : ", only", elf.data);
  if (lto.len)
    str_printf(&text, "%s link-time code for%s", ptx.len || elf.len ? ", and" : ", only", lto.data);
  c->reason = arena_strdup(&c->arena, text.data);
  c->cure = arena_printf(&c->arena, "nvcc -gencode arch=compute_%u%.1s,code=compute_%u%.1s%s", sm,
                         &suffix, sm, &suffix, lto.len ? " instead of -dlto" : "");
  str_free(&ptx);
  str_free(&elf);
  str_free(&lto);
  str_free(&text);
  return true;
}

// Debug text inside machine code is PTX too, but what it was compiled with is not known: only worth
// it for a tool, and not for large libraries, which would have to be unpacked.
static int choice_flags(const Image *image) {
  enum { LARGE = 16 << 20 };
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < image->entries.len; i++) bytes += image->entries.data[i].size;
  return session_tools() && bytes < LARGE ? IMAGE_USE_DEBUG_PTX : 0;
}

// The machine code a driver would take: of the device's own generation, not newer, as near as
// possible.
static const ImageEntry *best_machine_code(const Image *image, unsigned object, unsigned sm) {
  const ImageEntry *best = NULL;
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *e = &image->entries.data[i];
    if (e->kind != IMAGE_ENTRY_ELF || e->object != object || !e->arch) continue;
    if (e->arch / 10 != sm / 10 || !image_entry_fits(e, sm)) continue;
    if (!best || e->arch > best->arch || (e->arch == best->arch && e->suffix == 'a')) best = e;
  }
  return best;
}

static void note_age(GpuCode *c, const Image *image, const ImageEntry *ptx, unsigned sm) {
  const ImageEntry *elf = best_machine_code(image, ptx->object, sm);
  if (!elf || c->note || (elf->arch <= ptx->arch && !(elf->suffix && !ptx->suffix))) return;
  char have[24], would[24];
  c->note = arena_printf(
      &c->arena, "its PTX is for %s; without Warpgrind the driver runs the machine code for %s",
      image_entry_target(ptx, have), image_entry_target(elf, would));
}

static void describe(GpuCode *c, const Image *image, const char *path) {
  char target[24];
  const char *source = c->nunits ? c->units[0].source : "";
  c->what = c->nunits ? arena_printf(&c->arena, "%s, %s%s", image_kind_name(image->kind),
                                     image_entry_target(&c->units[0], target),
                                     c->nunits > 1 ? ", linked from several files" : "")
                      : arena_strdup(&c->arena, image_kind_name(image->kind));
  c->name = arena_strdup(&c->arena, source[0] ? base_name(source)
                                    : path    ? base_name(path)
                                              : image_kind_name(image->kind));
}

static void copy_units(GpuCode *c, const Image *image, const ImageEntryList *chosen) {
  c->units = ARENA_ARRAY(&c->arena, ImageEntry, chosen->len);
  for (uint32_t i = 0; i < chosen->len; i++) {
    ImageEntry e = chosen->data[i];
    c->hash = gpu_hash(e.raw, e.raw_size, c->hash);
    c->hash = gpu_hash_text(e.options, c->hash);
    void *raw = arena_alloc(&c->arena, e.raw_size + 1);  // the image may be gone when we need it
    memcpy(raw, e.raw, e.raw_size);
    e.raw = raw;
    e.options = arena_strdup(&c->arena, e.options);
    e.source = arena_strdup(&c->arena, e.source);
    if (e.recovered) c->note = "its PTX comes from the debug text of its machine code";
    c->relocatable |= image->objects.data[e.object].relocatable;
    c->units[c->nunits++] = e;
  }
}

// Libraries with hundreds of megabytes of machine code are in memory as long as they are loaded;
// other images may be gone when the code is read.
static const void *keep_raw(GpuCode *c, const ImageEntry *e) {
  Dl_info where;
  if (dladdr(e->raw, &where)) return e->raw;
  void *raw = arena_alloc(&c->arena, e->raw_size + 1);
  memcpy(raw, e->raw, e->raw_size);
  return raw;
}

static void keep_machine_code(GpuCode *c, const Image *image, unsigned sm) {
  if (!session_reads_closed() && !session_patches_closed()) return;
  c->machine = ARENA_ARRAY(&c->arena, ImageEntry, image->objects.len);
  for (uint32_t i = 0; i < image->objects.len; i++) {
    const ImageEntry *e = best_machine_code(image, i, sm);
    if (!e) continue;
    ImageEntry kept = *e;
    kept.raw = keep_raw(c, e);
    kept.options = kept.source = "";
    c->machine[c->nmachine++] = kept;
  }
}

// The name of an interrupt in the symbols of machine code; false: there is none
static bool names_interrupt(const void *data, size_t size, char *name, size_t room) {
  static const char description[] = "wg_info_of_";
  const char *end = (const char *)data + size,
             *at = memmem(data, size, description, sizeof description - 1);
  size_t n = 0;
  if (!at) return false;
  for (at += sizeof description - 1; at < end && n + 1 < room; at++) {
    if (!isalnum((unsigned char)*at) && *at != '_') break;
    name[n++] = *at;
  }
  name[n] = 0;
  return true;
}

// Warns of machine code that calls interrupts: only calls in PTX can be served. Machine code holds
// only descriptions of the interrupts that it calls, so the warning names the handler's place.
static void warn_of_interrupts(const GpuCode *c, const Image *image) {
  Arena a = {0};
  bool calls = false;
  char name[256] = "", place[512] = "";
  for (uint32_t i = 0; i < image->entries.len && !calls; i++) {
    const ImageEntry *e = &image->entries.data[i];
    const void *data;
    size_t size;
    Error err = {{0}};
    if (e->kind == IMAGE_ENTRY_ELF && image_entry_data(e, &a, &data, &size, &err))
      calls = names_interrupt(data, size, name, sizeof name);
  }
  arena_free(&a);
  if (!calls) return;
  InterruptHandler h;
  if (interrupt_find_handler(name, &h) && h.file)
    snprintf(place, sizeof place, " (its handler is at %s:%u)", h.file, h.line);
  log_error(
      "code that calls interrupt %s%s cannot be suspended, and its calls give their defaults: "
      "%s%s%s",
      name, place, c->reason, c->cure ? ". Rebuild it with " : "", c->cure ? c->cure : "");
}

void gpu_code_open(GpuCode *c, const void *data, size_t size, const char *path, unsigned sm) {
  *c = (GpuCode){.name = path ? base_name(path) : "module", .what = "unknown"};
  Error err = {{0}};
  Image image;
  if (!image_open(data, size, &image, &err)) {
    c->name = arena_strdup(&c->arena, c->name);
    if (!gpu_linked_code(data, size, c)) c->reason = arena_strdup(&c->arena, err.text);
    return;
  }
  if (image.kind == IMAGE_CUBIN &&
      (gpu_linked_code(image.data, image.size, c) || gpu_stamped_code(&image, c))) {
    describe(c, &image, path);
    image_close(&image);
    return;
  }
  ImageEntryList chosen = {0};
  int flags = choice_flags(&image);
  if ((flags || !has_no_ptx(c, &image, sm)) && image_choose_ptx(&image, sm, flags, &chosen, &err)) {
    copy_units(c, &image, &chosen);
    for (uint32_t i = 0; i < chosen.len; i++) note_age(c, &image, &chosen.data[i], sm);
  } else if (!has_no_ptx(c, &image, sm)) {  // one of several objects has none
    c->reason = arena_strdup(&c->arena, err.text);
  }
  vec_free(&chosen);
  keep_machine_code(c, &image, sm);
  describe(c, &image, path);
  if (!c->nunits && c->reason && interrupt_has_handlers()) warn_of_interrupts(c, &image);
  image_close(&image);
}

void gpu_code_close(GpuCode *c) { arena_free(&c->arena); }

bool gpu_code_text(const GpuCode *c, uint32_t unit, Arena *a, const char **text, size_t *len,
                   Error *err) {
  return image_entry_text(&c->units[unit], a, text, len, err);
}

void gpu_code_tell(GpuFunction *f) {
  GpuModule *m = f->module;
  if (!m || !m->session || !m->code.nunits || !session_code_wanted(m->session)) return;
  Arena arena = {0};
  SessionCode *units = mem_alloc(sizeof *units * m->code.nunits);
  Error err = {{0}};
  uint32_t n = 0;
  while (n < m->code.nunits &&
         gpu_code_text(&m->code, n, &arena, &units[n].text, &units[n].len, &err)) {
    units[n].name = m->code.name;
    units[n].options = m->code.units[n].options;
    n++;
  }
  if (n == m->code.nunits) session_code(m->session, units, n);
  free(units);
  arena_free(&arena);
}
