// racecheck inside the command: reports both accesses of a race, and what would have ordered them.
#include "base/json.h"
#include "report/report.h"
#include "tools/racecheck/abi.h"
#include "tools/report.h"

static bool receive(const RunProcess *p, const WgFinding *record, RunFinding *f) {
  f->origin = run_site_numbered(p, record->extra[0]);
  return !(record->extra[2] & WG_RACE_IN_SHARED);
}

// Found by a thread. Races of copies are found by the host and have their own sentence.
static bool is_race(const RunFinding *f) { return f->has_thread; }

static bool has_class(const RunSite *s, const char *name) {
  for (unsigned i = 0; s && i < 32 && run_class_name(i); i++)
    if (s->classes >> i & 1 && strcmp(run_class_name(i), name) == 0) return true;
  return false;
}

static const char *access_name(const RunSite *s, bool writes, bool strong) {
  if (has_class(s, "atomic")) return "atomic";
  if (has_class(s, "async")) return writes ? "asynchronous write" : "asynchronous read";
  return writes   ? strong ? "volatile or atomic write" : "write"
         : strong ? "volatile or atomic read"
                  : "read";
}

static const char *mine(const RunFinding *f) {
  return access_name(f->site, f->extra[2] & WG_RACE_MINE_WRITE, f->extra[2] & WG_RACE_MINE_STRONG);
}
static const char *others(const RunFinding *f) {
  return access_name(f->origin, f->extra[2] & WG_RACE_OTHER_WRITE,
                     f->extra[2] & WG_RACE_OTHER_STRONG);
}

static bool detail(const RunFinding *f, Str *out) {
  if (!is_race(f)) return false;
  str_printf(out, ": %s of %llu bytes after %s %s", mine(f), (unsigned long long)f->size,
             strchr("aeiou", others(f)[0]) ? "an" : "a", others(f));
  return true;
}

static const char *const missing[] = {
    [WG_RACE_NO_BARRIER] =
        "no barrier of the {block}{with_global_fence} lies between them, and nothing else orders "
        "them",
    [WG_RACE_NO_WARP_SYNC] = "the {threads} are of one {warp}, and no {warp_barrier} or other "
                             "synchronisation of the {warp} lies between them",
    [WG_RACE_SAME_INSTRUCTION] = "the {threads} are of one {warp} and do this at the same time",
    [WG_RACE_OTHER_BLOCK] =
        "the {threads} are of different {blocks}: a barrier of the {block} does not "
        "order them, and no fence with an atomic or a flag does",
    [WG_RACE_BLOCK_SCOPE] =
        "an atomic, flag or fence is for the {threads} of its {block} only, and "
        "the other {thread} is in another {block}",
    [WG_RACE_OTHER_LAUNCH] = "nothing orders the two: no {stream} in which one waits for the "
                             "other, no event, path in a graph or synchronisation",
    [WG_RACE_NO_ACQUIRE] = "this {thread} has read a flag or lock that the other has set, but "
                           "neither acquires there nor has a fence behind that read",
    [WG_RACE_NOT_WAITED] = "the other is asynchronous, and nothing between them waits until it is "
                           "done (cp.async.wait_group, an mbarrier, cp.async.bulk.wait_group)",
    [WG_RACE_NO_PROXY_FENCE] = "the asynchronous proxy reads what was written in the usual way, "
                               "and no fence.proxy.async lies between them",
};

static const char *what_is_missing(const RunFinding *f) {
  unsigned why = (unsigned)f->extra[2] & WG_RACE_WHY;
  // the device decides which lanes form a sub-group: programs use barriers with flags
  if (why == WG_RACE_NO_WARP_SYNC && *report_words(f)->with_shared_fence) why = WG_RACE_NO_BARRIER;
  if (why == WG_RACE_NO_BARRIER && f->extra[2] & WG_RACE_IN_SHARED)
    return "no barrier of the {block}{with_shared_fence} lies between them, and nothing else "
           "orders them";
  return why < ARRAY_LEN(missing) ? missing[why] : NULL;
}

// of the variable in shared memory; NULL: not known
static const char *variable(Run *r, const RunFinding *f) {
  return is_race(f) && f->site && f->site->object && !f->allocation ? report_object_name(r, f->site)
                                                                    : NULL;
}

static bool locate(Run *r, const RunFinding *f, Str *out) {
  const char *name = variable(r, f);
  if (name) words_printf(out, report_words(f), " is in %s, a variable in {shared} memory", name);
  return name;
}

