# CuPy: its own kernels, kernels made from expressions, and source compiled by NVRTC.
# needs: cupy
# coverage: any
# seconds: 90
import hashlib
import cupy
import numpy


def show(name, a):
    print(name, a.shape, hashlib.sha256(cupy.asnumpy(a).tobytes()).hexdigest()[:16])


x = cupy.asarray(numpy.random.RandomState(5).standard_normal(10007).astype(numpy.float32))
show("elementwise", cupy.sin(x) * x + 3)
squares = cupy.ElementwiseKernel("float32 a, float32 b", "float32 c", "c = (a - b) * (a - b)",
                                 "squares")
show("own elementwise", squares(x, x[::-1].copy()))
total = cupy.ReductionKernel("int32 a", "int64 b", "a", "a + b", "b = a", "0", "total")
show("reduction", total((x * 1000).astype(cupy.int32)))
show("sorted", cupy.sort(x))
raw = cupy.RawKernel(r"""
extern "C" __global__ void chain(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int k = 0; k < 8; k++) v = v * 0.5f + __shfl_xor_sync(0xffffffffu, v, 1 << (k & 3));
  if (i < n) y[i] = v;
}""", "chain")
y = cupy.zeros_like(x)
raw(((x.size + 127) // 128,), (128,), (x, y, numpy.int32(x.size)))
show("raw", y)
module = cupy.RawModule(code='__constant__ int k; extern "C" __global__ void fill(int *p) { '
                        'p[threadIdx.x] = k * threadIdx.x; }')
k = cupy.ndarray((1,), cupy.int32, module.get_global("k"))
k[...] = 7
p = cupy.zeros(64, cupy.int32)
module.get_function("fill")((1,), (64,), (p,))
assert (p == 7 * cupy.arange(64)).all()
show("module", p)
