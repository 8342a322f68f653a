// synccheck inside the command: its findings in words. abi.h explains the numbers.
#include "report/report.h"
#include "tools/report.h"
#include "tools/synccheck/abi.h"

static bool receive(const RunProcess *p, const WgFinding *record, RunFinding *f) {
  if (f->extra[2] == WG_SYNC_ELSEWHERE) f->origin = run_site_numbered(p, record->extra[0]);
  return true;
}

// Recorded by the device. The virtual device reports some findings as a sentence.
static bool is_recorded(const RunFinding *f) { return !f->text && f->has_thread; }

static const char *title(const RunFinding *f) {
  if (!is_recorded(f)) return NULL;
  switch (f->extra[2]) {
    case WG_SYNC_MISSING:
      return "{Threads} are missing in a loop that all {threads} of the {block} share";
    case WG_SYNC_NOT_NAMED: return "A lane is not in the mask of the instruction it executes";
    case WG_SYNC_ELSEWHERE: return "Lanes of one mask execute different instructions";
    case WG_SYNC_NEVER_CAME: return "Lanes that a mask names never come";
    case WG_SYNC_DEAD_LANE: return "A shuffle reads from a lane that is not there";
    case WG_SYNC_COUNT: return "A barrier with a wrong number of {threads}";
    case WG_SYNC_UNINITIALISED: return "Use of an mbarrier that is not initialised";
    case WG_SYNC_TWICE: return "An mbarrier is initialised while it is in use";
    case WG_SYNC_ARRIVALS: return "An mbarrier with a wrong number of arrivals";
    case WG_SYNC_PHASE: return "A wait for the wrong phase of an mbarrier";
    case WG_SYNC_CLUSTER:
      return "Arriving and waiting at the barrier of the cluster do not take turns";
    case WG_SYNC_ARGUMENTS:
      return "{Threads} call a function of the {block} with different arguments";
    case WG_SYNC_NO_EVENT: return "A wait for an event that no copy has returned";
    case WG_SYNC_NOT_WAITED: return "A copy of the {block} that is not waited for";
    case WG_SYNC_GRID: return "A barrier of the {grid} in a launch that is not cooperative";
    default: return NULL;
  }
}

static void add_lanes(Str *out, uint32_t lanes) {
  bool any = false;
  str_add(out, __builtin_popcount(lanes) == 1 ? "lane " : "lanes ");
  for (unsigned i = 0; i < 32; i++) {
    unsigned first = i;
    if (!(lanes >> i & 1)) continue;
    while (i < 31 && lanes >> (i + 1) & 1) i++;
    str_printf(out, first == i ? "%s%u" : "%s%u-%u", any ? ", " : "", first, i);
    any = true;
  }
}

static void add_thread(Str *out, const RunFinding *f, uint32_t number) {
  const uint32_t *d = f->launch ? f->launch->block : NULL;
  if (d && d[0] && d[1])
    words_printf(out, report_words(f), "{thread} (%u,%u,%u)", number % d[0], number / d[0] % d[1],
                 number / d[0] / d[1]);
  else words_printf(out, report_words(f), "{thread} %u", number);
}

// The finding's place is where other threads wait: its thread is missing there, or has ended and
// found them waiting.
static bool found_by(const RunFinding *f) {
  if (!is_recorded(f)) return false;
  const uint32_t *d = f->launch ? f->launch->block : NULL;
  uint32_t lane = d ? (f->thread[0] + d[0] * (f->thread[1] + d[1] * f->thread[2])) % 32 : 0;
  return f->extra[2] == WG_SYNC_NEVER_CAME ||
         (f->extra[2] == WG_SYNC_DIVERGED && d && !((uint32_t)f->value[0] >> lane & 1));
}

