kernel void reals(read_only image2d_t from, write_only image2d_t to, global float4 *out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 c = read_imagef(from, at);
  out[at.y * get_image_width(from) + at.x] = c;
  write_imagef(to, at, c);
}
kernel void integers(read_only image2d_t from, write_only image2d_t to, global int4 *out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  int4 c = read_imagei(from, at);
  out[at.y * get_image_width(from) + at.x] = c;
  write_imagei(to, at, c);
}
kernel void naturals(read_only image2d_t from, write_only image2d_t to, global uint4 *out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  uint4 c = read_imageui(from, at);
  out[at.y * get_image_width(from) + at.x] = c;
  write_imageui(to, at, c);
}
// each type of image: the coordinates of each pixel, plus one that is read
#define COLOR(m) ((uint4)(get_global_id(0), get_global_id(1), get_global_id(2), m))
kernel void one(write_only image1d_t m) {
  write_imageui(m, (int)get_global_id(0), COLOR(get_image_width(m)));
}
kernel void one_array(write_only image1d_array_t m) {
  write_imageui(m, (int2)(get_global_id(0), get_global_id(1)), COLOR(get_image_array_size(m)));
}
kernel void two(write_only image2d_t m) {
  write_imageui(m, (int2)(get_global_id(0), get_global_id(1)), COLOR(get_image_dim(m).y));
}
kernel void two_array(write_only image2d_array_t m) {
  write_imageui(m, (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0),
                COLOR(get_image_array_size(m)));
}
kernel void three(write_only image3d_t m) {
  write_imageui(m, (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0),
                COLOR(get_image_depth(m)));
}
kernel void buffer(write_only image1d_buffer_t m) {
  write_imageui(m, (int)get_global_id(0), COLOR(get_image_channel_order(m)));
}
// what lies around an image, for each sampler
kernel void sampled(read_only image2d_t m, sampler_t s, global const float2 *at, global float4 *out) {
  out[get_global_id(0)] = read_imagef(m, s, at[get_global_id(0)]);
}
kernel void literal(read_only image2d_t m, global const float2 *at, global float4 *out) {
  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  out[get_global_id(0)] = read_imagef(m, s, convert_int2_rtn(at[get_global_id(0)]));
}
kernel void volume(read_only image3d_t m, sampler_t s, global float4 *out) {
  out[0] = read_imagef(m, s, (float4)(1.0f, 1.0f, 1.0f, 0));
}
// one column too many
kernel void beyond(write_only image2d_t m) {
  write_imageui(m, (int2)(get_global_id(0) + 1, get_global_id(1)), (uint4)(1));
}
