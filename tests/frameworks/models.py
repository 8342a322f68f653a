"""Correct models of several kinds, one training step or two each: models.py NAME."""
import sys

name = sys.argv[1]


def torch_model():
    import torch
    from torch import nn

    torch.manual_seed(0)
    device = "cuda"
    kind = name.removesuffix("-compiled").removesuffix("-bf16")
    if kind == "convolution":
        model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                              nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.AdaptiveAvgPool2d(4),
                              nn.Flatten(), nn.Dropout(0.1), nn.Linear(512, 10))
        inputs = torch.randn(8, 3, 32, 32)
    elif kind == "attention":
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
        model, inputs = Attention(), torch.randn(4, 33, 64)
    elif kind == "embedding":
        model = nn.Sequential(nn.EmbeddingBag(1000, 64), nn.LayerNorm(64), nn.GELU(),
                              nn.Linear(64, 10))
        inputs = torch.randint(0, 1000, (16, 20))
    elif kind == "recurrent":
        class Recurrent(nn.Module):
            def __init__(self):
                super().__init__()
                self.lstm, self.out = nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 10)

            def forward(self, x):
                return self.out(self.lstm(x)[0][:, -1])
        model, inputs = Recurrent(), torch.randn(8, 20, 32)
    else:
        raise SystemExit("unknown model " + name)
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


def cupy_model():
    import cupy

    x = cupy.random.default_rng(1).standard_normal((300, 257), dtype=cupy.float32)
    y = cupy.exp(x) / (1 + cupy.exp(x))
    print(name, float(y.sum()), float(y.max(axis=1).mean()), float((x @ x.T).trace()),
          int(cupy.argsort(x[0]).sum()))


{"jax": jax_model, "cupy": cupy_model}.get(name, torch_model)()
