// Kernels of tests/opencl/installed/program.c.
typedef struct {
  float factor;
  int add;
} Change;
constant int table[4] = {1, 2, 4, 8};

kernel void scale(global float *out, global const float *in, Change c, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] * c.factor + c.add + table[i & 3];
}

kernel void sum(global int *out, local int *part, constant int *weights) {
  local int fixed[8];
  int l = get_local_id(0);
  if (l < 8) fixed[l] = weights[l & 3];
  part[l] = get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = get_local_size(0) / 2; step; step /= 2) {
    if (l < step) part[l] += part[l + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = part[0] + fixed[7] + (int)get_global_offset(0);
}

kernel void where(global int *out, int width) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * width + x] = (int)(get_global_size(0) * 1000 + get_work_dim() * 100 + x + y);
}

kernel void counts(global int *out) { atomic_inc(out); }

kernel void says(global int *out) {
  printf("work-item %d of %s\n", (int)get_global_id(0), "says");
  out[get_global_id(0)] = 7;
}

kernel void pixels(read_only image2d_t from, sampler_t s, global float4 *out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  out[at.y * 4 + at.x] = read_imagef(from, s, at);
}
