extern "C" __global__ void nbody(float4 *force, const float4 *body, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float strength = other.w * inverse * inverse * inverse;
        fx += dx * strength;
        fy += dy * strength;
        fz += dz * strength;
    }
    force[i] = make_float4(fx, fy, fz, 0.0f);
}
