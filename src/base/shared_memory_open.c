// The program's side. Called when the library is loaded, before libc is ready for much: system
// calls and getenv only.
#define _GNU_SOURCE

#include "base/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static bool read_door(struct sockaddr_un *at, SharedRequest *request) {
  const char *value = getenv(SHARED_DOOR_VARIABLE);
  if (!value || strlen(value) <= SHARED_NAME + 1 + SHARED_TOKEN) return false;
  at->sun_family = AF_UNIX;
  memcpy(at->sun_path + 1, value, SHARED_NAME);
  memcpy(request->token, value + SHARED_NAME + 1, SHARED_TOKEN);
  return true;
}

static int received_descriptor(struct msghdr *m) {
  int fd = -1;
  struct cmsghdr *c = CMSG_FIRSTHDR(m);
  if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
  return fd;
}

// variable "": asks for the process id only; fd may be NULL then. false: no answer.
static bool ask(const char *variable, uint32_t *pid, int *fd) {
  struct sockaddr_un at = {0};
  SharedRequest request = {0};
  SharedReply reply = {0};
  if (!read_door(&at, &request)) return false;
  int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (s < 0) return false;
  struct timeval limit = {.tv_sec = 2};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  memcpy(request.variable, variable, strnlen(variable, sizeof request.variable - 1));
  struct iovec bytes = {&reply, sizeof reply};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct msghdr m = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + SHARED_NAME);
  bool ok = connect(s, (struct sockaddr *)&at, size) == 0 &&
            send(s, &request, sizeof request, MSG_NOSIGNAL) == (ssize_t)sizeof request &&
            recvmsg(s, &m, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof reply;
  int got = ok ? received_descriptor(&m) : -1;
  close(s);
  *pid = reply.pid;
  if (fd) *fd = got;
  else if (got >= 0) close(got);
  return ok;
}

static bool in_same_namespace(void) {
  const char *value = getenv(SHARED_DOOR_VARIABLE);
  uint64_t own = shared_memory_pid_namespace();
  if (!value || strlen(value) <= SHARED_NAME + 1 + SHARED_TOKEN) return true;
  return own && own == strtoull(value + SHARED_NAME + 1 + SHARED_TOKEN, NULL, 10);
}

// A process that outlives the command still has its variables.
bool shared_memory_is_offered(const char *variable) {
  static const char prefix[] = "/proc/";
  const char *path = getenv(variable);
  if (!path || strncmp(path, prefix, sizeof prefix - 1)) return false;
  bool gone = kill((pid_t)strtol(path + sizeof prefix - 1, NULL, 10), 0) != 0 && errno == ESRCH;
  return !gone || !in_same_namespace();
}

// In another pid namespace the name may lead to a file of another process.
static int open_by_name(const char *path) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return -1;
  if (fcntl(fd, F_GET_SEALS) == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) return fd;
  close(fd);
  errno = ESTALE;
  return -1;
}

int shared_memory_open(const char *variable) {
  uint32_t pid;
  const char *path = getenv(variable);
  if (!path || !*path) {
    errno = ENOENT;
    return -1;
  }
  int fd = open_by_name(path);
  if (fd >= 0) return fd;
  int why = errno;
  if (ask(variable, &pid, &fd) && fd >= 0) return fd;
  errno = why;
  return -1;
}

int shared_memory_pid(void) {
  uint32_t pid = 0;
  if (in_same_namespace()) return getpid();
  return ask("", &pid, NULL) ? (int)pid : 0;
}
