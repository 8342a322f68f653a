"""The OpenCL calls that tests in Python need, and numbers of OpenCL C as bytes."""
import ctypes
import struct
import sys

INTEGERS = ('char', 'uchar', 'short', 'ushort', 'int', 'uint', 'long', 'ulong')
REALS = ('float', 'double')
FORMATS = dict(char='b', uchar='B', short='h', ushort='H', int='i', uint='I', long='q', ulong='Q',
               float='f', double='d', half='e')
SIZES = {name: struct.calcsize('<' + f) for name, f in FORMATS.items()}
WIDTHS = (1, 2, 3, 4, 8, 16)


def vector(name, width):
    return name if width == 1 else '%s%d' % (name, width)


def pack(name, values):
    return struct.pack('<%d%s' % (len(values), FORMATS[name]), *values)


def unpack(name, data):
    return struct.unpack('<%d%s' % (len(data) // SIZES[name], FORMATS[name]), data)


class Host:
    def __init__(self):
        self.cl = ctypes.CDLL('libOpenCL.so.1')
        for name in ('clCreateContext', 'clCreateCommandQueue', 'clCreateBuffer', 'clCreateKernel',
                     'clCreateProgramWithSource'):
            getattr(self.cl, name).restype = ctypes.c_void_p
        platform, self.device = ctypes.c_void_p(), ctypes.c_void_p()
        self.must(self.cl.clGetPlatformIDs(1, ctypes.byref(platform), None))
        self.must(self.cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1,
                                         ctypes.byref(self.device), None))
        self.context = self.made('clCreateContext', None, 1, ctypes.byref(self.device), None, None)
        self.queue = self.made('clCreateCommandQueue', self.context, self.device,
                               ctypes.c_uint64(0))

    def must(self, error):
        if error:
            sys.exit('OpenCL error %d' % error)

    def made(self, name, *arguments):
        error = ctypes.c_int()
        handle = getattr(self.cl, name)(*arguments, ctypes.byref(error))
        self.must(error.value)
        return ctypes.c_void_p(handle)

    def has(self, extension):
        text = ctypes.create_string_buffer(1 << 12)
        self.must(self.cl.clGetDeviceInfo(self.device, 0x1030, ctypes.c_size_t(len(text)), text,
                                          None))
        return extension in text.value.decode().split()

    def build(self, text, options=''):
        source = ctypes.c_char_p(text.encode())
        program = self.made('clCreateProgramWithSource', self.context, 1, ctypes.byref(source),
                            None)
        if self.cl.clBuildProgram(program, 0, None, options.encode(), None, None):
            log = ctypes.create_string_buffer(1 << 16)
            self.cl.clGetProgramBuildInfo(program, self.device, 0x1183, ctypes.c_size_t(len(log)),
                                          log, None)
            sys.exit(log.value.decode())
        return program

    def run(self, program, name, items, inputs, out_bytes, group=None):
        """Runs a kernel of buffers, the last of which it writes; returns its bytes."""
        kernel = self.made('clCreateKernel', program, name.encode())
        buffers = [self.made('clCreateBuffer', self.context, ctypes.c_uint64(33),
                             ctypes.c_size_t(len(data)), data) for data in inputs]
        out = ctypes.create_string_buffer(out_bytes)
        buffers.append(self.made('clCreateBuffer', self.context, ctypes.c_uint64(33),
                                 ctypes.c_size_t(out_bytes), out))
        for i, b in enumerate(buffers):
            self.must(self.cl.clSetKernelArg(kernel, i, ctypes.c_size_t(8), ctypes.byref(b)))
        size = ctypes.c_size_t(items)
        local = ctypes.byref(ctypes.c_size_t(group)) if group else None
        self.must(self.cl.clEnqueueNDRangeKernel(self.queue, kernel, 1, None, ctypes.byref(size),
                                                 local, 0, None, None))
        self.must(self.cl.clEnqueueReadBuffer(self.queue, buffers[-1], 1, ctypes.c_size_t(0),
                                              ctypes.c_size_t(out_bytes), out, 0, None, None))
        for b in buffers:
            self.cl.clReleaseMemObject(b)
        self.cl.clReleaseKernel(kernel)
        return out.raw
