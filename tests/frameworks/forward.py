"""A forward pass and a backward pass by fake_torch.cc: forward.py LIBRARY [ok]."""
import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 to) {
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [to];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r0;
  ret;
}
"""
torch = ctypes.CDLL(sys.argv[1])
wrong = len(sys.argv) < 3


def scale():
    torch.forward(0)


def normalise():
    scale()
    torch.forward(wrong)  # the line of the wrong step
    scale()


assert torch.start(PTX) == 0
normalise()
print("done", torch.backward())
