"""A training loop whose loss becomes NaN after some steps: train.py; train.py ok does not.

The features drift away from 0, as those of a badly scaled input do. The variance is computed as
the mean of squares less the square of the mean: two large numbers whose difference is rounding
errors, and negative for some rows.
"""
import sys

import torch

ok = len(sys.argv) > 1


def normalise(x):
    mean = x.mean(dim=1, keepdim=True)
    if ok:
        variance = ((x - mean) ** 2).mean(dim=1, keepdim=True)
    else:
        variance = (x * x).mean(dim=1, keepdim=True) - mean * mean
    return (x - mean) / (variance.sqrt() + 1e-6)  # NaN is born here


torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    features = torch.randn(256, 64, device="cuda") * 0.01 + 8 * step
    labels = torch.randint(0, 4, (256,), device="cuda")
    loss = torch.nn.functional.cross_entropy(model(normalise(features)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f" % (step, loss.item()))
