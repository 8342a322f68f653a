// Automatic differentiation as PyTorch does it, in small: nodes with numbers, made by
// a forward pass in the thread of Python, executed by a backward pass in a thread of C++. Each step
// of the backward pass launches a kernel on 64 elements of a buffer of 64; one that is wrong, 4
// bytes further on.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuModuleLoadData(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **, void **);
int cuCtxSynchronize(void);
}

namespace at {
namespace sequence_number {
__attribute__((noinline)) uint64_t get_and_increment() {
  static thread_local uint64_t number = 7;
  return number++;
}
}  // namespace sequence_number
struct RecordFunction {
  static uint64_t currentThreadId();
};
__attribute__((noinline)) uint64_t RecordFunction::currentThreadId() {
  static uint64_t last;
  static thread_local uint64_t own = ++last;
  return own;
}
}  // namespace at

namespace torch {
namespace autograd {
struct Node : std::enable_shared_from_this<Node> {
  explicit Node(bool is_wrong)
      : sequence_nr_(at::sequence_number::get_and_increment()),
        thread_id_(at::RecordFunction::currentThreadId()), wrong(is_wrong) {}
  virtual ~Node() {}
  virtual void apply();

 protected:
  const uint64_t sequence_nr_;
  uint64_t topological_nr_ = 0;
  mutable bool has_parent_ = false;
  uint64_t thread_id_;
  bool wrong;
};
static thread_local std::shared_ptr<Node> evaluating;
__attribute__((noinline)) std::shared_ptr<Node> get_current_node() { return evaluating; }
}  // namespace autograd
}  // namespace torch
using torch::autograd::Node;

static void *context, *kernel;
static uint64_t buffer;
static std::vector<std::shared_ptr<Node>> graph;

void Node::apply() {
  uint64_t at = buffer + (wrong ? 4 : 0);
  void *params[] = {&at};
  cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr);
}

extern "C" int start(const char *ptx) {
  void *module;
  int device;
  return cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
         cuCtxSetCurrent(context) || cuModuleLoadData(&module, ptx) ||
         cuModuleGetFunction(&kernel, module, "fill") || cuMemAlloc_v2(&buffer, 64 * 4);
}
extern "C" void forward(int wrong) { graph.push_back(std::make_shared<Node>(wrong != 0)); }
extern "C" int backward() {
  std::thread([] {
    cuCtxSetCurrent(context);
    for (; !graph.empty(); graph.pop_back()) {
      torch::autograd::evaluating = graph.back();
      torch::autograd::evaluating->apply();
      long uses = torch::autograd::evaluating.use_count();
      if (uses != 2) printf("%ld references are left\n", uses);
      torch::autograd::evaluating.reset();
    }
  }).join();
  return cuCtxSynchronize();
}
