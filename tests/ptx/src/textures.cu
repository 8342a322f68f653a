// Texture and surface objects of every shape.
__global__ void textures(float4 *out, cudaTextureObject_t t, cudaTextureObject_t ti,
                         cudaSurfaceObject_t s, float x, float y, int k) {
  float4 a = tex1D<float4>(t, x), b = tex2D<float4>(t, x, y), c = tex3D<float4>(t, x, y, x);
  float4 d = tex2DLod<float4>(t, x, y, 1.5f),
         e = tex2DGrad<float4>(t, x, y, make_float2(x, y), make_float2(y, x));
  float4 f = tex1DLayered<float4>(t, x, k), g = tex2DLayered<float4>(t, x, y, k),
         h = texCubemap<float4>(t, x, y, x);
  int4 i = tex1Dfetch<int4>(ti, k);
  uchar4 u = tex2D<uchar4>(ti, x, y);
  float4 m = tex2Dgather<float4>(t, x, y, 2);
  float one = tex1Dfetch<float>(ti, k);
  float2 v;
  surf2Dread(&v, s, k * 8, k);
  surf2Dwrite(make_float2(v.y, v.x), s, k * 8, k + 1, cudaBoundaryModeClamp);
  surf1Dwrite((unsigned char)k, s, k);
  int r = surf3Dread<int>(s, k * 4, k, k, cudaBoundaryModeZero);
  out[0] = make_float4(a.x + b.y + c.z + d.w + e.x, f.x + g.y + h.z + i.w, u.x + m.y + one,
                       v.x + r);
}
