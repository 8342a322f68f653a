# The driver's interface from Python, with no framework: a kernel in PTX that divides. Run by
# frameworks.sh.
import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry divide(.param .u64 out, .param .f32 a, .param .f32 b) {
  .reg .b64 %p;
  .reg .f32 %x, %y;
  ld.param.u64 %p, [out];
  ld.param.f32 %x, [a];
  ld.param.f32 %y, [b];
  div.rn.f32 %x, %x, %y;
  st.global.f32 [%p], %x;
  ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")


def must(result):
    if result:
        sys.exit("error %d of the driver" % result)


device, context, module, function, out = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(
    ), ctypes.c_void_p(), ctypes.c_uint64()
must(cuda.cuInit(0))
must(cuda.cuDeviceGet(ctypes.byref(device), 0))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
must(cuda.cuCtxSetCurrent(context))
must(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
must(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"divide"))
must(cuda.cuMemAlloc_v2(ctypes.byref(out), 4))
zero = ctypes.c_float(1.0 if "good" in sys.argv else 0.0)
values = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in (out, zero,
    zero)))
must(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, values, None))  # launches
must(cuda.cuCtxSynchronize())
