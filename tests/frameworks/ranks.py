"""Starts itself once for each of two ranks, as torchrun does, and waits: ranks.py [ok]. Each rank
launches a kernel; that of rank 1 writes 4 bytes too far."""
import ctypes
import os
import subprocess
import sys

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 to) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [to];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r0;
  ret;
}
"""


def work(rank):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    buffer = ctypes.c_uint64()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill") == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(64 * 4)) == 0
    at = ctypes.c_uint64(buffer.value + (4 if rank == 1 and len(sys.argv) == 1 else 0))
    params = (ctypes.c_void_p * 1)(ctypes.addressof(at))
    assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, params, None) == 0  # launched
    return cuda.cuCtxSynchronize()


if "RANK" in os.environ:
    sys.exit(work(int(os.environ["RANK"])))
ranks = [subprocess.Popen([sys.executable, *sys.argv], env=dict(os.environ, RANK=str(i)))
         for i in range(2)]
print("ranks ended:", [r.wait() for r in ranks])
