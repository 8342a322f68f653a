// tools: racecheck
// Work-items read what others of the group have written, with no barrier between.
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0), l = get_local_id(0);
  tile[l] = i < n ? in[i] : 0;
  if (i < n) out[i] = tile[get_local_size(0) - 1 - l];
}
