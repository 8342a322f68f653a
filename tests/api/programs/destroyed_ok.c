// Handles that come and go, and are handed out again: none is used after it went.
#include "driver_test.h"

static const char code[] = PTX_HEADER ".visible .entry nothing() { ret; }\n";

int main(void) {
  CUcontext ctx;
  CUdevice dev;
  OK(cuInit(0));
  OK(cuDeviceGet(&dev, 0));
  OK(cuCtxCreate_v2(&ctx, 0, dev));
  for (int i = 0; i < 50; i++) {
    CUstream s;
    CUevent e;
    CUmodule m;
    CUfunction f;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuModuleLoadData(&m, code));
    OK(cuModuleGetFunction(&f, m, "nothing"));
    OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphDestroy(g));                   // what was made from it goes on
    OK(cuGraphLaunch(x, s));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(NULL, e, 0));
    OK(cuStreamDestroy_v2(s));               // its work goes on
    OK(cuEventSynchronize(e));
    OK(cuEventDestroy_v2(e));
    OK(cuGraphExecDestroy(x));
    OK(cuModuleUnload(m));
  }
  OK(cuCtxDestroy_v2(ctx));
  return finish();
}
