"""NaN and infinity in PyTorch, with a bug or without: torch_numbers.py WHAT [ok]."""
import sys

import torch

what, ok = sys.argv[1], len(sys.argv) > 2
dtype = torch.bfloat16 if "bf16" in what else torch.float32
a = torch.ones(512, 512, device="cuda", dtype=dtype)
x = torch.randn(64, 256, device="cuda", dtype=dtype)


def softmax_with_mask():
    scores = x @ x.T
    mask = torch.full((64, 64), float("-inf"), device="cuda", dtype=dtype).triu(1)
    return torch.softmax(scores + mask, dim=-1)


def training():
    layer = torch.nn.Sequential(torch.nn.Linear(256, 128), torch.nn.GELU(), torch.nn.LayerNorm(128),
                                torch.nn.Linear(128, 10)).cuda().to(dtype)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
    target = torch.randint(0, 10, (64,), device="cuda")
    target[3] = -100  # left out
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(layer(x).float(), target)
        loss.backward()
        optimizer.step()
    return loss


if what.startswith("log"):
    a[3, 4] = 2 if ok else -2
    result = torch.log(a)  # born here: log
elif what.startswith("matmul"):
    a.fill_(1 if ok else 1e19 if dtype == torch.float32 else 1e20)
    result = a @ a  # born here: matmul
elif what.startswith("divide"):
    b = torch.ones_like(a)
    b[1, 2] = 1 if ok else 0
    result = a / b  # born here: divide
elif what.startswith("backward"):
    a[1, 2] = 1 if ok else 0
    a.requires_grad_(True)
    loss = torch.sqrt(a).sum()  # born here: backward
    loss.backward()
    result = a.grad
elif what.startswith("mask"):
    result = softmax_with_mask()
elif what.startswith("training"):
    result = training()
torch.cuda.synchronize()
print(what, result.float().sum().item())
