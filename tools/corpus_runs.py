"""Programs of a public checkout, run with a time limit; and what of their output must be the same
in every run."""
import importlib.machinery
import importlib.util
import os
import re
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('corpus', os.path.join(HERE, 'corpus'))
corpus = importlib.util.module_from_spec(importlib.util.spec_from_loader('corpus', loader))
loader.exec_module(corpus)

# Lines that differ between any two runs.
TIMES = re.compile(
    r'time|second|sec\b|\d\s*(ms|us|ns|s)\b|[GMK]i?B/s|FLOP|bandwidth|throughput|speed|'
    r'performance|\w/s\b|elapsed|took|clock|latency|per iteration|\bfps\b|0x[0-9a-f]{6,}', re.I)


def run(command, folder, timeout, environment=None):
    """Exit code (None: not ended), what it printed."""
    child = subprocess.Popen(['/bin/sh', '-c', 'exec ' + command], cwd=folder,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             stdin=subprocess.DEVNULL, start_new_session=True, env=environment)
    try:
        text, _ = child.communicate(timeout=timeout)
    except BaseException as e:               # a signal, too: what was started ends with us
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        if not isinstance(e, subprocess.TimeoutExpired):
            raise
        return None, ''
    return child.returncode, text.decode('utf-8', 'replace')


def lasting(text):
    """The lines that do not speak of time; a number alone below such a line does, too."""
    kept, spoke = [], False
    for line in text.splitlines():
        spoke = bool(TIMES.search(line)) or (spoke and re.fullmatch(r'\s*[\d.e+-]+\s*', line))
        if not spoke:
            kept.append(line)
    return kept
