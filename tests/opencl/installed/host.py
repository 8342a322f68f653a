"""Runs the kernel `example` of an OpenCL C file, as PyOpenCL would: the library is opened at run
time. host.py FILE.cl"""
import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from host import Host, pack

N = 1000
h = Host()
kernel = h.made('clCreateKernel', h.build(open(sys.argv[1]).read()), b'example')
data = pack('float', [float(i % 10) for i in range(N)])
buffers = [h.made('clCreateBuffer', h.context, ctypes.c_uint64(1 | 32), ctypes.c_size_t(len(data)),
                  data) for _ in range(2)]
for i, b in enumerate(buffers):
    h.must(h.cl.clSetKernelArg(kernel, i, ctypes.c_size_t(8), ctypes.byref(b)))
h.must(h.cl.clSetKernelArg(kernel, 2, ctypes.c_size_t(256), None))
h.must(h.cl.clSetKernelArg(kernel, 3, ctypes.c_size_t(4), ctypes.byref(ctypes.c_int(N))))
h.must(h.cl.clEnqueueNDRangeKernel(h.queue, kernel, 1, None, ctypes.byref(ctypes.c_size_t(1024)),
                                   ctypes.byref(ctypes.c_size_t(64)), 0, None, None))
h.must(h.cl.clFinish(h.queue))
