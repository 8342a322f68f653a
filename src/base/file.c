#include "base/base.h"

#include <errno.h>

bool file_read(const char *path, Str *out, Error *e) {
  FILE *f = fopen(path, "rb");
  if (!f) return error_set(e, "cannot open %s: %s", path, strerror(errno));
  char buf[65536];
  size_t n;
  while ((n = fread(buf, 1, sizeof buf, f)) > 0) str_addn(out, buf, n);
  bool ok = !ferror(f);
  fclose(f);
  if (!out->data) str_add(out, "");
  return ok ? true : error_set(e, "cannot read %s: %s", path, strerror(errno));
}

bool file_write(const char *path, const void *data, size_t n, Error *e) {
  FILE *f = fopen(path, "wb");
  if (!f) return error_set(e, "cannot create %s: %s", path, strerror(errno));
  bool ok = fwrite(data, 1, n, f) == n;
  ok = fclose(f) == 0 && ok;
  return ok ? true : error_set(e, "cannot write %s: %s", path, strerror(errno));
}

bool file_cache_folder(Str *out) {
  const char *own = getenv("WARPGRIND_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  size_t before = out->len;
  if (own) str_add(out, own);
  else if (xdg && *xdg) str_printf(out, "%s/warpgrind", xdg);
  else if (home && *home) str_printf(out, "%s/.cache/warpgrind", home);
  return out->len != before;
}
