# interrupt.py SIGNAL WAIT-FOR COMMAND…: starts the command in a group of its own, waits until it
# prints the word, and sends the signal to the whole group, as a terminal does. Prints what it
# printed, and its exit code.
import os
import signal
import subprocess
import sys


def default_signals():
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(s, signal.SIG_DFL)


p = subprocess.Popen(sys.argv[3:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                     start_new_session=True, preexec_fn=default_signals)
for line in p.stdout:
    print(line, end="")
    if sys.argv[2] in line:
        os.killpg(p.pid, getattr(signal, sys.argv[1]))
        break
try:
    rest, _ = p.communicate(timeout=30)
    print(rest, end="")
    print("code", p.returncode if p.returncode >= 0 else 128 - p.returncode)
except subprocess.TimeoutExpired:
    os.killpg(p.pid, signal.SIGKILL)
    print("did not end")
