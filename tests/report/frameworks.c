// Stacks of frameworks: which frames are theirs, and the operator they carry out.
#include <stdio.h>

#include "report/internal.h"

#define TORCH "/opt/lib/libtorch_cuda.so"
static void show(const char *what, const RunFrame *f, uint32_t n) {
  Str out = {0};
  bool known = report_operator(f, n, &out);
  printf("%s: %s\n", what, known ? out.data : "none");
  str_free(&out);
}

int main(void) {
  const RunFrame log[] = {{.function = "at::native::log_kernel(at::Tensor&)", .object = TORCH},
                          {.function = "at::_ops::log::redispatch(int)", .object = TORCH},
                          {.function = "at::_ops::log::call(at::Tensor const&)", .object = TORCH}},
                 loss[] = {{.function = "at::_ops::nll_loss_forward::call(int)", .object = TORCH},
                           {.function = "at::native::cross_entropy()", .object = TORCH},
                           {.function = "at::_ops::cross_entropy_loss::call()", .object = TORCH}},
                 backward[] = {{.function = "at::_ops::div_Tensor::call(int)", .object = TORCH},
                               {.function = "torch::autograd::generated::SqrtBackward0::apply(int)",
                                .object = TORCH}},
                 none[] = {{.function = "c10::cuda::allocate(long)", .object = TORCH},
                           {.function = NULL}};
  show("log", log, 3);
  show("loss", loss, 3);
  show("backward", backward, 2);
  show("none", none, 2);
  static const char *const objects[] = {
      TORCH, "libc10.so", "/usr/bin/python3.12", "/x/xla_cuda_plugin.so", "/x/libmine.so", NULL};
  for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
    const char *framework = report_framework(&(RunFrame){.object = objects[i]});
    printf("%s: %s\n", objects[i] ? objects[i] : "no object", framework ? framework : "none");
  }
  return 0;
}
