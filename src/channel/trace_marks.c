// Finds out which launches have been read to their end. A process says with TRACE_MARK that a
// launch has ended, and where the heads of its rings were then. When the rings have been read up to
// there, all records of the launch have been handed on.
#include "channel/reader.h"

enum { MARKS_MOST = 1 << 18 };  // a process can send anything

struct TraceMark {
  uint32_t process, set, nlaunches, nheads;
  uint64_t words[];  // the launches, then pairs of a ring and a position
};

// A mark of all launches also covers contexts that have ended: these are read once their rings are
// free again.
static bool is_read(const ChannelReader *r, const TraceMark *m) {
  if (!m->nlaunches && !reader_trace_others_free(r, m->process, m->set)) return false;
  const uint64_t *heads = m->words + m->nlaunches;
  for (uint32_t i = 0; i + 1 < m->nheads; i += 2)
    if (heads[i] > UINT32_MAX || !reader_trace_reached(r, m->set, (uint32_t)heads[i], heads[i + 1]))
      return false;
  return true;
}

static void tell(ChannelReader *r, uint32_t process, const uint64_t *launches, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    queue_add(r->queue,
              &(Message){.kind = MESSAGE_DRAINED, .process = process, .a = (uint32_t)launches[i]},
              NULL);
  if (!n) queue_add(r->queue, &(Message){.kind = MESSAGE_DRAINED, .process = process}, NULL);
}

void reader_mark_add(ChannelReader *r, uint32_t lane, const void *bytes, size_t size) {
  AnyEvent e;
  if (!channel_decode(EVENT_TRACE_MARK, bytes, size, &e) || reader_trace_discards(r)) return;
  const EventTraceMark *mark = &e.TRACE_MARK;
  uint32_t process = r->lanes[lane].process;
  if (!mark->set) {
    tell(r, process, mark->launches, mark->launches_count);
    return;
  }
  if (r->marks.len >= MARKS_MOST) return;  // its launches will not count as recorded
  uint32_t set = (uint32_t)mark->set - 1;
  if (mark->set > CHANNEL_TRACES || atomic_load(&r->header->trace_lane[set]) != lane + 1) return;
  reader_trace_look(r);  // the set may not have been seen yet
  size_t words = mark->launches_count + mark->heads_count;
  TraceMark *m = mem_alloc(sizeof *m + words * sizeof *m->words);
  m->process = process;
  m->set = set;
  m->nlaunches = (uint32_t)mark->launches_count;
  m->nheads = (uint32_t)mark->heads_count;
  if (m->nlaunches) memcpy(m->words, mark->launches, m->nlaunches * sizeof *m->words);
  if (m->nheads) memcpy(m->words + m->nlaunches, mark->heads, m->nheads * sizeof *m->words);
  vec_push(&r->marks, m);
}

// Handles the marks of each set in order, up to the first with unread records. dropped: a set whose
// marks are all removed.
static void look(ChannelReader *r, uint32_t dropped) {
  uint32_t kept = 0;
  bool blocked[CHANNEL_TRACES] = {false}, discards = reader_trace_discards(r);
  for (uint32_t i = 0; i < r->marks.len; i++) {
    TraceMark *m = r->marks.data[i];
    bool read = !discards && (!blocked[m->set] || m->set == dropped) && is_read(r, m);
    if (!read && !discards && m->set != dropped) {
      blocked[m->set] = true;
      r->marks.data[kept++] = m;
      continue;
    }
    if (read) tell(r, m->process, m->words, m->nlaunches);
    free(m);
  }
  r->marks.len = kept;
}

void reader_marks_look(ChannelReader *r) { look(r, CHANNEL_TRACES); }

void reader_marks_drop(ChannelReader *r, uint32_t set) { look(r, set); }
