// The command's side: makes memory files, and a thread that passes their descriptors to processes
// that know the token.
#define _GNU_SOURCE

#include "base/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { OFFERS = 4, BACKLOG = 256 };

typedef struct Offer {
  char variable[SHARED_VARIABLE];
  int fd;
} Offer;
static Offer offers[OFFERS];
static unsigned noffers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // offers
static char token[SHARED_TOKEN + 1];

// --- the door ---

static int find_offer(const char *variable) {
  int fd = -1;
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < noffers; i++)
    if (!strcmp(offers[i].variable, variable)) fd = offers[i].fd;
  pthread_mutex_unlock(&lock);
  return fd;
}

static void send_reply(int to, uint32_t pid, int fd) {
  SharedReply reply = {pid};
  struct iovec bytes = {&reply, sizeof reply};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
  struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (fd >= 0) {
    m.msg_control = control;
    m.msg_controllen = sizeof control;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
  }
  sendmsg(to, &m, MSG_NOSIGNAL);
}

// Compares all of it whatever differs, so that the time says nothing about the token.
static bool is_token(const char *given) {
  unsigned differs = 0;
  for (unsigned i = 0; i <= SHARED_TOKEN; i++) differs |= (unsigned char)(given[i] ^ token[i]);
  return !differs;
}

static void serve(int peer) {
  SharedRequest request = {0};
  struct ucred who = {0};
  socklen_t size = sizeof who;
  struct timeval limit = {.tv_sec = 1};
  setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (recv(peer, &request, sizeof request, 0) != (ssize_t)sizeof request ||
      !is_token(request.token))
    return;
  request.variable[sizeof request.variable - 1] = 0;
  if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return;
  send_reply(peer, (uint32_t)who.pid, find_offer(request.variable));
}

static void *keep_door(void *p) {
  int door = (int)(intptr_t)p;
  for (;;) {
    int peer = accept4(door, NULL, NULL, SOCK_CLOEXEC);
    if (peer < 0 && (errno == EBADF || errno == EINVAL || errno == ENOTSOCK)) return NULL;
    if (peer < 0) {
      usleep(10000);  // no descriptors left, for instance
      continue;
    }
    serve(peer);
    close(peer);
  }
}

static bool random_text(char *out, size_t n) {
  uint8_t bytes[SHARED_TOKEN / 2];
  if (getrandom(bytes, n / 2, 0) != (ssize_t)(n / 2)) return false;
  for (size_t i = 0; i < n / 2; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

// Without a door most processes still find the memory by its name.
static void open_door(void) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  char name[SHARED_NAME + 1], value[SHARED_NAME + SHARED_TOKEN + 32];
  if (!random_text(token, SHARED_TOKEN) || !random_text(name, SHARED_NAME)) return;
  int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (door < 0) return;
  memcpy(at.sun_path + 1, name, SHARED_NAME);
  socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + SHARED_NAME);
  pthread_t thread;
  if (bind(door, (struct sockaddr *)&at, size) || listen(door, BACKLOG) ||
      thread_start(&thread, keep_door, (void *)(intptr_t)door)) {
    close(door);
    return;
  }
  pthread_detach(thread);
  snprintf(value, sizeof value, "%s %s %llu", name, token,
           (unsigned long long)shared_memory_pid_namespace());
  setenv(SHARED_DOOR_VARIABLE, value, 1);
}

static void offer(const char *variable, int fd) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_door);
  pthread_mutex_lock(&lock);
  unsigned i = 0;
  while (i < noffers && strcmp(offers[i].variable, variable)) i++;
  CHECK(i < OFFERS);
  noffers = MAX(noffers, i + 1);
  snprintf(offers[i].variable, sizeof offers[i].variable, "%s", variable);
  offers[i].fd = fd;
  pthread_mutex_unlock(&lock);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
  setenv(variable, path, 1);
}

uint64_t shared_memory_pid_namespace(void) {
  struct stat st;
  return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

// --- the memory ---

// A file size limit counts for memory files too: raised as far as allowed, for this call only.
static int set_size(int fd, uint64_t bytes) {
  struct rlimit old, raised;
  bool limited = getrlimit(RLIMIT_FSIZE, &old) == 0 && old.rlim_cur != RLIM_INFINITY;
  raised = (struct rlimit){old.rlim_max, old.rlim_max};
  if (limited) setrlimit(RLIMIT_FSIZE, &raised);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  int failed = ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
  signal(SIGXFSZ, handler);
  if (limited) setrlimit(RLIMIT_FSIZE, &old);
  return failed;
}

int shared_memory_create(const char *variable, const char *name, uint64_t bytes) {
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  int failed = set_size(fd, bytes);
  // A program that shrank it would end the command, which would read past its end.
  if (!failed && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    failed = errno;
  if (failed) {
    close(fd);
    errno = failed;
    return -1;
  }
  offer(variable, fd);
  return fd;
}
