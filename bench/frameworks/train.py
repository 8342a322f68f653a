"""Time of one training step of a transformer layer in PyTorch: forward, backward, AdamW.

train.py small|large fp32|bf16 [STEPS]: prints the median in milliseconds, and the loss. `small` is
bound by the host, `large` keeps the GPU busy. Run it plainly and under a tool, and divide.
"""
import sys
import time

import torch

size, dtype = sys.argv[1], sys.argv[2]
steps = int(sys.argv[3]) if len(sys.argv) > 3 else 20
width, batch, length = (64, 4, 16) if size == "small" else (1024, 32, 512)

torch.manual_seed(1)
layer = torch.nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True).cuda()
head = torch.nn.Linear(width, 10).cuda()
optimizer = torch.optim.AdamW(list(layer.parameters()) + list(head.parameters()), lr=1e-3)
x = torch.randn(batch, length, width, device="cuda")
y = torch.randint(0, 10, (batch * length,), device="cuda")


def step():
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=dtype == "bf16"):
        out = head(layer(x)).reshape(batch * length, 10)
        loss = torch.nn.functional.cross_entropy(out, y)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(5):
    loss = step()
torch.cuda.synchronize()
times = []
for _ in range(steps):
    start = time.perf_counter()
    loss = step()
    torch.cuda.synchronize()
    times.append(time.perf_counter() - start)
times.sort()
print("%s %s: %.3f ms a step, loss %.9g" % (size, dtype, times[len(times) // 2] * 1e3, loss.item()))
