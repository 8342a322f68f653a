"""Programs for the attacks, built once and kept in build/soak/programs. None needs nvcc: kernels
come from the PTX of the tree."""
import glob
import os
import shutil
import subprocess

from attack import BUILD, ROOT

FOLDER = os.path.join(BUILD, 'soak', 'programs')


def is_fresh(exe, sources):
    return os.path.exists(exe) and all(os.path.getmtime(exe) > os.path.getmtime(s) for s in sources)


def build(name, sources, script):
    """The program `name`, made by a line of bash that writes "$1"; None if that fails."""
    exe = os.path.join(FOLDER, name)
    if is_fresh(exe, sources):
        return exe
    os.makedirs(FOLDER, exist_ok=True)
    mine = '%s.%d' % (exe, os.getpid())
    env = dict(os.environ, BUILD=BUILD, CC=os.environ.get('CC', 'gcc'), TEST_DIR=mine + '.d',
               TEST_FILE=sources[0])
    os.makedirs(env['TEST_DIR'], exist_ok=True)
    r = subprocess.run(['bash', '-c', '. tests/lib/steps.sh; ' + script, 'bash', mine], cwd=ROOT,
                       env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    shutil.rmtree(env['TEST_DIR'], ignore_errors=True)
    if r.returncode or not os.path.exists(mine):
        print('cannot build %s: %s' % (name, r.stdout.decode(errors='replace').strip().splitlines()[
            -1:]))
        return None
    os.rename(mine, exe)
    return exe


def ptxhost():
    source = os.path.join(ROOT, 'tests/lib/ptxhost.c')
    return build('ptxhost', [source], '$CC -std=gnu11 -g -O1 -o "$1" "$TEST_FILE" -ldl -lm')


def driver_program(source, name=None, options=''):
    """A C program that uses the driver API and is linked with our libcuda.so.1."""
    path = os.path.join(ROOT, source)
    return build(name or os.path.splitext(os.path.basename(source))[0], [path],
                 '$CC -std=gnu11 -g -O1 -Isrc -Itests/lib -pthread %s -o "$1" "$TEST_FILE" '
                 '-L"$BUILD/lib" -l:libcuda.so.1 -Wl,--allow-shlib-undefined -ldl -lm' % options)


def example(name):
    """An example or its twin, as a list: the program and its arguments. None: it cannot be built
    here."""
    folder = os.path.join(ROOT, 'examples', name[:-3] if name.endswith('_ok') else name)
    source, ptx = os.path.join(folder, name + '.cu'), os.path.join(folder, 'ptx', name + '.ptx')
    hosts = glob.glob(os.path.join(folder, '*_host.c'))
    if hosts:
        exe = build(os.path.basename(hosts[0])[:-2], hosts, '$CC -std=gnu11 -g -O1 -o "$1" '
                    '"$TEST_FILE" -ldl -lm')
        return exe and [exe, ptx]
    if not shutil.which('clang'):
        return None
    exe = build(name, [source, ptx], 'compile_with_clang "$1" "%s"' % ptx)
    return exe and [exe]


def kernel_tests():
    """PTX files that carry their own launch script."""
    files = sorted(glob.glob(os.path.join(ROOT, 'tests/*/*.ptx')))
    return [f for f in files if open(f, errors='replace').read(4).startswith('//!')
            or '\n//!' in open(f, errors='replace').read(4000)]
