// Chooses the PTX of an image to load for a device, or tells the user why there is none.
#include "image/private.h"

const char *image_entry_target(const ImageEntry *entry, char text[24]) {
  const char *prefix = entry->kind == IMAGE_ENTRY_ELF   ? "sm_"
                       : entry->kind == IMAGE_ENTRY_LTO ? "lto_"
                                                        : "compute_";
  snprintf(text, 24, "%s%u%.1s", prefix, entry->arch % 100000, entry->suffix ? &entry->suffix : "");
  return text;
}

// compute_90 runs on 9.0 and everything later, compute_90a on 9.0 only, compute_100f on 10.0 and
// later 10.x.
bool image_entry_fits(const ImageEntry *entry, unsigned sm) {
  if (entry->suffix == 'a') return entry->arch == sm;
  if (entry->suffix == 'f') return entry->arch <= sm && entry->arch / 10 == sm / 10;
  return entry->arch <= sm;
}

// Better first: fits; nearest arch; then plain or arch-specific code, as asked for. An older arch
// is never taken for being plain: kernels guarded by __CUDA_ARCH__ are empty there, while the
// program launches them because the device is new enough.
static bool better(const ImageEntry *a, const ImageEntry *b, unsigned sm, int flags) {
  bool a_fits = image_entry_fits(a, sm), b_fits = image_entry_fits(b, sm);
  if (a_fits != b_fits) return a_fits;
  bool a_above = a->arch > sm, b_above = b->arch > sm;
  if (a_above != b_above) return a_above;  // nothing fits: newer PTX, then foreign 'a' code
  if (a->arch != b->arch) return a_above ? a->arch < b->arch : a->arch > b->arch;
  if (!a->suffix != !b->suffix) return !a->suffix == (flags & IMAGE_PREFER_PLAIN || !a_fits);
  return false;
}

static const ImageEntry *best_ptx(const Image *image, uint32_t object, unsigned sm, int flags) {
  const ImageEntry *best = NULL;
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *entry = &image->entries.data[i];
    if (entry->object != object || entry->kind != IMAGE_ENTRY_PTX) continue;
    if (!(flags & IMAGE_ANY_ARCH) && !image_entry_fits(entry, sm)) continue;
    if (!best || better(entry, best, sm, flags)) best = entry;
  }
  return best;
}

// PTX from the debug text of one of the object's cubins.
static bool recover_ptx(const Image *image, uint32_t object, unsigned sm, int flags,
                        ImageEntry *out) {
  bool found = false;
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *elf = &image->entries.data[i];
    if (elf->object != object || elf->kind != IMAGE_ENTRY_ELF) continue;
    Arena scratch = {0};
    Cubin cubin;
    const void *data;
    size_t size;
    ImageEntry ptx = *elf;
    ptx.kind = IMAGE_ENTRY_PTX;
    ptx.recovered = true;
    if (image_entry_data(elf, &scratch, &data, &size, NULL) &&
        image_read_cubin(&scratch, data, size, &cubin, NULL) && cubin.ptx &&
        ptx_text_describe(cubin.ptx, cubin.ptx_len, &ptx) &&
        (flags & IMAGE_ANY_ARCH || image_entry_fits(&ptx, sm)) &&
        (!found || better(&ptx, out, sm, flags))) {
      *out = ptx;
      found = true;
    }
    arena_free(&scratch);
  }
  return found;
}

// "sm_80, sm_90a": the targets of one kind of entry in an object, each once.
static void list_targets(const Image *image, uint32_t object, ImageEntryKind kind, Str *out) {
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *entry = &image->entries.data[i];
    char target[24];
    if (entry->object != object || entry->kind != kind) continue;
    image_entry_target(entry, target);
    size_t n = strlen(target);
    const char *seen = out->data ? strstr(out->data, target) : NULL;
    while (seen && seen[n] && seen[n] != ',') seen = strstr(seen + 1, target);
    if (!seen) str_printf(out, "%s%s", out->len ? ", " : "", target);
  }
}

