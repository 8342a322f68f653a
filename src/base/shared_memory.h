// shared_memory: memory of the `warpgrind` command that the processes of a run map.
//
// The command makes a sealed memory file and names it in an environment variable as /proc/PID/fd/N:
// nothing to clean up, and no descriptor stays open in the program. A process that may not use that
// name (another user, no /proc) asks the command for a descriptor through a socket; WARPGRIND_DOOR
// holds the socket's name and a random token that the command demands.
#ifndef WG_SHARED_MEMORY_H
#define WG_SHARED_MEMORY_H

#include "base/base.h"

// --- shared_memory.c: the command's side ---
// Makes a memory file of fixed size. Returns the descriptor and sets `variable`; -1: errno says
// why.
int shared_memory_create(const char *variable, const char *name, uint64_t bytes);
uint64_t shared_memory_pid_namespace(void);  // of this process; 0: not known

// --- shared_memory_open.c: inside the program ---
int shared_memory_open(const char *variable);         // -1: errno says why
bool shared_memory_is_offered(const char *variable);  // there is a command, as far as one can tell
int shared_memory_pid(void);  // this process's id in the command's pid namespace; 0: not known

// --- both: what goes through the socket ---
// "NAME TOKEN NAMESPACE". NAME: of an abstract socket, without the leading zero. NAMESPACE: the
// command's pid namespace.
#define SHARED_DOOR_VARIABLE "WARPGRIND_DOOR"
enum { SHARED_TOKEN = 32, SHARED_NAME = 32, SHARED_VARIABLE = 32 };
typedef struct SharedRequest {
  char token[SHARED_TOKEN + 1], variable[SHARED_VARIABLE];
} SharedRequest;  // variable "": only the pid
typedef struct SharedReply {
  uint32_t pid;
} SharedReply;  // the descriptor goes with it

#endif
