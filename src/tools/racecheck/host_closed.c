// Kernels that consist only of machine code take part in races between launches, streams and
// copies. The accesses of such a launch are not seen. The machine code tells through which
// parameters it loads and stores (src/sass), and each such pointer counts as an access to the word
// that it points to: two launches that get the same buffer get the same pointer. A launch that gets
// memory which another stream still uses has the same pointer, too. Words are entered after the
// launch, in its stream, as for a copy.
#include "tools/racecheck/host.h"

enum { WORD = 4, MOST_POINTERS = 8 };

// There are no races until the program has a stream that the default stream does not wait for.
static _Atomic bool has_free_streams;

void race_stream_created(const void *stream, bool non_blocking) {
  (void)stream;
  if (non_blocking) has_free_streams = true;
}

// Refuses no kernel: only pointers among its parameters are seen.
const char *race_refuses_closed(SessionKernel *k, const SassStores *stores) {
  (void)k;
  (void)stores;
  return NULL;
}

// --- the words that a launch accesses ---

typedef struct Words {
  uint64_t written[MOST_POINTERS], read[MOST_POINTERS];
  uint32_t nwritten, nread;
} Words;

static bool add_word(uint64_t *list, uint32_t *n, uint64_t address) {
  for (uint32_t i = 0; i < *n; i++)
    if (list[i] == address) return true;
  if (*n == MOST_POINTERS) return false;
  list[(*n)++] = address;
  return true;
}

typedef enum { NOT_STORED, STORED_ATOMICALLY, STORED_PLAINLY } StoredHow;

static StoredHow stored_how(const SassStores *s, uint32_t param) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->list[i].param == param) return s->list[i].plain ? STORED_PLAINLY : STORED_ATOMICALLY;
  return NOT_STORED;
}

static bool is_read(const SassStores *s, uint32_t param) {
  for (uint32_t i = 0; i < s->nreads; i++)
    if (s->reads[i] == param) return true;
  return false;
}

static void find_words(const SessionClosedLaunch *l, Words *w) {
  *w = (Words){.nwritten = 0};
  for (uint32_t i = 0; i < l->pointers.len; i++) {
    const SessionClosedPointer *p = &l->pointers.data[i];
    StoredHow how = stored_how(l->stores, p->param);
    // Atomic operations do not race with each other, and are not entered.
    if (p->is_map || how == STORED_ATOMICALLY) continue;
    if (how == STORED_PLAINLY) add_word(w->written, &w->nwritten, p->address & ~3ull);
    else if (is_read(l->stores, p->param)) add_word(w->read, &w->nread, p->address & ~3ull);
  }
}

// The words as rows of copies: copy i pairs the i-th written word with the i-th read one.
static SessionCopy pair_of(const Words *w, uint32_t i, const void *stream) {
  SessionCopy c = {.width = WORD, .height = 1, .depth = 1, .stream = stream};
  if (i < w->nwritten) c.to.address = w->written[i];
  if (i < w->nread) c.from.address = w->read[i];
  return c;
}

// --- around the launch ---

// State of the launch that this thread is making now.
static _Thread_local uint32_t number;  // 0: it is not followed
static _Thread_local Words words;

void race_closed_begins(ToolDevice *d, const SessionClosedLaunch *l) {
  RaceDevice *r = d->state;
  SessionUnordered order;
  number = 0;
  pthread_mutex_lock(&race_lock);
  session_order_uses(l->stream);
  if (r->kernel.function && (has_free_streams || session_order_concurrent())) {
    find_words(l, &words);
    if (words.nwritten || words.nread) number = race_next_number(r);
  }
  session_order_launch(d->device, l->stream, number, false, false, &order);
  if (number) {
    race_new_copy(r, number,
                  &(RaceCopy){.kernel = l->kernel,
                              .launch = l->number,
                              .device = d->ordinal,
                              .unordered = race_unordered(&order)});
    r->told->launches[number] = (WgRaceLaunch){.launch = l->number};
  }
  pthread_mutex_unlock(&race_lock);
  race_report_copies();
}

void race_closed_ends(ToolDevice *d, const SessionClosedLaunch *l) {
  if (!number) return;
  for (uint32_t i = 0; i < MAX(words.nwritten, words.nread); i++) {
    SessionCopy c = pair_of(&words, i, l->stream);
    race_enter_on_device(d->state, number, &c);
  }
  number = 0;
}
