"""Tensors that two streams use: torch_streams.py reuse|wait [ok].

reuse: a tensor of the main stream is read on another one and freed; PyTorch's cache gives its
memory to the next tensor, since nobody called record_stream. wait: what another stream writes is
read without waiting for it."""
import sys

import torch

what, ok = sys.argv[1], len(sys.argv) > 2
n = 1 << 22
side = torch.cuda.Stream()
work = torch.randn(2048, 2048, device="cuda")
total = torch.zeros(n, device="cuda")
torch.cuda.synchronize()
if what == "reuse":
    x = torch.ones(n, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(20):
            work = work @ work * 1e-3
        torch.add(total, x, out=total)
    if ok:
        x.record_stream(side)
    del x
    y = torch.full((n,), 7.0, device="cuda")  # where x was
    torch.cuda.synchronize()
    print(y[0].item())
if what == "wait":
    with torch.cuda.stream(side):
        torch.add(total, 1, out=total)
    if ok:
        torch.cuda.current_stream().wait_stream(side)
    print((total * 2)[0].item())
