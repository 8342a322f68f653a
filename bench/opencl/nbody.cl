kernel void nbody(global float4 *force, global const float4 *body, int n)
{
    int i = get_global_id(0);
    float4 me = body[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
        float strength = other.w * inverse * inverse * inverse;
        fx += dx * strength;
        fy += dy * strength;
        fz += dz * strength;
    }
    force[i] = (float4)(fx, fy, fz, 0.0f);
}
