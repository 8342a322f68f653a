// Why warps wait: at a fixed interval of cycles CUPTI samples the instruction of a warp, and what
// it waits for. The samples of a context are added up by kernel, source line and reason when it
// ends.
#define _GNU_SOURCE
#include "gpu/times/stalls.h"

#include <dlfcn.h>
#include <unistd.h>

#include "gpu/times/times.h"

enum { ROOM = 4096, TRIES = 15, PAUSE_US = 100 * 1000 };

struct GpuStalls {
  size_t nreasons;
  uint32_t *numbers;
  char **names;
  CuptiSamples last;  // CUPTI fills it when sampling ends
};
static struct {
#define FUNCTION(name, parameters) int(*name) parameters;
  CUPTI_STALL_FUNCTIONS
#undef FUNCTION
} cupti;

static bool open_functions(void) {
  void *library = gpu_cupti_library();
  if (!library) return false;
#define FUNCTION(name, parameters) \
  if (!(*(void **)&cupti.name = dlsym(library, #name))) return false;
  CUPTI_STALL_FUNCTIONS
#undef FUNCTION
  return true;
}

static void make_room(CuptiSamples *s, size_t nreasons) {
  *s = (CuptiSamples){.size = sizeof *s, .room = ROOM};
  s->places = mem_alloc(ROOM * sizeof *s->places);
  CuptiReasonSamples *reasons = mem_alloc(ROOM * nreasons * sizeof *reasons);
  for (size_t i = 0; i < ROOM; i++) {
    s->places[i].size = sizeof s->places[i];
    s->places[i].reasons = reasons + i * nreasons;
  }
}

static void free_room(CuptiSamples *s) {
  if (s->places) free(s->places[0].reasons);
  free(s->places);
}

static bool find_reasons(struct GpuStalls *s, CUcontext context) {
  CuptiReasonCount count = {sizeof count, NULL, context, &s->nreasons};
  if (cupti.cuptiPCSamplingGetNumStallReasons(&count) || !s->nreasons) return false;
  s->numbers = mem_alloc(s->nreasons * sizeof *s->numbers);
  s->names = mem_alloc(s->nreasons * sizeof *s->names);
  for (size_t i = 0; i < s->nreasons; i++) s->names[i] = mem_alloc(CUPTI_NAME_BYTES);
  CuptiReasonNames names = {sizeof names, NULL, context, s->nreasons, s->numbers, s->names};
  return !cupti.cuptiPCSamplingGetStallReasons(&names);
}

static bool start(struct GpuStalls *s, CUcontext context) {
  CuptiOfContext enable = {sizeof enable, NULL, context};
  if (cupti.cuptiPCSamplingEnable(&enable)) return false;
  if (!find_reasons(s, context)) return false;
  make_room(&s->last, s->nreasons);
  CuptiSetting list[] = {{.what = CUPTI_BUFFER, .buffer = &s->last},
                         {.what = CUPTI_REASONS, .reasons = {s->nreasons, s->numbers}}};
  CuptiSettings all = {sizeof all, NULL, context, ARRAY_LEN(list), list};
  return !cupti.cuptiPCSamplingSetConfigurationAttribute(&all);
}

void gpu_stalls_open(GpuContext *c) {
  if (!session_wants(SESSION_WANTS_STALLS)) return;
  struct GpuStalls *s = mem_alloc(sizeof *s);
  gpu_stall_lines_open();
  if (open_functions() && start(s, c->handle)) c->stalls = s;
  else
    log_once(
        "stalls",
        "CUPTI cannot sample on device %d: why warps wait is not known. It is part of the CUDA "
        "toolkit, may need the rights of an administrator, and has one user at a time.",
        (int)c->device);
}

static const char *reason_named(const struct GpuStalls *s, uint32_t number) {
  for (size_t i = 0; i < s->nreasons; i++)
    if (s->numbers[i] == number) return s->names[i];
  return NULL;
}

// true: there was something
static bool tell(struct GpuStalls *s, CuptiSamples *from) {
  for (size_t i = 0; i < MIN(from->nplaces, (size_t)ROOM); i++) {
    CuptiPlace *p = &from->places[i];
    GpuStallLine at = p->name ? gpu_stall_line(p) : (GpuStallLine){0};
    for (size_t k = 0; k < MIN(p->nreasons, s->nreasons) && p->name; k++) {
      const char *reason = reason_named(s, p->reasons[k].reason);
      if (reason)
        session_stalled(&(SessionStall){p->name, reason, at.file, at.line, p->reasons[k].samples});
    }
  }
  return from->nplaces != 0;
}

// All work of the context has ended. Threads of CUPTI bring samples some tenths of a second later.
void gpu_stalls_close(GpuContext *c) {
  struct GpuStalls *s = c->stalls;
  if (!s) return;
  c->stalls = NULL;
  CuptiSamples some;
  CuptiTake take = {sizeof take, NULL, c->handle, &some};
  bool told = false;
  make_room(&some, s->nreasons);
  for (int i = 0; i < TRIES; i++) {
    int result = cupti.cuptiPCSamplingGetData(&take);
    log_verbose("CUPTI has %llu samples of %zu instructions, and dropped %llu (result %d)",
                (unsigned long long)some.samples, some.nplaces, (unsigned long long)some.dropped,
                result);
    if (result && !told)
      log_once("stalls",
               "CUPTI gave no samples on device %d (error %d): another process may be sampling.",
               (int)c->device, result);
    if (result) break;
    bool got = tell(s, &some);
    if (told && !got) break;
    told |= got;
    if (!some.left) usleep(PAUSE_US);
    some.nplaces = 0;
  }
  CuptiOfContext disable = {sizeof disable, NULL, c->handle};
  int result = cupti.cuptiPCSamplingDisable(&disable);
  log_verbose("CUPTI has %zu instructions when sampling ends (result %d)", s->last.nplaces, result);
  if (!result) tell(s, &s->last);
  free_room(&some);
  free_room(&s->last);
  for (size_t i = 0; i < s->nreasons; i++) free(s->names[i]);
  free(s->names);
  free(s->numbers);
  free(s);
}
