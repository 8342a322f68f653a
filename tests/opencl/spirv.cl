// Kernels that tests/opencl/spirv.sh hands over as SPIR-V.
typedef struct Pair {
  int first;
  float second;
} Pair;
constant int table[4] = {10, 20, 30, 40};

static float fraction(float x, private float *whole) { return fract(x, whole); }

kernel void mixed(global const float *in, global float *out, local float *tile, Pair pair, int n) {
  int i = (int)get_global_id(0), l = (int)get_local_id(0), size = (int)get_local_size(0);
  float whole;
  tile[l] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float part = fraction(tile[size - 1 - l], &whole);
  if (i < n) out[i] = part + whole * 2 + table[i & 3] + pair.first + pair.second;
}

kernel void counted(global int *count, global int4 *sum) {
  atomic_add(count, (int)get_global_size(0));
  *sum = convert_int4_sat(vload4(0, (global float *)sum) * (float4)2.5f) + (int4)get_work_dim();
}

static void put(global int *out, int i) {
  out[i] = i;  // label: beyond
}

kernel void beyond(global int *out, int n) {
  int i = (int)get_global_id(0);
  if (i <= n) put(out, i);  // label: call
}

kernel void pixels(read_only image2d_t from, write_only image2d_t to, sampler_t how) {
  int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
  write_imagef(to, at, read_imagef(from, how, at) + read_imagef(from, at) * 0.5f);
}
