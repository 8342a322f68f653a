// profile inside the program.
#ifndef WG_PROFILE_HOST_H
#define WG_PROFILE_HOST_H

#include "tools/tool.h"

enum { RUN_VALUES = 20 };  // of a measure

// --- host_code.c ---
bool profile_wants_code(const SessionModule *m);
void profile_code(const SessionModule *m, const SessionCode *units, uint32_t n);

// --- host_timeline.c ---
void timeline_configure(bool gpu, bool without_code);
void timeline_stream(const void *stream, bool is_non_blocking);
void timeline_launch(const SessionCall *c);
void timeline_launch_ran(uint32_t launch, const SessionTimes *t);
void timeline_copy_ran(uint64_t timed_as, const SessionTimes *t);
void timeline_graph_launched(const void *stream);
void timeline_node_ran(const SessionNode *n);
void timeline_flush(void);  // with session_lock held
void timeline_copy_asked(const SessionCopy *c);
void timeline_copy(const SessionCopy *c);
void timeline_wait(const SessionHostWait *w);
void timeline_range(const SessionRange *r);

// --- host_buffers.c ---
void buffers_launch(const SessionCall *c);
void buffers_send(void);  // with session_lock held

// --- host_stalls.c ---
void stalls_add(const SessionStall *s);
void stalls_send(void);  // with session_lock held

#endif
