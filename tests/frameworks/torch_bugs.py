"""cuBLAS on tensors of PyTorch, with a bug or without: torch_bugs.py overrun|freed [ok].

overrun: the result does not fit into its tensor. freed: a matrix was freed before the call.
"""
import ctypes
import os
import sys

import torch


def cublas():
    folders = [os.path.join(p, "nvidia") for p in sys.path if os.path.isdir(os.path.join(p,
        "nvidia"))]
    for folder in folders:
        for path, _, files in os.walk(folder):
            for name in files:
                if name.startswith("libcublas.so"):
                    return ctypes.CDLL(os.path.join(path, name))
    return ctypes.CDLL("libcublas.so.13")


def multiply(a, b, c, n):
    library, handle = cublas(), ctypes.c_void_p()
    library.cublasCreate_v2(ctypes.byref(handle))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    library.cublasSgemm_v2(handle, 0, 0, n, n, n, ctypes.byref(one), ctypes.c_void_p(a), n,
                           ctypes.c_void_p(b), n, ctypes.byref(zero), ctypes.c_void_p(c), n)


what, ok, n = sys.argv[1], len(sys.argv) > 2, 256
a = torch.randn(n, n, device="cuda")
b = torch.randn(n, n, device="cuda")
rows = n if ok or what != "overrun" else n - 4
c = torch.zeros(rows, n, device="cuda")
address = a.data_ptr()
torch.cuda.synchronize()
if what == "freed" and not ok:
    del a
multiply(address, b.data_ptr(), c.data_ptr(), n)  # the line of the launch
torch.cuda.synchronize()
print("sum", float(c.sum()) == float(c.sum()))
