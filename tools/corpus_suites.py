"""What tools/corpus knows of each public suite: where its programs are, how they are built and run,
how they say pass."""
import json
import os
import re
import subprocess

# Libraries that come without PTX, or that need a display or a network: such programs are not tried.
NOT_TRIED = re.compile(r'cudnn|nccl\.h|mpi\.h|nvjpeg|\bnpp|gsl/|boost/|nvshmem|GL/|vulkan|d3d1|EGL/'
                       r'|nvscibuf|<nvml|freeglut|netcdf|hdf5|libxml')
# Libraries that the virtual device has (docs/libraries.md).
SERVED = {'cublas': r'cublas(?!Lt)', 'cublasLt': r'cublasLt', 'cufft': r'cufft',
          'curand': r'curand\.h|curandCreate', 'cusolver': r'cusolver', 'cusparse': r'cusparse'}


class Program:
    """One program of a suite."""

    def __init__(self, suite, name, folder):
        self.suite, self.name, self.folder = suite, name, folder
        # commands as lists, run in the folder; `nvcc` is the wrapper of tools/corpus
        self.build = []
        self.executable = None
        self.arguments = None  # text as for a shell; None: from `make -n run`
        self.nvcc_flags = ''
        self.not_tried = None  # why it is not even built
        self.libraries = []    # of SERVED

    @property
    def id(self):
        return self.suite + '/' + self.name


def sources_of(folder, endings=('.cu', '.cuh', '.h', '.hpp', '.cpp', '.c', '.cc')):
    for root, _, files in os.walk(folder):
        for file in files:
            if file.endswith(endings):
                yield os.path.join(root, file)


def text_of(folder):
    parts = []
    for path in sources_of(folder):
        try:
            with open(path, errors='replace') as f:
                parts.append(f.read())
        except OSError:
            pass
    return '\n'.join(parts)


def why_not_tried(text):
    found = NOT_TRIED.search(text)
    return 'uses ' + found.group(0) if found else None


def libraries_of(text):
    return [name for name, pattern in SERVED.items() if re.search(pattern, text)]


# --- HeCBench: src/NAME-cuda/Makefile; its `run` target has the arguments ---

def hecbench(top):
    base = os.path.join(top, 'src')
    found = []
    for entry in sorted(os.listdir(base)):
        folder = os.path.join(base, entry)
        if not entry.endswith('-cuda') or not os.path.exists(os.path.join(folder, 'Makefile')):
            continue
        p = Program('hecbench', entry[:-5], folder)
        text = text_of(folder)
        with open(os.path.join(folder, 'Makefile'), errors='replace') as f:
            makefile = f.read()
        p.not_tried = why_not_tried(text + makefile)
        p.libraries = libraries_of(text + makefile)
        if not p.not_tried and not re.search(r'\bPASS', text):
            p.not_tried = 'does not check itself'
        p.build = [['make']]
        p.size = len(text)
        found.append(p)
    return sorted(found, key=lambda p: p.size)


# Messages about input files that are not in the checkout.
MISSING = re.compile(r'[Ff]ailed to (open|load|read)|[Cc]annot (be opened|open)|[Cc]ould not '
                     r'(open|stat|find)|not opened|not able to open'
                     r'|[Uu]nable to open|[Ee]rror opening|filesystem::exists')


def hecbench_verdict(output, code):
    if MISSING.search(output) and not re.search(r'\bPASS', output):
        return 'not tried', 'input data is not there: ' + first_line(output, MISSING)
    if re.search(r'\bFAIL(ED|URE)?\b|\bFail(ed)?\b|Verification failed|\bMismatch', output):
        return 'fail', first_line(output, r'FAIL|[Ff]ail|Mismatch')
    if code == 0 and re.search(r'\bPASS(ED)?\b', output):
        return 'pass', ''
    if code == 0:
        return 'no verdict', 'prints neither PASS nor FAIL'
    return 'fail', 'exit code %d: %s' % (code, last_line(output))


# --- NVIDIA's samples: Samples/GROUP/NAME/CMakeLists.txt ---

def cuda_samples(top):
    found = []
    data = os.path.join(top, 'test_args.json')
    known = json.load(open(data)) if os.path.exists(data) else {}
    for group in sorted(os.listdir(os.path.join(top, 'Samples'))):
        base = os.path.join(top, 'Samples', group)
        if not os.path.isdir(base) or group[0] in '78':
            continue
        for entry in sorted(os.listdir(base)):
            cmake = os.path.join(base, entry, 'CMakeLists.txt')
            if os.path.exists(cmake):
                found.append(sample(top, base, entry, cmake, known.get(entry, {})))
    return found


