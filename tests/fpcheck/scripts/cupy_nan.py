# A kernel given to CuPy as text that divides. Run by frameworks.sh.
# needs: cupy
import sys
import cupy

divide = cupy.RawKernel(r"""
extern "C" __global__ void divide(const float *x, float *out) { int i = blockIdx.x * blockDim.x +
threadIdx.x; out[i] = x[i] / x[i]; }
""", "divide")
x = cupy.arange(4096, dtype=cupy.float32) + cupy.float32(1 if "good" in sys.argv else 0)
out = cupy.empty_like(x)
divide((16,), (256,), (x, out))  # launches
print(float(cupy.nan_to_num(out).sum()))
