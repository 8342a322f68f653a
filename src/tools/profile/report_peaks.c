// Peaks of the device, to compare figures with: measured by --calibrate on this machine, else those
// of an H200. A run keeps the peaks it was reported with.
#include "tools/profile/report_peaks.h"

#include "tools/profile/measures.h"
#include "tools/profile/report_resources.h"

static const struct {
  const char *name, *what;
} words[PEAK_COUNT] = {
#define PEAK(id, name, value, what) {name, what},
#include "tools/profile/peaks.def"
#undef PEAK
};

static const Peaks usual = {.of =
                                {
#define PEAK(id, name, value, what) value,
#include "tools/profile/peaks.def"
#undef PEAK
                                },
                            .device = "an H200"};

const char *peak_name(PeakId id) { return words[id].name; }

static bool file_of(Str *path, bool make) {
  if (!file_state_folder(path)) return false;
  if (make) file_make_folders(path->data, path->len);
  str_add(path, "/peaks");
  return true;
}

// --- the file: a line with the device, then one for each peak ---

bool peaks_keep(const Peaks *p, Error *err) {
  Str path = {0}, text = {0};
  str_printf(&text, "device %s\n", p->device);
  for (unsigned i = 0; i < PEAK_COUNT; i++) str_printf(&text, "%s %.6g\n", words[i].name, p->of[i]);
  bool ok = file_of(&path, true)
                ? file_write(path.data, text.data, text.len, err)
                : error_set(err, "there is no folder to keep the peaks in: set HOME.");
  if (ok) printf("kept in %s\n", path.data);
  str_free(&path);
  str_free(&text);
  return ok;
}

static void read_line(char *line, Peaks *p, char *device, size_t size) {
  char *value = strchr(line, ' ');
  if (!value) return;
  *value++ = 0;
  if (!strcmp(line, "device")) snprintf(device, size, "%s", value);
  for (unsigned i = 0; i < PEAK_COUNT; i++)
    if (!strcmp(line, words[i].name)) p->of[i] = strtod(value, NULL);
}

// A file is not used if it lacks a peak or has an impossible one.
static bool read_file(Peaks *p, char *device, size_t size) {
  Str path = {0}, text = {0};
  Error err;
  bool ok = file_of(&path, false) && file_read(path.data, &text, &err);
  device[0] = 0;
  char *rest = text.data, *line;
  while (ok && (line = strsep(&rest, "\n"))) read_line(line, p, device, size);
  for (unsigned i = 0; i < PEAK_COUNT; i++) ok = ok && p->of[i] > 0 && p->of[i] < 1e12;
  str_free(&path);
  str_free(&text);
  return ok && device[0];
}

void peaks_print(const Peaks *p) {
  printf("%s, things in a nanosecond or nanoseconds, beside an H200:\n", p->device);
  for (unsigned i = 0; i < PEAK_COUNT; i++)
    printf("  %-12s %10.4g %10.4g  %s\n", words[i].name, p->of[i], usual.of[i], words[i].what);
}

// --- in a run ---

static bool of_run(const Run *r, Peaks *p) {
  for (uint32_t i = 0; i < r->measures.len; i++) {
    const RunMeasure *m = r->measures.data[i];
    if (strcmp(m->what, MEASURE_PEAKS) || !m->text) continue;
    p->device = m->text;
    memcpy(p->of, m->v, sizeof p->of);
    return true;
  }
  return false;
}

// Only a run that was made on this machine's GPU, and is still open, uses the peaks measured here.
void peaks_of(Run *r, Peaks *p) {
  char device[128];
  RunMeasure m = {.what = MEASURE_PEAKS, .text = device};
  *p = usual;
  if (of_run(r, p) || !r->device || strcmp(r->device, "gpu") || !resources_are_live()) return;
  if (!read_file(p, device, sizeof device)) {
    *p = usual;
    return;
  }
  memcpy(m.v, p->of, sizeof p->of);
  RunMeasure *kept = run_add_measure(r, &m);
  if (kept) p->device = kept->text;
  else *p = usual;
}
