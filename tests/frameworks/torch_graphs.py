"""A captured graph of PyTorch, replayed five times: torch_graphs.py graph|compiled [ok].

Without ok the third replay gets a negative number, and its logarithm is NaN.
"""
import sys

import torch

what, ok = sys.argv[1], len(sys.argv) > 2
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(),
                            torch.nn.Linear(64, 64)).cuda()
x = torch.ones(8, 64, device="cuda")


def forward(x):
    return torch.log(x) + model(x)


with torch.no_grad():
    if what == "compiled":
        run = torch.compile(forward, mode="reduce-overhead")
        for i in range(5):
            y = run(x)
    else:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                forward(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = forward(x)
        for i in range(5):
            x.fill_(-1.0 if i == 2 and not ok else i + 1.0)
            graph.replay()  # the line of the replay
    torch.cuda.synchronize()
print(what, "%.6g" % float(y.sum()))
