// watch.c inside session/: see there.
#ifndef WG_SESSION_WATCH_H
#define WG_SESSION_WATCH_H

#include "tools/synccheck/abi.h"
#include "session/internal.h"

void session_watch_launched(const SessionLaunch *l, uint32_t number);
void session_watch_device(const void *owner, const SessionDeviceOps *ops, void *user, uint64_t watch);   // it has a WgWatch there
void session_watch_device_gone(const void *owner);       // before its memory goes

#endif
