// `warpgrind image FILE`: everything that is in an image, one line per entry and per kernel.
#include "image/private.h"

static const char *entry_kind_name(const ImageEntry *entry) {
  switch (entry->kind) {
    case IMAGE_ENTRY_PTX: return "PTX";
    case IMAGE_ENTRY_ELF: return "cubin";
    case IMAGE_ENTRY_LTO: return "LTO-IR";
    case IMAGE_ENTRY_OTHER: break;
  }
  return "unknown entry";
}

static const char *packing_name(ImagePacking packing) {
  switch (packing) {
    case IMAGE_RAW: return "raw";
    case IMAGE_LZ4: return "LZ4";
    case IMAGE_ZSTD: return "zstd";
    case IMAGE_PACKED_UNKNOWN: break;
  }
  return "unknown packing";
}

static void print_kernel_name(void *arg, const char *name, size_t len) {
  fprintf(arg, "      kernel %.*s\n", (int)MIN(len, (size_t)4096), name);
}

static void print_three(FILE *out, const char *label, const uint32_t v[3]) {
  if (v[0]) fprintf(out, ", %s %ux%ux%u", label, v[0], v[1], v[2]);
}

static void print_kernel(FILE *out, const CubinKernel *k) {
  fprintf(
      out,
      "      kernel %s: %u registers, %u bytes shared, %u stack, %llu code, parameters %u bytes",
      k->name, k->regs, k->shared_size, k->stack_size, (unsigned long long)k->code_size,
      k->param_size);
  for (uint32_t i = 0; i < k->n_params; i++)
    fprintf(out, "%s%u@%u", i ? " " : " (", k->params[i].size, k->params[i].offset);
  fputs(k->n_params ? ")" : "", out);
  print_three(out, "at most", k->max_threads);
  print_three(out, "exactly", k->required_threads);
  print_three(out, "cluster", k->cluster);
  if (k->max_regs && k->max_regs < 255) fprintf(out, ", at most %u registers", k->max_regs);
  fputc('\n', out);
}

static const char *space_name(CubinSpace space) {
  return space == CUBIN_GLOBAL ? "global" : space == CUBIN_CONSTANT ? "constant" : "other";
}

static void print_cubin(FILE *out, const Cubin *c) {
  if (c->built_by[0])
    fprintf(out, "      built by %s, options %s\n", c->built_by, c->build_options);
  for (uint32_t i = 0; i < c->n_kernels; i++) print_kernel(out, &c->kernels[i]);
  for (uint32_t i = 0; i < c->n_variables; i++) {
    const CubinVariable *v = &c->variables[i];
    fprintf(out, "      %s %s: %llu bytes%s%s\n", space_name(v->space), v->name,
            (unsigned long long)v->size, v->managed ? ", managed" : "",
            v->initialised ? ", initialised" : "");
  }
  for (uint32_t i = 0; i < c->n_banks; i++)
    fprintf(out, "      bank %u %s: %llu bytes\n", c->banks[i].bank, c->banks[i].name,
            (unsigned long long)c->banks[i].size);
  for (uint32_t i = 0; i < c->n_externs; i++) fprintf(out, "      calls %s\n", c->externs[i]);
  fprintf(out, "      lines: %s%s%s%s\n",
          c->has_source_lines ? "source lines" : "none (build with -lineinfo)",
          c->has_ptx_lines ? ", PTX lines" : "", c->has_debug_info ? ", variables (-G)" : "",
          c->ptx ? ", its PTX as debug text" : "");
}

// A damaged entry does not keep the others from being listed.
static bool print_entry(FILE *out, const ImageEntry *entry) {
  char target[24];
  fprintf(out, "    %s", entry_kind_name(entry));
  if (entry->kind == IMAGE_ENTRY_OTHER) fprintf(out, " (kind %u)", entry->kind_number);
  if (entry->arch) fprintf(out, " %s", image_entry_target(entry, target));
  if (entry->kind == IMAGE_ENTRY_PTX) fprintf(out, ", ISA %u.%u", entry->major, entry->minor);
  fprintf(out, ", %s %zu bytes", packing_name(entry->packing), entry->raw_size);
  if (entry->packing != IMAGE_RAW) fprintf(out, " of %zu", entry->size);
  if (entry->debug) fputs(", debug", out);
  if (entry->flags) fprintf(out, ", flags 0x%llx", (unsigned long long)entry->flags);
  if (entry->source[0]) fprintf(out, ", source %s", entry->source);
  if (entry->options[0]) fprintf(out, ", options \"%s\"", entry->options);
  fputc('\n', out);

  Arena scratch = {0};
  Error why = {0};
  bool ok = true;
  if (entry->kind == IMAGE_ENTRY_PTX) {
    const char *text;
    size_t len;
    ok = image_entry_text(entry, &scratch, &text, &len, &why);
    if (ok) ptx_text_kernels(text, len, print_kernel_name, out);
  } else if (entry->kind == IMAGE_ENTRY_ELF) {
    const void *data;
    size_t size;
    Cubin cubin;
    ok = image_entry_data(entry, &scratch, &data, &size, &why) &&
         image_read_cubin(&scratch, data, size, &cubin, &why);
    if (ok) print_cubin(out, &cubin);
  }
  if (!ok) fprintf(out, "      %s\n", why.text);
  arena_free(&scratch);
  return ok;
}

static unsigned print_entries(const Image *image, FILE *out) {
  unsigned damaged = 0;
  uint32_t object = UINT32_MAX;
  for (uint32_t i = 0; i < image->entries.len; i++) {
    const ImageEntry *entry = &image->entries.data[i];
    if (entry->object != object && image->objects.data[entry->object].fatbin) {
      const ImageObject *o = &image->objects.data[object = entry->object];
      fprintf(out, "  fatbin %u", object + 1);
      if (o->name[0]) fprintf(out, " in %s", o->name);
      if (o->offset) fprintf(out, " at offset 0x%zx", o->offset);
      fprintf(out, "%s%s\n", o->relocatable ? ", to be linked (-rdc=true)" : "",
              o->linked ? ", made by the device linker" : "");
    }
    damaged += !print_entry(out, entry);
  }
  return damaged;
}

void image_print(const Image *image, FILE *out) { print_entries(image, out); }

bool image_print_file(const char *path, FILE *out, Error *e) {
  Str bytes = {0};
  Image image;
  Error why = {0};
  bool ok = file_read(path, &bytes, e);
  if (ok && !bytes.len) ok = error_set(e, "%s is empty", path);
  else if (ok && !image_open(bytes.data, bytes.len, &image, &why))
    ok = error_set(e, "%s: %s", path, why.text);
  else if (ok) {
    fprintf(out, "%s: %s, %u %s\n", path, image_kind_name(image.kind), image.entries.len,
            image.entries.len == 1 ? "entry" : "entries");
    unsigned damaged = print_entries(&image, out);
    if (damaged) ok = error_set(e, "%s: %u of its entries cannot be read", path, damaged);
    else if (!image.entries.len) ok = error_set(e, "%s holds no CUDA code", path);
    image_close(&image);
  }
  str_free(&bytes);
  return ok;
}
