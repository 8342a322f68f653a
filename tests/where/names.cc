// A C++ name with a namespace, a template and an argument.
#include <cstdint>

extern "C" uint32_t test_capture(uint64_t *frames, uint32_t max);
extern "C" void test_save(const char *path, const char *label, const uint64_t *frames, uint32_t n);

namespace outer {
template <typename T> __attribute__((noinline)) void call(const char *path, T value) {
  uint64_t frames[48];
  test_save(path, "names", frames, test_capture(frames, 48));
  asm volatile("" ::"r"(value) : "memory");
}
}  // namespace outer

int main(int argc, char **argv) {
  outer::call<int>(argv[1], argc);
  return 0;
}
