// What an image that the program loads holds for us: copies of the PTX we would use, as it is stored, and a hash of it.
#define _GNU_SOURCE
#include "gpu/modules.h"

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// image_choose_ptx says everything in one text; the coverage report wants the reason and the cure apart.
static void split_reason(GpuCode *c, const char *text) {
  const char *advice = strstr(text, ". Warpgrind runs PTX: rebuild with nvcc and add "), *cure = strstr(text, "-gencode ");
  if (!advice || !cure) {
    c->reason = arena_strdup(&c->arena, text);
    return;
  }
  c->reason = arena_strndup(&c->arena, text, (size_t)(advice - text));
  c->cure = arena_printf(&c->arena, "nvcc %s", cure);
}

// The machine code a driver would take: of the device's own generation, not newer, as near as possible.
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
  c->note = arena_printf(&c->arena, "its PTX is for %s; without Warpgrind the driver runs the machine code for %s", image_entry_target(ptx, have),
                         image_entry_target(elf, would));
}

static void describe(GpuCode *c, const Image *image, const char *path) {
  char target[24];
  const char *source = c->nunits ? c->units[0].source : "";
  c->what = c->nunits ? arena_printf(&c->arena, "%s, %s%s", image_kind_name(image->kind), image_entry_target(&c->units[0], target),
                                     c->nunits > 1 ? ", linked from several files" : "")
                      : arena_strdup(&c->arena, image_kind_name(image->kind));
  c->name = arena_strdup(&c->arena, source[0] ? base_name(source) : path ? base_name(path) : image_kind_name(image->kind));
}

static void copy_units(GpuCode *c, const Image *image, const ImageEntryList *chosen) {
  c->units = ARENA_ARRAY(&c->arena, ImageEntry, chosen->len);
  for (uint32_t i = 0; i < chosen->len; i++) {
    ImageEntry e = chosen->data[i];
    c->hash = gpu_hash(e.raw, e.raw_size, c->hash);
    c->hash = gpu_hash_text(e.options, c->hash);
    void *raw = arena_alloc(&c->arena, e.raw_size + 1);      // the image may be gone when we need it
    memcpy(raw, e.raw, e.raw_size);
    e.raw = raw;
    e.options = arena_strdup(&c->arena, e.options);
    e.source = arena_strdup(&c->arena, e.source);
    c->relocatable |= image->objects.data[e.object].relocatable;
    c->units[c->nunits++] = e;
  }
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
  if (image.kind == IMAGE_CUBIN && (gpu_linked_code(image.data, image.size, c) || gpu_stamped_code(&image, c))) {
    describe(c, &image, path);
    image_close(&image);
    return;
  }
  ImageEntryList chosen = {0};
  // Debug text inside machine code is PTX too, but what it was compiled with is not known: only worth it for a tool.
  if (image_choose_ptx(&image, sm, session_tools() ? IMAGE_USE_DEBUG_PTX : 0, &chosen, &err)) {
    copy_units(c, &image, &chosen);
    for (uint32_t i = 0; i < chosen.len; i++) note_age(c, &image, &chosen.data[i], sm);
  } else {
    split_reason(c, err.text);
  }
  vec_free(&chosen);
  describe(c, &image, path);
  image_close(&image);
}

void gpu_code_close(GpuCode *c) { arena_free(&c->arena); }

bool gpu_code_text(const GpuCode *c, uint32_t unit, Arena *a, const char **text, size_t *len, Error *err) {
  return image_entry_text(&c->units[unit], a, text, len, err);
}
