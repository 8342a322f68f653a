# torch.compile: kernels that Triton compiles while the program runs.
# needs: torch
# coverage: any
# seconds: 150
import hashlib
import torch
import torch._inductor.config

config = torch._inductor.config
config.compile_threads = 1
# what is chosen by timing may add in another order
config.triton.autotune_pointwise = False
if hasattr(config, "deterministic"):
    config.deterministic = True


def show(name, t):
    print(name, tuple(t.shape), hashlib.sha256(t.detach().cpu().contiguous().numpy().tobytes(
        )).hexdigest()[:16])


@torch.compile
def block(x, w):
    h = torch.nn.functional.gelu(x @ w)
    return torch.softmax(h, dim=-1) * h.sum(dim=-1, keepdim=True)


g = torch.Generator().manual_seed(3)
x, w = torch.randn(64, 96, generator=g).cuda(), torch.randn(96, 48, generator=g).cuda()
show("block", block(x, w))
show("again", block(x + 1, w))
