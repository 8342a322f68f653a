"""The programs of Rodinia and SHOC that tools/corpus-opencl runs: how they are built, with which
arguments they are run. {data} is the folder of inputs, {root} the checkout."""
import collections
import glob
import os
import re
import subprocess

import corpus_opencl_inputs as inputs

# folder: where it is run; compare: whether what the host reads back is the same in every run
Program = collections.namedtuple('Program', 'name folder build command compare')

RODINIA = (
    ('b+tree', 'b+tree', './b+tree.out file {data}/keys.txt command {data}/commands.txt'),
    ('backprop', 'backprop', './backprop.out -n 4096'),
    ('bfs', 'bfs', './bfs.out {data}/graph.txt'),
    ('cfd', 'cfd', './euler3d.out {data}/mesh.txt -p 0 -d 0'),
    ('dwt2d', 'dwt2d', './dwt2d.out picture.rgb -i {data} -D 256x256 -f -5 -l 3 -p 0 -d 0'),
    ('gaussian', 'gaussian', './gaussian.out -s 64 -q'),
    ('hotspot', 'hotspot', './hotspot.out 64 2 10 {data}/temp_64 {data}/power_64 output.txt'),
    ('hotspot3D', 'hotspot3D', './hotspot3D.out -n 64 -l 8 -i 10 -f {data}/power_64x8 '
     '{data}/temp_64x8 output.txt'),
    ('hybridsort', 'hybridsort', './hybridsort.out r -p 0 -d 0'),
    ('kmeans', 'kmeans', './kmeans.out -o -i {data}/points.txt'),
    ('lavaMD', 'lavaMD', './lavaMD.out -boxes1d 3 -p 0 -d 0'),
    ('lud', 'lud', './lud.out -s 64'),
    ('myocyte', 'myocyte', './myocyte.out -time 5 -r {data}'),
    ('nn', 'nn', './nn.out {data}/filelist.txt -r 5 -lat 30 -lng 90 -q -f {data} -p 0 -d 0'),
    ('nw', 'nw', './nw.out 128 10 ./nw.cl -p 0 -d 0'),
    ('particlefilter_naive', 'particlefilter',
     './OCL_particlefilter_naive.out -x 32 -y 32 -z 4 -np 512'),
    ('particlefilter_single', 'particlefilter',
     './OCL_particlefilter_single.out -x 32 -y 32 -z 4 -np 512'),
    ('particlefilter_double', 'particlefilter',
     './OCL_particlefilter_double.out -x 32 -y 32 -z 4 -np 512'),
    ('pathfinder', 'pathfinder', './pathfinder.out -c 1000 -r 20 -h 5'),
    ('srad', 'srad', './srad.out -n 2 -l 0.5 -s 128 128 -p 0 -d 0'),
    ('streamcluster', 'streamcluster',
     './streamcluster.out 5 10 8 512 512 100 none output.txt 1 -p 0 -d 0'))
# their language is older than today's compilers take it to be
COMPILERS = dict.fromkeys(('bfs', 'cfd', 'pathfinder', 'streamcluster'), 'g++ -std=gnu++98')
COMPILERS['hybridsort'] = 'gcc -fcommon'
# their results depend on the clock or on a shared counter
VARIES = ('particlefilter_naive', 'particlefilter_single', 'particlefilter_double', 'hybridsort')

SHOC = (('BFS', 'level1/bfs'), ('FFT', 'level1/fft'), ('GEMM', 'level1/gemm'),
        ('MD', 'level1/md --iterations 1'), ('MD5Hash', 'level1/md5hash'),
        ('Reduction', 'level1/reduction --iterations 1'), ('Scan', 'level1/scan --iterations 1'),
        ('Sort', 'level1/sort'), ('Spmv', 'level1/spmv --iterations 1'),
        ('Stencil2D', 'level1/stencil2d --customSize 64,64 --lsize 8,8 --num-iters 4 '
         '--warmupPasses 0'),
        ('Triad', 'level1/triad'), ('S3D', 'level2/s3d'),
        ('BusSpeedDownload', 'level0'), ('BusSpeedReadback', 'level0'),
        ('DeviceMemory', 'level0'), ('KernelCompile', 'level0'), ('MaxFlops', 'level0'),
        ('QueueDelay', 'level0'))


