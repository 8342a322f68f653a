// --dump-buffers: the contents of buffers after chosen launches. They go to files with temporary
// names; the command, which knows what the program calls its buffers, renames them and turns them
// into text.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "session/written_buffers.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t fitting;  // launches of chosen kernels so far
static _Atomic bool failed;

const DumpOption *session_dump_option(void) { return session_options()->dump; }

// Counts: once for each launch.
static bool is_selected(const SessionOutputs *o) {
  const DumpOption *d = session_dump_option();
  if (!d || failed || !o->kernel_fits || (d->launch && d->launch != o->launch)) return false;
  return atomic_fetch_add(&fitting, 1) % d->every == d->every - 1 || d->every == 1;
}

// --- which buffers ---

static void add_dumped(void *user, const HeapRange *r) {
  SessionOutputs *o = user;
  if (r->memory.state != WG_MEMORY_LIVE || !r->memory.size ||
      !session_outputs_readable(r, o->device, false) || o->dumped.len == OUTPUTS_MOST)
    return;
  vec_push(&o->dumped, (SessionBuffer){.base = r->memory.base, .size = r->memory.size});
}

static SessionBuffer *find(SessionOutputs *o, uint64_t address) {
  for (uint32_t i = 0; i < o->dumped.len; i++)
    if (address - o->dumped.data[i].base < o->dumped.data[i].size) return &o->dumped.data[i];
  return NULL;
}

void session_dump_choose(SessionOutputs *o) {
  if (!is_selected(o)) return;
  if (!session_dump_option()->written) session_ranges_each(add_dumped, o);
  for (uint32_t i = 0; i < o->buffers.len; i++) {
    const SessionBuffer *b = &o->buffers.data[i];
    SessionBuffer *d = find(o, b->base);
    if (!d && o->dumped.len < OUTPUTS_MOST)
      vec_push(&o->dumped, (SessionBuffer){.base = b->base, .size = b->size});
    d = find(o, b->base);
    if (d) {
      d->element = b->element;
      d->parameter = b->parameter;
      d->type = b->type;
    }
  }
  for (uint32_t i = 0; i < o->pointers.len; i++) {  // what is only read has a type, too
    SessionBuffer *d = find(o, o->pointers.data[i].address);
    if (d && !d->parameter) d->parameter = o->pointers.data[i].parameter;
  }
}

static void note_pointers(SessionOutputs *o, const uint8_t *bytes, size_t n, uint32_t parameter) {
  uint64_t word;
  if (n != 8) return;
  memcpy(&word, bytes, 8);
  if (word) vec_push(&o->pointers, (SessionPointer){word, parameter});
}

void session_dump_note_pointers(SessionOutputs *o, const SessionParams *p, SessionParamInfo *info,
                                void *user) {
  size_t offset, size;
  for (uint32_t i = 0; info && info(user, i, &offset, &size); i++) {
    if (p->pointers && p->pointers[i]) note_pointers(o, p->pointers[i], size, i + 1);
    else if (!p->pointers && p->buffer && offset + size <= p->buffer_bytes)
      note_pointers(o, (const uint8_t *)p->buffer + offset, size, i + 1);
  }
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

// --- the last launch: its buffers are kept in memory until there is a later one ---

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
  if (b->disturbed) return;  // the command knows it
  if (session_dump_option()->last) hold(o->step, i, bytes, b->size);
  else if (!failed) write_file(o->step, i, bytes, b->size);
}

void session_dump_missing(const SessionOutputs *o, const char *why) {
  for (uint32_t i = 0; i < o->dumped.len; i++) send(o->step, i, NULL, why);
}
