typedef struct { float a; int b[3]; } Pair;
__constant int table[4] = {10, 20, 30, 40};
__attribute__((noinline)) int helper(int x) { return x + (int)get_global_id(0); }
kernel void arguments(global int *out, Pair p, float4 v, char c, constant int *k, short3 s,
                      ulong l, double d) {
  size_t i = get_global_id(0);
  out[i] = helper((int)p.a + p.b[2] + (int)v.w + c + k[i] + s.z + (int)l + (int)d + table[i & 3]);
}
kernel void locals(global int *out, local int *a, local int2 *b) {
  local int fixed[64];
  size_t l = get_local_id(0);
  a[l] = (int)l;
  b[l] = (int2)((int)l, 1);
  fixed[l] = 100;
  barrier(CLK_LOCAL_MEM_FENCE);
  size_t o = get_local_size(0) - 1 - l;
  out[get_global_id(0)] = a[o] + b[o].x + b[o].y + fixed[o];
}
kernel void ids(global ulong *out) {
  size_t i = (get_global_id(1) - get_global_offset(1)) * get_global_size(0) + get_global_id(0) -
             get_global_offset(0);
  global ulong *o = out + i * 10;
  o[0] = get_global_id(0);
  o[1] = get_global_id(1);
  o[2] = get_group_id(0);
  o[3] = get_num_groups(0);
  o[4] = get_local_size(0);
  o[5] = get_local_id(0);
  o[6] = get_work_dim();
  o[7] = get_global_offset(0);
  o[8] = get_global_size(1);
  o[9] = get_global_size(2) + get_local_size(2) + get_num_groups(7);
}
kernel void library(global int *i, global long *l, global ulong *u, local long *t) {
  if (get_local_id(0) == 0) t[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atom_add(l, 1L << 33);
  atom_max(u, (ulong)get_global_id(0) << 40);
  atom_inc(t);
  barrier(CLK_LOCAL_MEM_FENCE);
  i[get_global_id(0)] = mad_hi(1 << 20, 1 << 20, 3) + (int)t[0];
}
kernel void add_one(global int *x) { x[get_global_id(0)] += 1; }
kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eight(global int *x) {
  x[get_global_id(0)] = (int)get_local_size(0);
}
kernel void say(int n) { if (get_global_id(0) == 1) printf("work-item %d of %d: %.2f %s\n",
                                                           (int)get_global_id(0), n, 1.5f, "end"); }

kernel void calls_kernel(global int *x) {
  twice(x);
  x[get_global_id(0)] += __IMAGE_SUPPORT__ + (__OPENCL_VERSION__ < 120);
}
typedef struct { int numbers[4]; } image_data;  // the name of no image
__attribute__((vec_type_hint(uchar2), work_group_size_hint(1, 2, 3), reqd_work_group_size(1, 1, 1)))
kernel void pairs_of_chars(char2 c, uchar2 u, global image_data *out) {
  vstore4((int4)(convert_int2(c), convert_int2(u)), 0, out->numbers);
}
