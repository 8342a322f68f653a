# A kernel in Triton that divides, between kernels of PyTorch's own, which have no PTX. Run by
# frameworks.sh.
# needs: torch, triton
import sys
import torch
import triton
import triton.language as tl


@triton.jit
def divide(x, y, out, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    a = tl.load(x + i)
    b = tl.load(y + i)
    tl.store(out + i, a / b)  # bug: 0 / 0


x = torch.arange(4096, device="cuda", dtype=torch.float32) + (1 if "good" in sys.argv else 0)
out = torch.empty_like(x)
divide[(16,)](x, x, out, SIZE=256)  # launches
print(float((out * 2).nan_to_num().sum()))
