# A program in Python that uses the driver through ctypes, and fails in a kernel. Arguments: "held"
# keeps the interpreter's lock during calls.
import ctypes
import sys

cuda = (ctypes.PyDLL if "held" in sys.argv else ctypes.CDLL)("libcuda.so.1")
PTX = b""".version 7.8
.target sm_75
.address_size 64
.visible .entry bad() { .reg .b64 %a; mov.u64 %a, 16; st.global.u64 [%a], %a; ret; }
"""


def ok(result):
    assert result == 0, result


class Model:
    def __init__(self):
        self.context, self.module, self.kernel = ctypes.c_void_p(), ctypes.c_void_p(
            ), ctypes.c_void_p()
        ok(cuda.cuInit(0))
        ok(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0))
        ok(cuda.cuCtxSetCurrent(self.context))
        ok(cuda.cuModuleLoadData(ctypes.byref(self.module), PTX))
        ok(cuda.cuModuleGetFunction(ctypes.byref(self.kernel), self.module, b"bad"))

    def forward(self):
        shape = (1, 1, 1, 1, 1, 1)
        ok(cuda.cuLaunchKernel(self.kernel, *shape, 0, None, None, None))  # label: launch


def train(model):
    for _ in range(1):
        model.forward()  # label: train


train(Model())  # label: main
print("result", cuda.cuCtxSynchronize())
