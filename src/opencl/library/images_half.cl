// Images read and written with half numbers, by the functions for float.
#define READS_HALF(image, ints) \
  half4 BUILT_IN read_imageh(image m, ints c) { return TO_HALF4(read_imagef(m, c)); }
#define READS_HALF_SAMPLED(image, at) \
  half4 BUILT_IN read_imageh(image m, sampler_t s, at c) { return TO_HALF4(read_imagef(m, s, c)); }
#define WRITES_HALF(image, ints) \
  void BUILT_IN write_imageh(image m, ints c, half4 color) { \
    write_imagef(m, c, TO_FLOAT4(color)); \
  }
#define HALF_IMAGE(type, ints, floats) \
  READS_HALF_SAMPLED(read_only type, ints) \
  READS_HALF_SAMPLED(read_only type, floats) \
  HALF_PIXELS(type, ints)
#define HALF_PIXELS(type, ints) \
  READS_HALF(read_only type, ints) \
  READS_HALF(read_write type, ints) \
  WRITES_HALF(write_only type, ints) \
  WRITES_HALF(read_write type, ints)
HALF_IMAGE(image1d_t, int, float)
HALF_IMAGE(image1d_array_t, int2, float2)
HALF_IMAGE(image2d_t, int2, float2)
HALF_IMAGE(image2d_array_t, int4, float4)
HALF_IMAGE(image3d_t, int4, float4)
HALF_PIXELS(image1d_buffer_t, int)
