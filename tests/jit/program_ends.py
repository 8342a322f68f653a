"""Asks the compiler for a function that takes long, then closes the socket: program_ends.py HELPER

The compiler must still be at work when the socket is closed, and must have ended soon after.
"""
import os
import socket
import struct
import subprocess
import sys
import time

MAGIC = 0x31544A57  # src/jit/protocol.h

lines = ["define void @region(ptr %p) {"]
for i in range(60000):
    lines.append(f"  %a{i} = load volatile i64, ptr %p")
    lines.append(f"  %m{i} = mul i64 %a{i}, {2 * i + 3}")
    lines.append(f"  store volatile i64 %m{i}, ptr %p")
text = "\n".join(lines + ["  ret void", "}", ""]).encode()

ours, theirs = socket.socketpair()


def give():
    os.dup2(theirs.fileno(), 3)


helper = subprocess.Popen([sys.argv[1]], preexec_fn=give, pass_fds=(3,), env={})
theirs.close()
ours.sendall(struct.pack("<II", MAGIC, len(text)) + text)
time.sleep(0.3)
busy = helper.poll() is None
print("ok at_work" if busy else "FAIL at_work: it has ended before")
ours.close()
try:
    helper.wait(timeout=5)
    print("ok ended")
except subprocess.TimeoutExpired:
    helper.kill()
    print("FAIL ended: the compiler goes on without its program")
