// warpgrind image: lists the CUDA code inside of files.
#include "cli/cli.h"
#include "image/image.h"

#include <sys/stat.h>

static const char *const suffixes[] = {
    [IMAGE_ENTRY_PTX] = "ptx",
    [IMAGE_ENTRY_ELF] = "cubin",
    [IMAGE_ENTRY_LTO] = "ltoir",
    [IMAGE_ENTRY_OTHER] = "bin",
};

static bool extract_entry(const ImageEntry *entry, unsigned number, const char *folder,
                          Error *err) {
  Arena arena = {0};
  Str name = {0};
  char target[24];
  const void *data;
  size_t size;
  str_printf(&name, "%s/%u.%s.%s", folder, number, image_entry_target(entry, target),
             suffixes[entry->kind]);
  bool ok;
  if (entry->kind == IMAGE_ENTRY_PTX) {
    const char *text;
    ok = image_entry_text(entry, &arena, &text, &size, err);
    data = ok ? text : NULL;
  } else {
    ok = image_entry_data(entry, &arena, &data, &size, err);
  }
  ok = ok && file_write(name.data, data, size, err);
  if (ok) printf("%s\n", name.data);
  str_free(&name);
  arena_free(&arena);
  return ok;
}

static bool extract_file(const char *path, const char *folder, Error *err) {
  Str bytes = {0};
  Image image;
  bool ok = file_read(path, &bytes, err) && image_open(bytes.data, bytes.len, &image, err);
  if (ok) {
    mkdir(folder, 0777);
    for (uint32_t i = 0; ok && i < image.entries.len; i++)
      ok = extract_entry(&image.entries.data[i], i + 1, folder, err);
    image_close(&image);
  }
  str_free(&bytes);
  return ok;
}

int cli_image(const CliArguments *a) {
  const char *folder = cli_value(a, CLI_IMAGE_EXTRACT);
  int code = 0;
  for (uint32_t i = 0; i < a->words.len; i++) {
    const char *path = a->words.data[i];
    Error err = {0};
    bool ok = folder ? extract_file(path, folder, &err) : image_print_file(path, stdout, &err);
    fflush(stdout);
    if (!ok) code = cli_fail("%s", err.text);
  }
  return code;
}