// The names of a few kernels in the object's machine code, so that the user knows which part of the
// program is meant.
static void name_kernels(const Image *image, uint32_t object, Str *out) {
  enum { MOST = 3 };
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *entry = &image->entries.data[i];
    if (entry->object != object || entry->kind != IMAGE_ENTRY_ELF) continue;
    Arena scratch = {0};
    Cubin cubin;
    const void *data;
    size_t size;
    if (image_entry_data(entry, &scratch, &data, &size, NULL) &&
        image_read_cubin(&scratch, data, size, &cubin, NULL)) {
      for (uint32_t k = 0; k < MIN(cubin.n_kernels, (uint32_t)MOST); k++)
        str_printf(out, "%s%.60s", k ? ", " : " (kernels: ", cubin.kernels[k].name);
      if (cubin.n_kernels > MOST) str_printf(out, " and %u more", cubin.n_kernels - MOST);
      if (cubin.n_kernels) str_add(out, ")");
    }
    arena_free(&scratch);
    if (out->len) return;
  }
}

// The compute_NN to suggest: what the program is built for already, as near to the device as
// possible.
static void suggested_target(const Image *image, uint32_t object, unsigned sm, char text[24]) {
  const ImageEntry *best = NULL;
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *entry = &image->entries.data[i];
    if (entry->object == object && entry->arch && image_entry_fits(entry, sm) &&
        (!best || better(entry, best, sm, 0)))
      best = entry;
  }
  snprintf(text, 24, "%u%.1s", best ? best->arch % 100000 : sm,
           best && best->suffix ? &best->suffix : "");
}

static const char *source_of(const Image *image, uint32_t object) {
  for (uint32_t i = 0; i < image->entries.len; i++)
    if (image->entries.data[i].object == object && image->entries.data[i].source[0])
      return image->entries.data[i].source;
  return image->objects.data[object].name;
}

static bool no_ptx(const Image *image, uint32_t object, unsigned sm, Error *e) {
  Str ptx = {0}, elf = {0}, lto = {0}, kernels = {0}, text = {0};
  char target[24];
  list_targets(image, object, IMAGE_ENTRY_PTX, &ptx);
  list_targets(image, object, IMAGE_ENTRY_ELF, &elf);
  list_targets(image, object, IMAGE_ENTRY_LTO, &lto);
  name_kernels(image, object, &kernels);
  suggested_target(image, object, sm, target);
  const char *source = source_of(image, object);
  str_printf(&text, "%s%s%s%s has ", source[0] ? "the code of " : "this code", source,
             kernels.len ? kernels.data : "",
             image->objects.data[object].relocatable ? ", compiled with -rdc=true," : "");
  if (ptx.len)
    str_printf(&text, "PTX only for %s, which does not fit a device of compute capability %u.%u",
               ptx.data, sm / 10, sm % 10);
  else str_add(&text, "no PTX");
  if (elf.len)
    str_printf(&text, "%s machine code for %s", ptx.len ? "; besides" : ", only", elf.data);
  if (lto.len)
    str_printf(&text, "%s link-time code (LTO-IR, from -dlto) for %s",
               elf.len || ptx.len ? ", and" : ", only", lto.data);
  str_printf(
      &text,
      ". Warpgrind runs PTX: rebuild with nvcc and add -gencode arch=compute_%s,code=compute_%s",
      target, target);
  if (lto.len) str_add(&text, " instead of -dlto");
  str_printf(&text, " (with CMake: CMAKE_CUDA_ARCHITECTURES=%s)", target);
  error_set(e, "%s", text.data);
  str_free(&ptx);
  str_free(&elf);
  str_free(&lto);
  str_free(&kernels);
  str_free(&text);
  return false;
}

// The device linker turns -rdc objects into machine code; the objects themselves have the PTX.
static bool needs_ptx(const Image *image, uint32_t object, bool any_relocatable) {
  const ImageObject *o = &image->objects.data[object];
  return o->entries && !(o->linked && (any_relocatable || image->kind == IMAGE_HOST_ELF ||
                                       image->kind == IMAGE_ARCHIVE));
}

bool image_choose_ptx(const Image *image, unsigned sm, int flags, ImageEntryList *out, Error *e) {
  bool any_relocatable = false;
  for (uint32_t i = 0; i < image->objects.len; i++)
    any_relocatable |= image->objects.data[i].relocatable;
  for (uint32_t i = 0; i < image->objects.len; i++) {
    if (!needs_ptx(image, i, any_relocatable)) continue;
    ImageEntry recovered;
    const ImageEntry *entry = best_ptx(image, i, sm, flags);
    if (!entry && flags & IMAGE_USE_DEBUG_PTX && recover_ptx(image, i, sm, flags, &recovered))
      entry = &recovered;
    if (!entry) {
      vec_free(out);
      return no_ptx(image, i, sm, e);
    }
    vec_push(out, *entry);
  }
  return out->len ? true : error_set(e, "the %s holds no CUDA code", image_kind_name(image->kind));
}
