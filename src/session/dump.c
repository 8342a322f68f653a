// --dump-buffers: the contents of buffers behind chosen launches. Here they become files with names
// of no meaning; the command, which knows what the program calls its buffers, gives them their
// names and turns them into text.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "session/outputs.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t fitting;  // launches so far that fit
static _Atomic bool failed;

const DumpOption *session_dump_option(void) { return session_options()->dump; }

bool session_dump_selects(const SessionOutputs *o) {
  const DumpOption *d = session_dump_option();
  if (!d || failed || !o->kernel_fits || (d->launch && d->launch != o->launch)) return false;
  return atomic_fetch_add(&fitting, 1) % d->every == d->every - 1 || d->every == 1;
}

// --- files ---

static void send(uint32_t step, uint32_t i, const char *file, const char *why) {
  session_send(EVENT_DUMPED, &(EventDumped){step, i, file, why});
}

// A limit on the size of files must not end the program.
static bool write_all(int fd, const char *p, size_t n) {
  sigset_t limit, before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  bool ok = true;
  while (n && ok) {
    ssize_t done = write(fd, p, MIN(n, (size_t)1 << 30));
    if (done < 0 && errno == EINTR) continue;
    ok = done > 0;
    if (done > 0) {
      p += done;
      n -= (size_t)done;
    }
  }
  int why = errno;
  if (!ok && why == EFBIG && !sigismember(&before, SIGXFSZ))
    sigtimedwait(&limit, NULL, &(struct timespec){0, 0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = why;
  return ok;
}

static void write_file(uint32_t step, uint32_t i, const void *bytes, size_t n) {
  Str name = {0};
  str_printf(&name, "%s/.warpgrind-%d-%u-%u", session_dump_option()->folder, (int)getpid(), step,
             i);
  int fd = open(name.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool ok = fd >= 0 && write_all(fd, bytes, n);
  int why = errno;
  if (fd >= 0 && close(fd) != 0 && ok) {
    ok = false;
    why = errno;
  }
  if (ok) {
    send(step, i, name.data, NULL);
  } else {
    if (fd >= 0) unlink(name.data);
    if (!atomic_exchange(&failed, true))
      session_note(SEVERITY_WARNING,
                   "--dump-buffers: %s cannot be written: %s. No more buffers are dumped.",
                   session_dump_option()->folder, strerror(why));
    send(step, i, NULL, strerror(why));
  }
  str_free(&name);
}

// --- the last launch: kept until there is another ---

typedef struct Held {
  uint32_t i;
  void *bytes;
  size_t n;
} Held;
static struct {
  uint32_t step;
  VEC(Held) list;
} held;

static void drop_held(void) {
  for (uint32_t i = 0; i < held.list.len; i++) free(held.list.data[i].bytes);
  held.list.len = 0;
}

static void hold(uint32_t step, uint32_t i, const void *bytes, size_t n) {
  pthread_mutex_lock(&lock);
  if (step > held.step) {
    drop_held();
    held.step = step;
  }
  void *copy = step == held.step ? malloc(n ? n : 1) : NULL;
  if (copy) {
    memcpy(copy, bytes, n);
    vec_push(&held.list, (Held){i, copy, n});
  }
  pthread_mutex_unlock(&lock);
}

void session_dump_end(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < held.list.len; i++)
    write_file(held.step, held.list.data[i].i, held.list.data[i].bytes, held.list.data[i].n);
  drop_held();
  pthread_mutex_unlock(&lock);
}

void session_dump(const SessionOutputs *o, uint32_t i, const void *bytes) {
  const SessionBuffer *b = &o->dumped.data[i];
  if (b->disturbed) return;  // the command has heard it
  if (session_dump_option()->last) hold(o->step, i, bytes, b->size);
  else if (!failed) write_file(o->step, i, bytes, b->size);
}

void session_dump_missing(const SessionOutputs *o, const char *why) {
  for (uint32_t i = 0; i < o->dumped.len; i++) send(o->step, i, NULL, why);
}
