// vload_half of every half number, and vstore_half of floats with all rounding modes, as scalars and
// as vectors of 4.
#define MODES(what) what(0, ) what(1, _rte) what(2, _rtz) what(3, _rtp) what(4, _rtn)
#define STORE(at, mode) vstore_half##mode(in[i], i, (global half *)out + at * n);
#define STORE4(at, mode) vstore_half4##mode(vload4(i, in), i, (global half *)out + (5 + at) * n);
kernel void store(global const float *in, global ushort *out, int n) {
  size_t i = get_global_id(0);
  MODES(STORE)
  if (i < n / 4) {
    MODES(STORE4)
  }
}
kernel void load(global const ushort *in, global float *out, int n) {
  size_t i = get_global_id(0);
  out[i] = vload_half(i, (global const half *)in);
  if (i < n / 4) vstore4(vload_half4(i, (global const half *)in), i, out + n);
}
