// view: a run file as a page in a browser; docs/viewer.md. The page itself is viewer/, put into the command when that is built.
#ifndef WG_VIEW_H
#define WG_VIEW_H

#include "base/base.h"

// --- server.c ---
typedef struct ViewOptions {
  const char *path;                        // the run file
  uint16_t port;                           // 0: any that is free
  bool live;                               // the file is being written: it is opened anew for each question
  bool (*ready)(const char *url, void *user);        // it answers now; false: end at once
  void *user;
} ViewOptions;
bool view_serve(const ViewOptions *o, Error *err);       // until SIGINT or SIGTERM; false: it could not begin

bool view_can_open(const char *path, Error *err);        // it is a run file

// --- calc_device.c: the command with this argument calculates on the device (cli/calculate.c) ---
#define VIEW_CALCULATE "calculate-on-device"

// --- static.c ---
bool view_write(const char *path, const char *folder, Error *err);       // a page that needs no server; small runs only

#endif
