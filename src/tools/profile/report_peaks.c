// Peaks of the device: measured by --calibrate and kept beside the cache, or those of an H200.
#include "tools/profile/report_peaks.h"

#include <unistd.h>

static const struct {
  const char *name, *what;
  double value;
} known[PEAK_COUNT] = {
#define PEAK(id, name, value, what) {name, what, value},
#include "tools/profile/peaks.def"
#undef PEAK
};

const char *peak_name(PeakId id) { return known[id].name; }
const char *peak_what(PeakId id) { return known[id].what; }

char *peaks_path(void) {
  Str path = {0};
  if (!file_state_folder(&path)) return NULL;
  str_add(&path, "/peaks");
  return path.data;
}

static void use_usual(Peaks *p) {
  for (unsigned i = 0; i < PEAK_COUNT; i++) p->of[i] = known[i].value;
  p->device = "an H200";
}

bool peaks_parse(const char *text, Peaks *out) {
  use_usual(out);
  size_t first = strcspn(text, "\n");
  if (!first || !text[first]) return false;
  unsigned found = 0;
  for (const char *line = text + first + 1; *line;) {
    char name[32];
    double value;
    if (sscanf(line, "%31s %lf", name, &value) != 2 || !(value > 0)) return false;
    for (unsigned i = 0; i < PEAK_COUNT; i++)
      if (!strcmp(name, known[i].name)) {
        out->of[i] = value;
        found++;
      }
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  char *device = mem_strdup(text);
  device[first] = 0;
  out->device = device;
  return found > 0;
}

const Peaks *peaks_get(bool gpu) {
  static Peaks kept[2];
  Peaks *p = &kept[gpu];
  if (p->device) return p;
  char *path = gpu ? peaks_path() : NULL;
  Str text = {0};
  Error err;
  bool ok = path && access(path, R_OK) == 0 && file_read(path, &text, &err) && text.len &&
            peaks_parse(text.data, p);
  if (!ok) use_usual(p);
  str_free(&text);
  free(path);
  return p;
}
