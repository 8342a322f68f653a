# A training step of a small network, matrix products, convolution, softmax in PyTorch, whose
# kernels are machine code only.
# needs: torch
# coverage: any
# seconds: 90
import hashlib
import torch

torch.manual_seed(7)
torch.use_deterministic_algorithms(True, warn_only=True)
torch.backends.cudnn.deterministic = True


def show(name, t):
    print(name, tuple(t.shape), hashlib.sha256(t.detach().cpu().contiguous().numpy().tobytes(
        )).hexdigest()[:16])


def draw(*shape):                                    # the same numbers on every machine
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape))).cuda()


a, b = draw(257, 129), draw(129, 65)
show("matmul", a @ b)
show("half matmul", a.half() @ b.half())
show("softmax", torch.softmax(a, dim=1))
show("convolution", torch.nn.functional.conv2d(draw(2, 3, 32, 32), draw(8, 3, 3, 3), padding=1))
show("sort", torch.sort(a.flatten())[0])
show("cumulative sum", torch.cumsum((a.flatten() * 100).int(), 0))

net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                          torch.nn.Linear(8 * 30 * 30, 32), torch.nn.LayerNorm(32),
                          torch.nn.Linear(32, 10))
net = net.cuda()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x, y = draw(16, 3, 32, 32), torch.arange(16).cuda() % 10
for step in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    show(f"loss {step}", loss)
for i, p in enumerate(net.parameters()):
    show(f"parameter {i}", p)

graph = torch.cuda.CUDAGraph()                       # capture and replay
z = torch.zeros(1000, device="cuda")
s = torch.cuda.Stream()
with torch.cuda.stream(s):
    z.add_(1)
torch.cuda.current_stream().wait_stream(s)
with torch.cuda.graph(graph):
    z.mul_(2).add_(1)
for _ in range(5):
    graph.replay()
torch.cuda.synchronize()
show("graph", z)
