// view: a run file as a page in a browser; docs/viewer.md. The page itself is viewer/, put into the
// command when that is built.
#ifndef WG_VIEW_H
#define WG_VIEW_H

#include "base/base.h"

// --- source.c ---
// Sources are shown if the run file proves that this user recorded them here
// (run_source_is_proved), or if they lie below one of these folders.
enum { VIEW_FOLDERS = 64 };
// real paths
typedef struct ViewSources {
  const char *folders[VIEW_FOLDERS];
  unsigned nfolders;
} ViewSources;

// --- server.c ---
typedef struct ViewOptions {
  const char *path;   // the run file
  const char *other;  // another one that it is compared with; NULL: none
  ViewSources sources;
  uint16_t port;  // 0: any that is free
  bool live;      // the file is being written: it is opened anew for each question
  bool (*ready)(const char *url, void *user);  // it answers now; false: end at once
  void *user;
} ViewOptions;
// Until SIGINT or SIGTERM; false: it could not begin. Questions may still be worked on when it
// returns: the process must end without exit handlers.
bool view_serve(const ViewOptions *o, Error *err);

// --- calc_device.c: the command with this argument calculates on the device (cli/calculate.c) ---
#define VIEW_CALCULATE "calculate-on-device"

// --- static.c ---
// A page that needs no server; small runs only. embedded receives each source; why: NULL, or why it
// is not in the page.
typedef void ViewEmbedded(const char *source, const char *why);
bool view_write(const ViewOptions *o, const char *folder, ViewEmbedded *embedded, Error *err);

#endif
