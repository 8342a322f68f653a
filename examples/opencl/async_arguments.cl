// tools: synccheck
// Each work-item asks for another copy; and nobody waits for what was copied back.
kernel void example(global const float *in, global float *out, local float *tile, int n) {
  size_t i = get_global_id(0), l = get_local_id(0), first = i - l;
  size_t size = min(get_local_size(0), (size_t)n - first);
  event_t copied = async_work_group_copy(tile + l, in + first + l, l < size ? 1 : 0, 0);
  wait_group_events(1, &copied);
  barrier(CLK_LOCAL_MEM_FENCE);
  async_work_group_copy(out + first, tile, size, 0);
}
