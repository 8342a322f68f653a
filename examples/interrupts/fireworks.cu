// nvcc: -Iinclude
// The particle system of Hou, Zhou and Guo (appendix, listing 7): drawparticles is an interrupt of
// the simulation, its handler launches a kernel that calls another interrupt, drawtriangle, up to
// three times for each particle, and that one's handler launches the kernel that fills triangles.
// With a file name as argument each frame is written as a PNG picture: NAME0.png, NAME1.png, …
#include <cstdio>
#include <string>
#include <vector>

#include "warpgrind.h"

enum { WIDTH = 256, HEIGHT = 144, MOST = 20000, FRAMES = 4, STEPS = 15 };
enum Kind { NONE, PRIMARY, SECONDARY, LEAF };
struct Particle {
  float x, y, vx, vy;
  int kind, age;
};
struct Corner { float x, y; };

static unsigned *picture;  // on the device: 0xRRGGBB
static unsigned triangles;

// --- drawtriangle ---

WG_INTERRUPT(drawtriangle, void(Corner a, Corner b, Corner c, unsigned color));

__global__ void fill(unsigned *picture, const Corner *a, const Corner *b, const Corner *c,
                     const unsigned *color, int n) {
  int t = blockIdx.x;
  if (t >= n) return;
  Corner p = a[t], q = b[t], r = c[t];
  float area = (q.x - p.x) * (r.y - p.y) - (r.x - p.x) * (q.y - p.y);
  int left = max(0, (int)fminf(p.x, fminf(q.x, r.x)));
  int right = min(WIDTH - 1, (int)fmaxf(p.x, fmaxf(q.x, r.x)));
  int top = max(0, (int)fminf(p.y, fminf(q.y, r.y)));
  int bottom = min(HEIGHT - 1, (int)fmaxf(p.y, fmaxf(q.y, r.y)));
  for (int y = top + (int)threadIdx.x; y <= bottom; y += (int)blockDim.x)
    for (int x = left; x <= right; x++) {
      float u = ((q.x - x) * (r.y - y) - (r.x - x) * (q.y - y)) * area;
      float v = ((r.x - x) * (p.y - y) - (p.x - x) * (r.y - y)) * area;
      float w = ((p.x - x) * (q.y - y) - (q.x - x) * (p.y - y)) * area;
      if (u >= 0 && v >= 0 && w >= 0) atomicMax(&picture[y * WIDTH + x], color[t]);
    }
}

WG_HANDLER(drawtriangle, wg_callers &callers, wg_list<Corner> a, wg_list<Corner> b,
           wg_list<Corner> c, wg_list<unsigned> color) {
  int n = (int)callers.size();
  triangles += (unsigned)n;
  fill<<<n, 32>>>(picture, a.d, b.d, c.d, color.d, n);
}

// --- drawparticles ---

WG_INTERRUPT(drawparticles, void(Particle p));

// A triangle in the direction of flight; those that will explode have an arrow's tail.
__global__ void gpu_drawparticles(const Particle *list, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  Particle p = list[i];
  float size = p.kind == PRIMARY ? 6 : p.kind == SECONDARY ? 4 : 2;
  float speed = sqrtf(p.vx * p.vx + p.vy * p.vy) + 1e-3f;
  float dx = p.vx / speed * size, dy = p.vy / speed * size;
  unsigned color = p.kind == PRIMARY ? 0xff4030 : p.kind == SECONDARY ? 0x4060ff : 0x30c040;
  drawtriangle(Corner{p.x + dx, p.y + dy}, Corner{p.x - dy / 2, p.y + dx / 2},
               Corner{p.x + dy / 2, p.y - dx / 2}, color);
  if (p.kind == LEAF) return;
  drawtriangle(Corner{p.x, p.y}, Corner{p.x - dx - dy / 4, p.y - dy + dx / 4},
               Corner{p.x - dx + dy / 4, p.y - dy - dx / 4}, color);
  drawtriangle(Corner{p.x - dx, p.y - dy}, Corner{p.x - 2 * dx - dy / 3, p.y - 2 * dy + dx / 3},
               Corner{p.x - 2 * dx + dy / 3, p.y - 2 * dy - dx / 3}, color);
}

WG_HANDLER(drawparticles, wg_callers &callers, wg_list<Particle> p) {
  int n = (int)callers.size();
  gpu_drawparticles<<<(n + 127) / 128, 128>>>(p.d, n);
}

// --- the simulation ---

__device__ void explode(Particle *all, int *count, const Particle &p, int parts, int kind) {
  int first = atomicAdd(count, parts);
  for (int k = 0; k < parts && first + k < MOST; k++) {
    float angle = 6.2831853f * k / parts, speed = kind == LEAF ? 1.0f : 2.0f;
    all[first + k] = {p.x, p.y, p.vx * 0.3f + speed * cosf(angle), p.vy * 0.3f + speed * sinf(angle),
                      kind, 0};
  }
}

