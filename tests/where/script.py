# Python frames through a library that ctypes loads.
import ctypes
import sys
import threading

held = ctypes.PyDLL(sys.argv[1])      # calls keep the interpreter's lock
held.test_python.restype = ctypes.c_char_p
held.test_python_time.restype = ctypes.c_double
released = ctypes.CDLL(sys.argv[1])
released.test_python.restype = ctypes.c_char_p


def show(text):
    for frame in text.decode().splitlines():
        path, line, function = frame.rsplit(":", 2)
        print("PY", path.split("/")[-1] + ":" + line + ":" + function)


class Thing:
    def inner(self):
        return held.test_python()     # LINE py_inner


def outer():
    return Thing().inner()            # LINE py_outer


show(outer())                         # LINE py_main
print("without the lock:", released.test_python().decode())

# An exception that is on its way stays on its way.
try:
    raise ValueError("x")
except ValueError:
    outer()
    print("still raising:", sys.exc_info()[0] is ValueError)


def worker():
    frames = outer().decode().splitlines()
    assert len(frames) >= 3 and frames[0].endswith("inner"), frames


threads = [threading.Thread(target=worker) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()

# Code objects that come and go keep their names.
for i in range(50):
    space = {"outer": outer}
    exec("def f%d():\n  return outer()" % i, space)
    frames = space["f%d" % i]().decode().splitlines()
    assert frames[2].endswith(":2:f%d" % i), frames


def deep(n):
    return deep(n - 1) if n else held.test_python_time(2000, 1)


print("20 frames of Python: %.0f ns" % deep(18))
