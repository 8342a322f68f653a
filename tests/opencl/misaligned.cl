// Misaligned loads of every size, compared with the same bytes read one by one.
#define SAME(type, as, n) \
  (*(global const volatile type *)(bytes + 1) == as(vload##n(0, (global const uchar *)bytes + 1)))
kernel void example(global const float *in, global float *out, local float *scratch, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = 0;
  if (i) return;
  global const char *bytes = (global const char *)in + (int)in[4];
  printf("2 bytes %d, 4 bytes %d, 8 bytes %d\n", SAME(ushort, as_ushort, 2),
         SAME(uint, as_uint, 4), SAME(ulong, as_ulong, 8));
}
