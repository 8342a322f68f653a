// racecheck on a GPU: copies and sets come to the entries by a kernel of ours
// (tools/racecheck/race_copy_kernel.cu), behind them in their stream. What it meets it tells the
// session, which hears of it when the program has waited for something, when numbers of launches
// are used again, and at the end.
#include "gpu/gpu.h"

#include "gpu/own_kernel.h"
#include "tools/racecheck/abi.h"

struct GpuRaces {
  CUfunction kernel;
  unsigned blocks;
};
typedef struct GpuRaces GpuRaces;

extern const char probe_race_copy_kernel_text[];

void gpu_races_open(GpuContext *c) {
  if (!session_wants_races() || c->races) return;
  GpuOwnKernel own = {0};
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && c->stream &&
            gpu_own_kernel_load(&own, c, probe_race_copy_kernel_text, "wg_race_copies", 4096, 4096);
  gpu_context_leave(e);
  if (!ok) return;  // copies and sets are not checked then
  GpuRaces *r = mem_alloc(sizeof *r);
  *r = (GpuRaces){own.function, own.processors * 4};
  c->races = r;
}

void gpu_races_close(GpuContext *c) {
  free(c->races);
  c->races = NULL;
}

static uint64_t words_of(const WgRaceRows *r) { return (r->width / 4 + 2) * r->rows * r->slices; }

void gpu_race_run(GpuContext *c, CUstream stream, const WgRaceCopy *work) {
  uint64_t words = MAX(words_of(&work->side[0]), words_of(&work->side[1]));
  WgRaceCopy w = *work;
  void *params[] = {&w};
  unsigned blocks = (unsigned)MIN((words + WG_RACE_COPY_THREADS - 1) / WG_RACE_COPY_THREADS,
                                  (uint64_t)c->races->blocks);
  GpuEntered e = gpu_context_enter(c);
  bool ok = e.ok && gpu_real.cuLaunchKernel(c->races->kernel, blocks, 1, 1, WG_RACE_COPY_THREADS, 1,
                                            1, 0, stream, params, NULL) == CUDA_SUCCESS;
  gpu_context_leave(e);
  if (!ok) log_verbose("a copy or set could not be followed for racecheck");
}

bool gpu_race_follows(const GpuContext *c) { return c && c->races && !atomic_load(&c->faulted); }

void gpu_race_copied(const SessionCopy *copy) {
  WgRaceCopy work;
  if (!copy->race) return;
  CUstream stream = copy->stream ? (CUstream)(uintptr_t)copy->stream : CU_STREAM_LEGACY;
  GpuContext *c = gpu_context_of_stream(stream);
  SessionDevice *d = gpu_race_follows(c) ? gpu_context_use(c) : NULL;
  if (!d) return;
  if (session_race_work(copy, &work)) gpu_race_run(c, stream, &work);
  gpu_context_used(c);
}
