"""One rank of a torchrun: the square root of negative numbers in rank 1. torch_ranks.py [ok]."""
import os
import sys

import torch

rank = int(os.environ["RANK"])
x = torch.full((1000,), -1.0 if rank == 1 and len(sys.argv) == 1 else 1.0, device="cuda:0")
y = torch.sqrt(x)  # born here
torch.cuda.synchronize()
print("rank", rank, "of", os.environ["WORLD_SIZE"])
