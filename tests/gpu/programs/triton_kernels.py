# Kernels written in Triton.
# needs: triton, torch
# coverage: any
# seconds: 90
import hashlib
import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + 2 * tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def row_softmax(x, out, columns, SIZE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, SIZE)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@triton.jit
def matmul(a, b, c, N: tl.constexpr, T: tl.constexpr):
    r, s = tl.program_id(0) * T + tl.arange(0, T), tl.program_id(1) * T + tl.arange(0, T)
    k = tl.arange(0, T)
    total = tl.zeros((T, T), dtype=tl.float32)
    for j in range(0, N, T):
        total += tl.dot(tl.load(a + r[:, None] * N + (j + k)[None, :]),
                        tl.load(b + (j + k)[:, None] * N + s[None, :]))
    tl.store(c + r[:, None] * N + s[None, :], total)


def show(name, t):
    print(name, hashlib.sha256(t.cpu().numpy().tobytes()).hexdigest()[:16])


g = torch.Generator().manual_seed(1)
x, y = torch.randn(10000, generator=g).cuda(), torch.randn(10000, generator=g).cuda()
out = torch.empty_like(x)
add[(40,)](x, y, out, 10000, SIZE=256)
assert torch.allclose(out, x + 2 * y)
show("add", out)
m = torch.randn(100, 200, generator=g).cuda()
s = torch.empty_like(m)
row_softmax[(100,)](m, s, 200, SIZE=256)
assert torch.allclose(s, torch.softmax(m, 1), atol=1e-6)
show("softmax", s)
a, b = torch.randn(128, 128, generator=g).half().cuda(), torch.randn(128, 128,
    generator=g).half().cuda()
c = torch.empty(128, 128, device="cuda")
matmul[(4, 4)](a, b, c, N=128, T=32)
assert torch.allclose(c, a.float() @ b.float(), atol=1e-2)
show("matmul", c)
print("all checks passed")
