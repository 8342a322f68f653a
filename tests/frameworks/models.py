"""Correct models of several kinds, one training step or two each: models.py NAME."""
import sys

name = sys.argv[1]


def torch_parts(kind):
    """A model and its inputs."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.project, self.out = nn.Linear(64, 192), nn.Linear(64, 10)

        def forward(self, x):
            q, k, v = self.project(x).reshape(4, 33, 3, 4, 16).permute(2, 0, 3, 1, 4)
            mask = torch.ones(33, 33, device=x.device, dtype=torch.bool).tril()
            scores = (q @ k.transpose(-1, -2) / 4).masked_fill(~mask, float("-inf"))
            mixed = torch.softmax(scores, -1) @ v
            return self.out(mixed.transpose(1, 2).reshape(4, 33, 64)).mean(1)

    class Fused(Attention):
        def forward(self, x):
            q, k, v = self.project(x).reshape(4, 33, 3, 4, 16).permute(2, 0, 3, 1, 4)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(mixed.transpose(1, 2).reshape(4, 33, 64)).mean(1)

    class Recurrent(nn.Module):
        def __init__(self, cell):
            super().__init__()
            self.cell, self.out = cell(32, 64, batch_first=True), nn.Linear(64, 10)

        def forward(self, x):
            return self.out(self.cell(x)[0][:, -1])

    class Sums(nn.Module):  # scans and reductions over all axes
        def __init__(self):
            super().__init__()
            self.weights = nn.Parameter(torch.ones(300))

        def forward(self, x):
            y = torch.cumsum(x * self.weights, 1) / 300 + x.var(0, keepdim=True) + x.amax(1, True)
            return torch.log_softmax(y, 1)[:, :10] + y.pow(2).mean(1, True).sqrt()

    def pictures(*layers):
        return nn.Sequential(*layers), torch.randn(8, 3, 32, 32)

    ends = nn.AdaptiveAvgPool2d(4), nn.Flatten()
    if kind == "convolution":
        return pictures(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), *ends, nn.Dropout(0.1),
                        nn.Linear(512, 10))
    if kind == "depthwise":
        return pictures(nn.Conv2d(3, 12, 1), nn.Conv2d(12, 12, 3, groups=12, stride=2),
                        nn.GroupNorm(3, 12), nn.SiLU(), *ends, nn.Linear(192, 10))
    if kind == "transposed":
        return pictures(nn.Conv2d(3, 8, 4, stride=2), nn.InstanceNorm2d(8, affine=True),
                        nn.LeakyReLU(), nn.ConvTranspose2d(8, 6, 4, stride=2), nn.Upsample(
                            scale_factor=2), *ends, nn.Linear(96, 10))
    if kind == "attention":
        return Attention(), torch.randn(4, 33, 64)
    if kind == "fused":
        return Fused(), torch.randn(4, 33, 64)
    if kind == "encoder":
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        return nn.Sequential(layer, nn.Flatten(), nn.Linear(64 * 17, 10)), torch.randn(4, 17, 64)
    if kind == "embedding":
        return (nn.Sequential(nn.EmbeddingBag(1000, 64), nn.LayerNorm(64), nn.GELU(),
                              nn.Linear(64, 10)), torch.randint(0, 1000, (16, 20)))
    if kind == "language":
        return (nn.Sequential(nn.Embedding(997, 48), nn.RMSNorm(48), nn.Flatten(), nn.Linear(
            48 * 19, 10)), torch.randint(0, 997, (16, 19)))
    if kind == "recurrent":
        return Recurrent(nn.LSTM), torch.randn(8, 20, 32)
    if kind == "gated":
        return Recurrent(nn.GRU), torch.randn(8, 20, 32)
    if kind == "perceptron":
        return (nn.Sequential(nn.Linear(129, 257), nn.Tanh(), nn.BatchNorm1d(257), nn.Linear(
            257, 10)), torch.randn(37, 129))
    if kind == "sums":
        return Sums(), torch.randn(21, 300)
    raise SystemExit("unknown model " + name)


def torch_model():
    import torch
    from torch import nn

    torch.manual_seed(0)
    device = "cuda"
    model, inputs = torch_parts(name.removesuffix("-compiled").removesuffix("-bf16"))
    model, inputs = model.to(device), inputs.to(device)
    if name.endswith("-compiled"):
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    target = torch.randint(0, 10, (inputs.shape[0],), device=device)
    for _ in range(2):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled="-bf16" in name):
            loss = nn.functional.cross_entropy(model(inputs), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    scores, order = model(inputs).float().sort(dim=-1)
    print(name, loss.item(), order.sum().item(), torch.topk(scores, 3).values.sum().item())


def triton_model():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)

    @triton.jit
    def softmax(out, x, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * n + tl.arange(0, BLOCK)
        inside = tl.arange(0, BLOCK) < n
        row = tl.load(x + at, inside, other=-float("inf"))
        e = tl.exp(row - tl.max(row, 0))
        tl.store(out + at, e / tl.sum(e, 0), inside)

    @triton.jit
    def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
        rows = tl.program_id(0) * M + tl.arange(0, M)
        columns = tl.program_id(1) * N + tl.arange(0, N)
        steps = tl.arange(0, K)
        sums = tl.zeros((M, N), tl.float32)
        for i in range(0, tl.cdiv(k, K)):
            inside = steps < k - i * K
            left = tl.load(a + rows[:, None] % m * k + i * K + steps[None, :], inside[None, :], 0.0)
            right = tl.load(b + (i * K + steps[:, None]) * n + columns[None, :] % n,
                            inside[:, None], 0.0)
            sums = tl.dot(left, right, sums)
        where = (rows[:, None] < m) & (columns[None, :] < n)
        tl.store(c + rows[:, None] * n + columns[None, :], sums.to(tl.float16), where)

    @triton.jit
    def norm(x, out, weight, n, BLOCK: tl.constexpr):
        at, row = tl.arange(0, BLOCK), tl.program_id(0)
        v = tl.load(x + row * n + at, at < n, 0.0)
        mean = tl.sum(v, 0) / n
        d = tl.where(at < n, v - mean, 0.0)
        scale = 1 / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
        tl.store(out + row * n + at, d * scale * tl.load(weight + at, at < n), at < n)

    torch.manual_seed(0)
    x, y = torch.randn(5, 781, device="cuda"), torch.randn(5, 781, device="cuda")
    z, s, w = torch.empty_like(x), torch.empty_like(x), torch.ones(781, device="cuda")
    add[(4,)](x, y, z, x.numel(), BLOCK=1024)
    softmax[(5,)](s, x, 781, BLOCK=1024)
    norm[(5,)](x, z, w, 781, BLOCK=1024)
    a, b = (torch.randn(*f, device="cuda", dtype=torch.float16) for f in ((200, 160), (160, 144)))
    c = torch.empty(200, 144, device="cuda", dtype=torch.float16)
    product[(4, 3)](a, b, c, 200, 144, 160, M=64, N=64, K=32)
    print(name, z.sum().item(), s.sum().item(), torch.allclose(c, a @ b, atol=0.1))


def jax_model():
    import jax
    import jax.numpy as jnp

    def loss(w, x):
        return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - 1) ** 2) + jnp.sort(x, axis=0)[0, 0] * 0

    w = [jax.random.normal(jax.random.key(i), s) * 0.1 for i, s in enumerate([(64, 32), (32, 1)])]
    x = jax.random.normal(jax.random.key(9), (128, 64))
    step = jax.jit(lambda w: [a - 0.1 * g for a, g in zip(w, jax.grad(loss)(w, x))])
    for _ in range(2):
        w = step(w)
    print(name, float(loss(w, x)), float(jnp.cumsum(x).sum()))


def jax_models():
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.key(3), 8)

    def normal(i, *shape):
        return jax.random.normal(keys[i], shape) * 0.1

    def convolution(w, x):
        y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")
        y = (y - y.mean((0, 2, 3), keepdims=True)) * jax.lax.rsqrt(y.var((0, 2, 3),
                                                                         keepdims=True) + 1e-5)
        return jax.nn.relu(y).mean()

    def attention(w, x):
        q, k, v = jnp.split(x @ w, 3, axis=-1)
        scores = jnp.where(jnp.tril(jnp.ones((33, 33), bool)), q @ k.transpose(0, 2, 1) / 4, -1e9)
        return (jax.nn.softmax(scores) @ v).mean()

    def recurrent(w, x):
        return jax.lax.scan(lambda h, row: (jnp.tanh(h @ w + row), h.sum()), jnp.zeros((8, 32)),
                            x)[1].mean()

    def embedding(w, x):
        at = (jnp.abs(x) * 1000).astype(jnp.int32) % 97
        return jax.nn.log_softmax(w[at].sum(1)).mean()

    parts = {"convolution": (convolution, normal(0, 8, 3, 3, 3), normal(1, 4, 3, 16, 16)),
             "attention": (attention, normal(2, 64, 192), normal(3, 4, 33, 64)),
             "recurrent": (recurrent, normal(4, 32, 32), normal(5, 12, 8, 32)),
             "embedding": (embedding, normal(6, 97, 32), normal(7, 16, 20))}
    f, w, x = parts[name.removeprefix("jax-")]
    value, slope = jax.jit(jax.value_and_grad(f))(w, x)
    print(name, float(value), float(slope.sum()))


def cupy_model():
    import cupy

    x = cupy.random.default_rng(1).standard_normal((300, 257), dtype=cupy.float32)
    y = cupy.exp(x) / (1 + cupy.exp(x))
    print(name, float(y.sum()), float(y.max(axis=1).mean()), float((x @ x.T).trace()),
          int(cupy.argsort(x[0]).sum()))


def cupy_kernels():
    import cupy

    x = cupy.arange(10007, dtype=cupy.float32) / 100
    square = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "square")
    length = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "length")
    raw = cupy.RawKernel(r"""extern "C" __global__ void twice(const float *x, float *y, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = 2 * x[i];
    }""", "twice")
    y = cupy.empty_like(x)
    raw((40,), (256,), (x, y, cupy.int32(x.size)))
    print(name, float(square(x, y).sum()), float(length(y)), float(cupy.cumsum(x)[-1]),
          float(cupy.median(x)), int(cupy.unique(x.astype(cupy.int32)).size),
          float(cupy.histogram(x, 16)[0].max()))


def main():
    whole = {"jax": jax_model, "cupy": cupy_model, "cupy-kernels": cupy_kernels,
             "triton": triton_model}
    if name in whole:
        whole[name]()
    elif name.startswith("jax-"):
        jax_models()
    else:
        torch_model()


main()
