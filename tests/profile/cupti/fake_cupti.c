// Stands in for NVIDIA's libcupti: when records are asked for it gives those that FAKE_CUPTI names,
// "k BLOCKS THREADS START END" for a kernel and "c BYTES START END" for a copy, in microseconds
// since it was opened; "g BLOCKS THREADS START END" is the kernel of a graph's node. Of samples it
// gives 100 the first time, and 100 when sampling ends, at two instructions: the first has a line.
#include <stdlib.h>
#include <string.h>

#include "gpu/times/cupti.h"
#include "gpu/times/cupti_stalls.h"

enum { STREAM = 7, CONTEXT = 3, MOST = 16, ROOM = 256 };
static CuptiWant *want;
static CuptiFilled *filled;
static uint64_t opened;

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void)) {
  opened = clock();
  return 0;
}
int cuptiActivityEnableLatencyTimestamps(uint8_t yes) { return 0; }
int cuptiActivityRegisterCallbacks(CuptiWant *w, CuptiFilled *f) {
  want = w;
  filled = f;
  return 0;
}
int cuptiActivityEnable(uint32_t kind) { return getenv("FAKE_CUPTI") ? 0 : 1; }
int cuptiActivityFlushPeriod(uint32_t milliseconds) { return 0; }
int cuptiGetContextId(CUcontext context, uint32_t *id) {
  *id = CONTEXT;
  return 0;
}
int cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id) {
  *id = STREAM;
  return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CuptiRecord **record) {
  uint8_t *next = *record ? (uint8_t *)*record + ROOM : buffer;
  if (next >= buffer + valid) return 1;
  *record = (CuptiRecord *)next;
  return 0;
}

static uint64_t number(const char **p) {
  char *end;
  uint64_t n = strtoull(*p, &end, 10);
  *p = end;
  return n;
}

int cuptiActivityFlushAll(uint32_t flags) {
  uint8_t *buffer;
  size_t bytes, most, valid = 0;
  static int flushed;
  if (flushed++) return 0;
  want(&buffer, &bytes, &most);
  memset(buffer, 0, MOST * ROOM);
  for (const char *p = getenv("FAKE_CUPTI"); *p && valid < MOST * ROOM; valid += ROOM) {
    while (*p == ' ') p++;
    char what = *p++;
    if (what == 'k' || what == 'g') {
      CuptiKernel *k = (CuptiKernel *)(buffer + valid);
      *k = (CuptiKernel){.kind = CUPTI_KERNEL,
                         .stream = STREAM,
                         .context = CONTEXT,
                         .name = "_Z4workPi",
                         .graph_node = what == 'g'};
      for (int i = 0; i < 3; i++) k->grid[i] = k->block[i] = 1;
      k->grid[0] = (int32_t)number(&p);
      k->block[0] = (int32_t)number(&p);
      k->start = opened + 1000 * number(&p);
      k->end = opened + 1000 * number(&p);
    } else {
      CuptiCopy *c = (CuptiCopy *)(buffer + valid);
      *c = (CuptiCopy){.kind = CUPTI_COPY, .stream = STREAM, .context = CONTEXT};
      c->bytes = number(&p);
      c->start = opened + 1000 * number(&p);
      c->end = opened + 1000 * number(&p);
    }
    while (*p == ' ') p++;
  }
  filled(NULL, 0, buffer, bytes, valid);
  return 0;
}

// --- samples ---

static const char *const reasons[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                                      "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
                                      "smsp__pcsamp_warps_issue_stalled_barrier",
                                      "smsp__pcsamp_warps_issue_stalled_selected"};
enum { REASONS = sizeof reasons / sizeof *reasons };
static CuptiSamples *at_end;

int cuptiPCSamplingEnable(CuptiOfContext *p) { return 0; }
int cuptiPCSamplingGetNumStallReasons(CuptiReasonCount *p) {
  *p->n = REASONS;
  return 0;
}
int cuptiPCSamplingGetStallReasons(CuptiReasonNames *p) {
  for (uint32_t i = 0; i < REASONS; i++) {
    p->numbers[i] = 10 + i;
    strcpy(p->names[i], reasons[i]);
  }
  return 0;
}
int cuptiPCSamplingSetConfigurationAttribute(CuptiSettings *p) {
  for (size_t i = 0; i < p->n; i++)
    if (p->list[i].what == CUPTI_BUFFER) at_end = p->list[i].buffer;
  return 0;
}

enum { CRC = 77 };
static void fill(CuptiSamples *s) {
  static const uint32_t samples[] = {60, 50, 30, 10};
  static char name[] = "_Z4workPi";  // all places share it, as they do with NVIDIA's
  s->nplaces = 2;
  for (uint32_t p = 0; p < 2; p++) {
    s->places[p].name = name;
    s->places[p].code = CRC;
    s->places[p].offset = 16 * p;
    s->places[p].nreasons = REASONS;
    for (uint32_t i = 0; i < REASONS; i++)
      s->places[p].reasons[i] = (CuptiReasonSamples){10 + i, samples[i] / 2};
  }
}

// The driver loads a cubin as soon as somebody listens.
static CuptiCallback *listens;
int cuptiSubscribe(void **subscriber, CuptiCallback *callback, void *user) {
  listens = callback;
  return 0;
}
int cuptiEnableCallback(uint32_t yes, void *subscriber, int domain, uint32_t id) {
  static const char cubin[] = "a cubin with a section .debug_line";
  CuptiModule m = {1, sizeof cubin, cubin};
  if (domain == CUPTI_RESOURCES && id == CUPTI_MODULE_LOADED)
    listens(NULL, domain, id, &(CuptiResource){.what = &m});
  return 0;
}
int cuptiGetCubinCrc(CuptiCrc *p) {
  p->crc = CRC;
  return 0;
}
int cuptiGetSassToSourceCorrelation(CuptiLine *p) {
  if (p->offset) return 999;
  p->line = 4;
  p->file = strdup("work.cu");
  p->folder = strdup("/src");
  return 0;
}

int cuptiPCSamplingGetData(CuptiTake *p) {
  static int taken;
  if (!taken++) fill(p->samples);
  return 0;
}
int cuptiPCSamplingDisable(CuptiOfContext *p) {
  fill(at_end);
  return 0;
}
