// Handles that are used after they were destroyed.
#include "driver_test.h"

static const char code[] = PTX_HEADER ".visible .entry nothing() { ret; }\n";

int main(void) {
  CUcontext ctx, other;
  CUdevice dev;
  CUstream s, alive;
  CUevent e, kept;
  CUmodule m;
  CUfunction f;
  CUgraph g;
  CUgraphExec x;
  CUdeviceptr p;
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&other, 0, dev));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  OK(cuMemAlloc_v2(&p, 64));
  OK(cuStreamCreate(&s, 0));
  OK(cuStreamCreate(&alive, 0));
  OK(cuEventCreate(&e, 0));
  OK(cuEventCreate(&kept, 0));
  OK(cuModuleLoadData(&m, code));
  OK(cuModuleGetFunction(&f, m, "nothing"));
  OK(cuGraphCreate(&g, 0));
  OK(cuGraphInstantiateWithFlags(&x, g, 0));
  OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
  OK(cuStreamDestroy_v2(s));
  OK(cuEventDestroy_v2(e));
  OK(cuModuleUnload(m));
  OK(cuGraphExecDestroy(x));
  OK(cuGraphDestroy(g));
  OK(cuCtxDestroy_v2(other));
// finds: api-misuse text=use of a stream that was destroyed before
  cuStreamSynchronize(s);
// finds: api-misuse text=use of a stream that was destroyed before
  cuMemsetD8Async(p, 0, 64, s);
// finds: api-misuse text=use of a stream that was destroyed before
  cuEventRecord(kept, s);
// finds: api-misuse text=use of a stream that was destroyed before
  cuStreamDestroy_v2(s);
// finds: api-misuse text=use of an event that was destroyed before
  cuEventRecord(e, alive);
// finds: api-misuse text=use of an event that was destroyed before
  cuEventSynchronize(e);
// finds: api-misuse text=use of an event that was destroyed before
  cuStreamWaitEvent(alive, e, 0);
// finds: api-misuse text=use of a module that was unloaded before
  cuModuleGetFunction(&f, m, "nothing");
// finds: api-misuse text=use of a function whose module was unloaded before
  cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, alive, NULL, NULL);
// finds: api-misuse text=use of an executable graph that was destroyed before
  cuGraphLaunch(x, alive);
// finds: api-misuse text=use of a graph that was destroyed before
  cuGraphInstantiateWithFlags(&x, g, 0);
// finds: api-misuse text=use of a context that was destroyed before
  cuCtxSetCurrent(other);
  return finish();
}
