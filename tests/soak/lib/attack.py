"""What every attack of the soak shares: its options, its cases, running a command, and keeping what
is found.

An attack is a script of tests/soak. It repeats cases until its time is over; case N of seed S is
always the same, so that
`tests/soak/NAME.py --seed=S --case=N` repeats one. A finding keeps the case's folder and prints a
line `FOUND …`.
"""
import argparse
import collections
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.abspath(os.environ.get('BUILD', os.path.join(ROOT, 'build')))
WARPGRIND = os.environ.get('WARPGRIND', os.path.join(BUILD, 'warpgrind'))
SLOW = 4 if os.environ.get('SAN', '0') not in ('', '0') else 1
CRASH_WORDS = (b'internal error at ', b'AddressSanitizer', b'UndefinedBehaviorSanitizer',
               b': runtime error: ', b'LeakSanitizer')

Result = collections.namedtuple('Result', 'args code out err seconds hung')


class Attack:
    def __init__(self, description):
        p = argparse.ArgumentParser(description=description)
        p.add_argument('--seed', type=int, default=int(os.environ.get('SEED', '1')))
        p.add_argument('--seconds', type=float, default=60, help='how long to go on (60)')
        p.add_argument('--case', type=int, help='only this case')
        p.add_argument('--cases', type=int, help='at most so many cases')
        p.add_argument('--found', default=os.path.join(BUILD, 'soak', 'found'), metavar='FOLDER',
                       help='what is found is kept there')
        self.options = p.parse_args()
        self.name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
        self.seed = self.options.seed
        self.started = time.monotonic()
        self.counts = collections.Counter()
        self.findings = 0
        self.number = None
        self.work = tempfile.mkdtemp(prefix='soak-%s-' % self.name)
        self.folder = None                 # of the case
        self.groups = []                   # process groups that still run

    # --- cases ---

    def cases(self):
        """Yields a random generator for each case; self.folder is an empty folder for it."""
        o = self.options
        number = o.case if o.case is not None else 0
        while True:
            self.number = number
            self.folder = os.path.join(self.work, 'case')
            shutil.rmtree(self.folder, ignore_errors=True)
            os.mkdir(self.folder)
            self.counts['attacks'] += 1
            yield random.Random('%s/%d/%d' % (self.name, self.seed, number))
            number += 1
            over = time.monotonic() - self.started >= o.seconds
            if o.case is not None or over or (o.cases is not None and number >= o.cases):
                return

    def count(self, what, n=1):
        self.counts[what] += n

    def path(self, name):
        return os.path.join(self.folder, name)

    def again(self):
        return 'tests/soak/%s.py --seed=%d --case=%d' % (self.name, self.seed, self.number)

    def found(self, what, result=None):
        """Keeps the case's folder, the command and its output."""
        self.findings += 1
        kept = os.path.join(self.options.found, '%s-%d-%d' % (self.name, self.seed, self.number))
        os.makedirs(self.options.found, exist_ok=True)
        if not os.path.exists(kept):
            shutil.copytree(self.folder, kept, symlinks=True, ignore_dangling_symlinks=True)
        with open(os.path.join(kept, 'README'), 'a') as f:
            f.write('%s\nagain: %s\n' % (what, self.again()))
            if result:
                command = shlex.join(result.args).replace(self.folder, kept)
                f.write('command: %s\nexit code: %s after %.1f s\n' % (command, result.code,
                    result.seconds))
        if result:
            for name, data in ('stdout', result.out), ('stderr', result.err):
                with open(os.path.join(kept, name), 'wb') as f:
                    f.write(data)
        print('FOUND %s: %s; kept: %s; again: %s' % (self.name, what, os.path.relpath(kept, ROOT),
            self.again()), flush=True)

    def skip(self, why):
        print('%s: skipped: %s' % (self.name, why))
        self.end()
        sys.exit(77)

    def end(self):
        for group in self.groups:
            kill_group(group, signal.SIGKILL)
        shutil.rmtree(self.work, ignore_errors=True)

    def finish(self):
        self.end()
        attacks = self.counts.pop('attacks', 0)
        more = ', '.join('%d %s' % (n, what) for what, n in sorted(self.counts.items()))
        print('%s: seed %d: %d attacks%s, %d findings' % (self.name, self.seed, attacks, ' (%s)'
            % more if more else '', self.findings))
        sys.exit(1 if self.findings else 0)

    # --- commands ---

    def run(self, args, timeout=30, env=None, before=None, stdin=None, patience=10, cwd=None):
        """Runs a command in a session of its own. After `timeout` seconds it gets SIGTERM; `hung`
        says that it still ran `patience`
        seconds later, and then everything of the session is killed."""
        started = time.monotonic()
        full = dict(os.environ, **{k: str(v) for k, v in (env or {}).items()})
        # Pipes: a limit on the size of files is not to hit what we read.
        p = subprocess.Popen(args, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=full, start_new_session=True,
                             preexec_fn=before, cwd=cwd or ROOT)
        self.groups.append(p.pid)
        hung, texts = False, (b'', b'')
        try:
            texts = p.communicate(timeout=timeout * SLOW)
        except subprocess.TimeoutExpired:
            self.count('stopped')
            p.send_signal(signal.SIGTERM)
            try:
                p.wait(patience * SLOW)
            except subprocess.TimeoutExpired:
                hung = True
            kill_group(p.pid, signal.SIGKILL)
            texts = p.communicate()
        kill_group(p.pid, signal.SIGKILL)
        self.groups.remove(p.pid)
        return Result([str(a) for a in args], p.returncode, texts[0], texts[1],
                      time.monotonic() - started, hung)

    def must_hold(self, r, codes, what):
        """A finding if the command crashed, hung, or ended with another exit code than these."""
        said = [w.decode() for w in CRASH_WORDS if w in r.err or w in r.out]
        if r.hung:
            self.found('%s does not end, not at SIGTERM either' % what, r)
        elif said:
            self.found('%s: %s' % (what, first_line(r, said[0])), r)
        elif r.code < 0 and r.code != -signal.SIGTERM:
            self.found('%s: ended by signal %d' % (what, -r.code), r)
        elif r.code >= 0 and codes is not None and r.code not in codes:
            self.found('%s: exit code %d' % (what, r.code), r)
        else:
            return True
        return False


def first_line(r, word):
    for line in (r.err + r.out).decode(errors='replace').splitlines():
        if word in line:
            return line.strip()[:200]
    return word


def kill_group(group, sig):
    try:
        os.killpg(group, sig)
    except (ProcessLookupError, PermissionError):
        pass


def warpgrind(*args):
    return [WARPGRIND] + list(args)