static void other_coordinates(const RunFinding *f, uint32_t *block, uint32_t *thread) {
  uint32_t t = (uint32_t)(f->value[1] >> 32);
  block[0] = (uint32_t)f->value[0];
  block[1] = (uint32_t)(f->value[0] >> 32);
  block[2] = (uint32_t)f->value[1];
  thread[0] = t & 2047;
  thread[1] = t >> 11 & 2047;
  thread[2] = t >> 22;
}

// Adds the other access and the missing synchronization.
static void describe(Run *r, const RunFinding *f, Str *out) {
  if (!is_race(f)) return;
  uint32_t block[3], thread[3];
  unsigned what = (unsigned)f->extra[2];
  const ApiWords *w = report_words(f);
  other_coordinates(f, block, thread);
  str_printf(out, "  the other is %s %s", strchr("aeiou", others(f)[0]) ? "an" : "a", others(f));
  if (f->origin) report_add_site(r, f->origin, out);
  if (what & WG_RACE_THREAD_KNOWN)
    words_printf(out, w, " by {thread} (%u,%u,%u) of {block} (%u,%u,%u)", thread[0], thread[1],
                 thread[2], block[0], block[1], block[2]);
  else if (what & WG_RACE_BLOCK_KNOWN)
    words_printf(out, w, " by another {thread} of {block} (%u,%u,%u)", block[0], block[1],
                 block[2]);
  else if ((what & WG_RACE_WHY) == WG_RACE_OTHER_LAUNCH && !block[0])
    str_add(out, ", of a copy or set");
  else if ((what & WG_RACE_WHY) == WG_RACE_OTHER_LAUNCH) str_printf(out, ", launch %u", block[0]);
  else words_add(out, w, " by a {thread} of another {block}");
  str_addc(out, '\n');
  if (what & WG_RACE_VALUES)
    str_printf(out, "  it writes 0x%llx where there is 0x%llx\n", (unsigned long long)f->value[2],
               (unsigned long long)f->value[3]);
  if (what_is_missing(f)) {
    str_add(out, "  ");
    words_add(out, w, what_is_missing(f));
    str_addc(out, '\n');
  }
}

// ,"access":…,"missing":…,"other":{…}
static void json(Run *r, const RunFinding *f, Str *out) {
  static const char *const words[] = {[WG_RACE_NO_BARRIER] = "barrier",
                                      [WG_RACE_NO_WARP_SYNC] = "warp synchronisation",
                                      [WG_RACE_SAME_INSTRUCTION] = "same instruction",
                                      [WG_RACE_OTHER_BLOCK] = "order between blocks",
                                      [WG_RACE_BLOCK_SCOPE] = "scope",
                                      [WG_RACE_OTHER_LAUNCH] = "order between launches",
                                      [WG_RACE_NO_ACQUIRE] = "acquire",
                                      [WG_RACE_NOT_WAITED] = "wait",
                                      [WG_RACE_NO_PROXY_FENCE] = "proxy fence"};
  if (!is_race(f)) return;
  uint32_t block[3], thread[3];
  unsigned what = (unsigned)f->extra[2];
  const RunSite *s = f->origin;
  other_coordinates(f, block, thread);
  json_text(out, "access", mine(f));
  if ((what & WG_RACE_WHY) < ARRAY_LEN(words)) json_text(out, "missing", words[what & WG_RACE_WHY]);
  json_text(out, "variable", variable(r, f));
  if (what & WG_RACE_SAME_VALUE) str_add(out, ",\"same_value\":true");
  if (what & WG_RACE_VALUES) {
    json_address(out, "value", f->value[2]);
    json_address(out, "value_there", f->value[3]);
  }
  json_open(out, "other", '{');
  json_text(out, "access", others(f));
  if (s) report_json_site(r, s, out);
  if (what & (WG_RACE_BLOCK_KNOWN | WG_RACE_THREAD_KNOWN)) json_three(out, "block", block);
  if (what & WG_RACE_THREAD_KNOWN) json_three(out, "thread", thread);
  if ((what & WG_RACE_WHY) == WG_RACE_OTHER_LAUNCH && block[0])
    json_number(out, "launch", block[0]);
  str_addc(out, '}');
}

const ToolReport tool_report_racecheck = {.library_calls = true,
                                          .receive = receive,
                                          .detail = detail,
                                          .describe = describe,
                                          .locate = locate,
                                          .json = json};