def sample(top, base, name, cmake, known):
    p = Program('samples', name, os.path.join(base, name))
    with open(cmake, errors='replace') as f:
        text = f.read()
    target = re.search(r'add_executable\(\s*%s\s+([^)]*)\)' % re.escape(name), text)
    sources = [s for s in target.group(1).split() if '$' not in s
               and not s.endswith(('.h', '.cuh'))] if target else []
    whole = text_of(p.folder)
    p.not_tried = why_not_tried(whole)
    p.libraries = libraries_of(whole + text)
    if re.search(r'find_package\((OpenGL|GLUT|Vulkan|MPI|EGL|FreeImage|X11)', text):
        p.not_tried = p.not_tried or 'needs graphics or MPI'
    if not sources:
        p.not_tried = p.not_tried or 'no target of its own name'
    if known.get('skip'):
        p.not_tried = p.not_tried or 'skipped by its own test list'
    common = os.path.join(top, 'Common')
    command = ['nvcc', '-O3', '-std=c++17', '--extended-lambda', '-I' + common, '-Iinc', '-o',
               name] + sources
    if 'cdp' in name or re.search(r'cudadevrt', text):
        command += ['-rdc=true', '-lcudadevrt']
    if 'cuda_driver' in text:
        command += ['-lcuda']
    if 'nvrtc' in text.lower():
        command += ['-lnvrtc', '-lcuda']
    if 'nvJitLink' in text:
        command += ['-lnvJitLink', '-lcuda']
    if 'OpenMP' in text:
        command += ['-Xcompiler', '-fopenmp']
    command += ['-l' + library for library in p.libraries]
    p.build = [command]
    # Driver-API samples load a fat binary or PTX that is made beside the program.
    for kind, product in re.findall(
        r'set\(CUDA_(FATBIN|PTX)_FILE\s+"\$\{CMAKE_CURRENT_BINARY_DIR\}/([^"]+)"', text):
        kernel = re.search(r'set\(CUDA_KERNEL_SOURCE\s+"\$\{CMAKE_CURRENT_SOURCE_DIR\}/([^"]+)"',
                           text)
        if kernel:
            p.build.append(['nvcc', '-I' + common, '-' + kind.lower(), '-o', product,
                            kernel.group(1)])
    p.executable = './' + name
    runs = known.get('runs') or [known]
    p.arguments = ' '.join(runs[0].get('args', []))
    return p


def samples_verdict(output, code):
    waived = r'[Ww]aiv|[Nn]ot supported|requires'
    if code == 2 and re.search(waived, output):
        return 'unsupported', 'waives itself: ' + first_line(output, waived)
    if re.search(r'\bFAILED\b|Test failed|\bFAIL\b|Result = FAIL', output):
        return 'fail', first_line(output, r'FAIL|failed')
    if code == 0:
        return 'pass', ''
    return 'fail', 'exit code %d: %s' % (code, last_line(output))


# --- PolyBench/GPU: CUDA/NAME/Makefile, or CUDA/GROUP/.../NAME/Makefile in PolyBench-ACC ---

def polybench(top):
    found = []
    for root, _, files in sorted(os.walk(os.path.join(top, 'CUDA'))):
        if 'Makefile' not in files or not any(f.endswith('.cu') for f in files):
            continue
        with open(os.path.join(root, 'Makefile')) as f:
            makefile = f.read()
        p = Program('polybench', os.path.basename(root), root)
        name = re.search(r'EXECUTABLE\s*:?=\s*(\S+)', makefile) or re.search(r'-o\s+(\S+)',
            makefile)
        p.executable = './' + name.group(1) if name else './main'
        p.build = [['make']]
        p.arguments = ''
        # Two functions that CUDA 13 no longer has under their old names.
        p.nvcc_flags = ('-DcudaThreadSynchronize=cudaDeviceSynchronize '
                        '-DcudaThreadExit=cudaDeviceReset')
        found.append(p)
    return found


def polybench_verdict(output, code):
    counts = re.findall(r'(?:Non-Matching CPU-GPU Outputs Beyond Error Threshold of [\d.]+ '
                        r'Percent|Number of misses): (\d+)', output)
    if code != 0:
        return 'fail', 'exit code %d: %s' % (code, last_line(output))
    if not counts:
        return 'no verdict', 'compares nothing'
    wrong = sum(int(c) for c in counts)
    return ('pass', '') if wrong == 0 else ('fail', '%d outputs differ' % wrong)


# --- any other folder: each .cu file with a main is a program; exit code 0 is a pass ---

def plain(top):
    found = []
    for path in sorted(sources_of(top, ('.cu',))):
        with open(path, errors='replace') as f:
            text = f.read()
        if not re.search(r'\bmain\s*\(', text):
            continue
        name = os.path.relpath(path, top)[:-3]
        p = Program('plain', name.replace(os.sep, '.'), os.path.dirname(path))
        p.not_tried = why_not_tried(text)
        base = os.path.basename(path)[:-3]
        p.build = [['nvcc', '-O3', '-o', base, base + '.cu']]
        p.executable, p.arguments = './' + base, ''
        found.append(p)
    return found


def plain_verdict(output, code):
    if code == 0 and not re.search(r'\bFAIL(ED)?\b', output):
        return 'pass', ''
    return 'fail', 'exit code %d: %s' % (code, last_line(output))


VERDICTS = {'hecbench': hecbench_verdict, 'samples': samples_verdict,
            'polybench': polybench_verdict, 'plain': plain_verdict}


def find_programs(top):
    """The programs of a checkout, whichever suite it is."""
    if os.path.isdir(os.path.join(top, 'src')) and any(d.endswith('-cuda')
        for d in os.listdir(os.path.join(top, 'src'))):
        return hecbench(top)
    if os.path.isdir(os.path.join(top, 'Samples')):
        return cuda_samples(top)
    if os.path.isdir(os.path.join(top, 'CUDA')):
        return polybench(top)
    return plain(top)


def run_line(program):
    """The executable and arguments of the first command of the Makefile's `run` target."""
    made = subprocess.run(['make', '-n', 'run'], cwd=program.folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL,
                          universal_newlines=True)
    for line in made.stdout.replace('\\\n', ' ').splitlines():
        found = re.match(r'\s*(?:\S+=\S+\s+)*(\./\S+)\s*(.*)$', line)
        if found:
            return found.group(1), found.group(2)
    return './main', ''


def first_line(output, pattern):
    for line in output.splitlines():
        if re.search(pattern, line):
            return line.strip()[:160]
    return ''


def last_line(output):
    lines = [l.strip() for l in output.splitlines() if l.strip()]
    return lines[-1][:160] if lines else '(no output)'