static bool detail(const RunFinding *f, Str *out) {
  if (!is_recorded(f)) return false;
  const ApiWords *w = report_words(f);
  uint32_t low = (uint32_t)f->value[0], high = (uint32_t)(f->value[0] >> 32);
  switch (f->extra[2]) {
    case WG_SYNC_DIVERGED:
      str_add(out, ": ");
      add_lanes(out, low);
      words_add(out, w, " of a {warp} are here, ");
      add_lanes(out, high);
      str_add(out, __builtin_popcount(high) == 1 ? " is elsewhere" : " are elsewhere");
      return true;
    case WG_SYNC_SKIPPED:
      words_printf(
          out, w, ": some {threads} of the {block} executed it and others like it %u times, ", low);
      add_thread(out, f, (uint32_t)f->extra[0]);
      str_printf(out, " only %u times", high);
      return true;
    case WG_SYNC_MISSING:
      words_printf(out, w, ": %u {threads} came to it %u times, ", (uint32_t)f->extra[0],
                   (uint32_t)(f->extra[0] >> 32));
      add_thread(out, f, high);
      str_printf(out, " only %u times, and its share is not done", low);
      return true;
    case WG_SYNC_NOT_NAMED:
      str_add(out, ": ");
      add_lanes(out, high);
      str_printf(out, ", mask 0x%08x", low);
      return true;
    case WG_SYNC_ELSEWHERE:
      str_printf(out, ": mask 0x%08x names ", low);
      add_lanes(out, high);
      str_add(out, ", which wait at another instruction");
      return true;
    case WG_SYNC_NEVER_CAME:
      str_printf(out, ": mask 0x%08x names ", low);
      add_lanes(out, high);
      str_add(out, ", which ended without executing it");
      return true;
    case WG_SYNC_DEAD_LANE:
      str_printf(out, ": lane %u has ended or never was (mask 0x%08x)", high, low);
      return true;
    case WG_SYNC_COUNT:
      words_printf(out, w, ": %u, in a {block} of %u {threads}", low, (uint32_t)f->extra[0]);
      return true;
    case WG_SYNC_CLUSTER:
      str_add(out, low ? ": it arrives again, and has not waited since it arrived last"
                       : ": it waits, and has not arrived since it waited last");
      return true;
    case WG_SYNC_PHASE:
      words_printf(out, w,
                   ": parity %u, and this {thread} has arrived in a phase of parity %u since", low,
                   low ^ 1);
      return true;
    case WG_SYNC_TWICE: str_printf(out, ": it was initialised for %u arrivals", low); return true;
    case WG_SYNC_ARRIVALS:
      str_printf(out, ": %u", low);
      if (f->extra[0]) str_printf(out, ", and it was initialised for %u", (uint32_t)f->extra[0]);
      return true;
    default: return true;
  }
}

// Tells the user how to fix it.
static void describe(Run *r, const RunFinding *f, Str *out) {
  static const char not_shared[] =
      "  the loop starts at {thread_index} and moves by {block_size}: it is right only where all "
      "{threads} of the {block} come to it. Here it stands inside a\n"
      "  condition or a loop that some of them have left already: let all {threads} come, and "
      "guard "
      "only what is a {thread}'s own\n";
  static const char same_barrier[] =
      "  all {threads} of the {block} must execute the same barrier: "
      "put it where no condition differs between them\n";
  static const char *const advice[] = {
      [WG_SYNC_MISSING] = not_shared,
      [WG_SYNC_DIVERGED] = same_barrier,
      [WG_SYNC_SKIPPED] = same_barrier,
      [WG_SYNC_PHASE] = "  the phase it waits for was over before it arrived: the wait does not "
                        "wait. The parity changes with every phase\n",
      [WG_SYNC_COUNT] = "  the number must be a multiple of 32, not 0, and not more than the "
                        "{block} has\n",
      [WG_SYNC_DEAD_LANE] =
          "  the value read is undefined: keep all lanes that are read alive, and "
          "{blocks} a multiple of 32 {threads}\n",
      [WG_SYNC_GRID] = "  launch it with {cooperative_launch}\n",
      [WG_SYNC_ARGUMENTS] = "  all {threads} of the {block} must come to it, in the same order, "
                            "with the same values\n",
      [WG_SYNC_NOT_WAITED] = "  the {kernel} ends without wait_group_events for its event\n",
  };
  if (!is_recorded(f)) return;
  if (f->extra[2] < ARRAY_LEN(advice) && advice[f->extra[2]])
    words_add(out, report_words(f), advice[f->extra[2]]);
}

const ToolReport tool_report_synccheck = {.receive = receive,
                                          .title = title,
                                          .detail = detail,
                                          .found_by = found_by,
                                          .describe = describe};