def rodinia(root, out):
    data = os.path.join(out, 'data')
    inputs.all_inputs(data)
    # srad reads ../../data/srad/image.pgm
    link = os.path.join(root, 'data', 'srad')
    if not os.path.exists(link):
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(os.path.join(data, 'srad'), link)
    for name, folder, command in RODINIA:
        make = ['make', '-s', '-C', os.path.join(root, 'opencl', folder), 'OPENCL_INC=/usr/include',
                'OPENCL_LIB=' + library_folder()]
        if name in COMPILERS:
            make += [x + COMPILERS[name] for x in ('CC=', 'CXX=')]
        yield Program(name, os.path.join(root, 'opencl', folder), [make],
                      command.format(data=data, root=root).split(), name not in VARIES)


def library_folder():
    for folder in glob.glob('/usr/lib/*-linux-gnu') + ['/usr/lib64', '/usr/lib']:
        if os.path.exists(os.path.join(folder, 'libOpenCL.so')):
            return folder
    return '/usr/lib'


def as_text(path, out):
    """A .cl file as a string of C, as SHOC's own Makefiles make it."""
    name = os.path.basename(path)[:-3]
    target = os.path.join(out, name + '_cl.cpp')
    with open(path, errors='replace') as source, open(target, 'w') as text:
        text.write('extern const char *cl_source_%s;\nconst char *cl_source_%s =\n' % (name, name))
        for line in source:
            line = line.rstrip('\r\n').replace('\\', '\\\\').replace('"', '\\"')
            text.write('"%s\\n"\n' % line)
        text.write(';\n')
    return target


def shoc(root, out):
    source = os.path.join(root, 'src')
    common = os.path.join(out, 'common')
    os.makedirs(common, exist_ok=True)
    with open(os.path.join(common, 'config.h'), 'w') as config:
        config.write('#define HAVE_GETTIMEOFDAY 1\n#define HAVE_CLOCK_GETTIME 1\n'
                     '#define restrict __restrict\n')
    flags = ['-std=gnu++98', '-w', '-g', '-O1', '-include', 'stdint.h', '-I' + common,
             '-I' + source + '/common', '-I' + source + '/opencl/common']
    shared = [f for f in glob.glob(source + '/common/*.cpp') + glob.glob(source +
                                                                         '/opencl/common/*.cpp')
              if not re.search('main.cpp|Parallel', f)]
    library = os.path.join(common, 'libshoc.a')
    objects = [os.path.join(common, os.path.basename(f)[:-4] + '.o') for f in shared]
    if not os.path.exists(library):
        # some are templates that others include
        made = [o for f, o in zip(shared, objects)
                if not subprocess.run(['g++', '-c'] + flags + ['-o', o, f],
                                      stderr=subprocess.DEVNULL).returncode]
        subprocess.run(['ar', 'rcs', library] + made, check=True)
    for name, what in SHOC:
        folder, *arguments = what.split()
        place = os.path.join(out, name)
        os.makedirs(place, exist_ok=True)
        here = os.path.join(source, 'opencl', folder)
        sources = [os.path.join(here, name + '.cpp')] if folder == 'level0' else \
            [f for f in glob.glob(here + '/*.cpp') if not re.search('/(tp|MPI)', f)]
        kernels = [as_text(f, place) for f in glob.glob(here + '/*.cl')]
        target = os.path.join(place, name)
        build = ['g++'] + flags + ['-I' + here, '-o', target] + sources + kernels + [
            source + '/opencl/common/main.cpp', library, '-lOpenCL', '-lpthread', '-lrt']
        yield Program(name, place, [build],
                      [target, '-p', '0', '-d', '0', '-n', '1', '-s', '1'] + arguments, False)


SUITES = dict(rodinia=rodinia, shoc=shoc)
