// tools: racecheck,synccheck
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0), l = get_local_id(0), first = i - l;
  size_t size = min(get_local_size(0), (size_t)n - first);
  event_t copied = async_work_group_copy(tile, in + first, size, 0);
  wait_group_events(1, &copied);
  float sum = l < size ? tile[l] : 0;
  if (i < n) out[i] = sum + tile[size - 1 - l];
}
