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
        return held.test_python()     # label: py_inner


def outer():
    return Thing().inner()            # label: py_outer


if len(sys.argv) > 2: held.test_python_public()
show(outer())                         # label: py_main


# The lock is released around these calls: other threads run Python meanwhile.
class Elsewhere:
    def größe_λ_𐌀(self):
        return released.test_python().decode()   # label: py_released


unlocked = Elsewhere().größe_λ_𐌀().splitlines()
print("without the lock:", unlocked[0].split("/")[-1])
stop = False


def busy():
    while not stop:
        outer()


helpers = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
for t in helpers: t.start()
for i in range(300):
    assert Elsewhere().größe_λ_𐌀().splitlines()[0] == unlocked[0]
stop = True
for t in helpers: t.join()


def generator():
    yield from ([released.test_python().decode()] for _ in range(3))


if sys.version_info[:2] in ((3, 11), (3, 12)) and len(sys.argv) == 2:
    for frames in generator():
        assert frames[0].splitlines()[0].split(":")[-1] == "generator.<locals>.<genexpr>", frames

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


def deep_released(n):
    return deep_released(n - 1) if n else released.test_python_time(2000, 1)


released.test_python_time.restype = ctypes.c_double
print("20 frames of Python: %.0f ns, with the lock released %.0f ns" % (deep(18),
    deep_released(18)))