__global__ void simulate(Particle *all, int *count, int n, bool visualize) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  Particle p = all[i];
  if (p.kind == NONE) return;
  p.x += p.vx;
  p.y += p.vy;
  p.vy += 0.05f;
  p.age++;
  if (visualize) drawparticles(p);
  if (p.kind == PRIMARY && p.age == 20) {
    explode(all, count, p, 16, SECONDARY);
    explode(all, count, p, 256, LEAF);
    p.kind = NONE;
  } else if (p.kind == SECONDARY && p.age == 15) {
    explode(all, count, p, 32, LEAF);
    p.kind = NONE;
  } else if (p.kind == LEAF && p.age == 30) {
    p.kind = NONE;
  }
  all[i] = p;
}

// --- pictures: PNG without compression ---

static void put(std::vector<unsigned char> &out, unsigned v) {
  for (int s = 24; s >= 0; s -= 8) out.push_back((unsigned char)(v >> s));
}
static void chunk(FILE *f, const char *type, const std::vector<unsigned char> &data) {
  std::vector<unsigned char> out(type, type + 4), head;
  out.insert(out.end(), data.begin(), data.end());
  unsigned crc = ~0u;
  for (unsigned char b : out) {
    crc ^= b;
    for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  put(head, (unsigned)data.size());
  put(out, ~crc);
  fwrite(head.data(), 1, head.size(), f);
  fwrite(out.data(), 1, out.size(), f);
}
static void write_png(const std::string &name, const std::vector<unsigned> &pixels) {
  FILE *f = fopen(name.c_str(), "wb");
  if (!f) return;
  std::vector<unsigned char> head, rows, data = {0x78, 1};
  put(head, WIDTH);
  put(head, HEIGHT);
  for (int b : {8, 2, 0, 0, 0}) head.push_back((unsigned char)b);
  unsigned a = 1, b = 0;
  for (int y = 0; y < HEIGHT; y++) {
    rows.push_back(0);
    for (int x = 0; x < WIDTH; x++)
      for (int s = 16; s >= 0; s -= 8) rows.push_back((unsigned char)(pixels[y * WIDTH + x] >> s));
  }
  for (unsigned char c : rows) {
    a = (a + c) % 65521;
    b = (b + a) % 65521;
  }
  for (size_t at = 0; at < rows.size(); at += 65535) {
    size_t n = rows.size() - at < 65535 ? rows.size() - at : 65535;
    data.push_back(at + n == rows.size());
    for (size_t v : {n, n ^ 0xffff}) {
      data.push_back((unsigned char)v);
      data.push_back((unsigned char)(v >> 8));
    }
    data.insert(data.end(), rows.begin() + (long)at, rows.begin() + (long)(at + n));
  }
  put(data, b << 16 | a);
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
  chunk(f, "IHDR", head);
  chunk(f, "IDAT", data);
  chunk(f, "IEND", {});
  fclose(f);
}

int main(int argc, char **argv) {
  Particle *all, first[3] = {{60, 130, 0.8f, -4, PRIMARY, 0},
                             {128, 140, 0, -4.5f, PRIMARY, 2},
                             {200, 130, -0.6f, -4.2f, PRIMARY, 4}};
  int *count, n = 3;
  std::vector<unsigned> pixels(WIDTH * HEIGHT);
  cudaMalloc(&all, MOST * sizeof *all);
  cudaMalloc(&count, sizeof *count);
  cudaMalloc(&picture, pixels.size() * sizeof pixels[0]);
  cudaMemset(all, 0, MOST * sizeof *all);
  cudaMemcpy(all, first, sizeof first, cudaMemcpyHostToDevice);
  cudaMemcpy(count, &n, sizeof n, cudaMemcpyHostToDevice);
  for (int step = 1; step <= FRAMES * STEPS; step++) {
    bool frame = step % STEPS == 0;
    triangles = 0;
    if (frame) cudaMemset(picture, 0, pixels.size() * sizeof pixels[0]);
    simulate<<<(n + 127) / 128, 128>>>(all, count, n, frame);
    cudaMemcpy(&n, count, sizeof n, cudaMemcpyDeviceToHost);
    if (n > MOST) n = MOST;
    if (!frame) continue;
    cudaMemcpy(pixels.data(), picture, pixels.size() * sizeof pixels[0], cudaMemcpyDeviceToHost);
    size_t lit = 0;
    for (unsigned p : pixels) lit += p != 0;
    printf("frame %d: %u triangles, %s pixels\n", step / STEPS, triangles,
           lit > 100 ? "hundreds of" : lit ? "some" : "no");
    if (argc > 1) write_png(argv[1] + std::to_string(step / STEPS) + ".png", pixels);
  }
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(all);
  cudaFree(count);
  cudaFree(picture);
}
