"""Small inputs for Rodinia's OpenCL programs, in the formats that they read: the repository has
none. Each function writes into a folder."""
import os
import random


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w' if isinstance(text, str) else 'wb') as out:
        out.write(text)


def lines(values, form='%g'):
    return ''.join(form % v + '\n' for v in values)


def keys(folder):  # b+tree
    write(folder, 'keys.txt', lines([4000] + list(range(4000)), '%d'))
    write(folder, 'commands.txt', 'j 300 100\nk 500\n')


def graph(folder):  # bfs: nodes with their first edge and degree, the source, edges with costs
    numbers = random.Random(1)
    degrees = [numbers.randrange(1, 6) for _ in range(2000)]
    starts = [sum(degrees[:i]) for i in range(2000)]
    text = '2000\n' + ''.join('%d %d\n' % x for x in zip(starts, degrees)) + '\n0\n\n'
    text += '%d\n' % sum(degrees)
    text += ''.join('%d %d\n' % (numbers.randrange(2000), numbers.randrange(1, 10))
                    for _ in range(sum(degrees)))
    write(folder, 'graph.txt', text)


def mesh(folder):  # cfd: a ring of tetrahedra, some faces at the far field (-2)
    numbers = random.Random(2)
    out = ['384']
    for i in range(384):
        out.append('%g' % numbers.uniform(0.5, 1.5))
        near = [(i + 1) % 384 + 1, (i - 1) % 384 + 1, (i + 7) % 384 + 1, -2 if i % 5 else 1]
        for n in near:
            out.append('%d %g %g %g' % ((n,) + tuple(numbers.uniform(-.1, .1) for _ in range(3))))
    write(folder, 'mesh.txt', '\n'.join(out) + '\n')


def grid(folder):  # hotspot, hotspot3D
    numbers = random.Random(3)
    for name, n in (('64', 64 * 64), ('64x8', 64 * 64 * 8)):
        write(folder, 'temp_' + name, lines([323 + numbers.random() for _ in range(n)], '%f'))
        write(folder, 'power_' + name, lines([numbers.random() / 1000 for _ in range(n)], '%f'))


def points(folder):  # kmeans
    numbers = random.Random(4)
    write(folder, 'points.txt', ''.join(
        '%d %s\n' % (i, ' '.join('%g' % numbers.random() for _ in range(8))) for i in range(600)))


def places(folder):  # nn: records of 48 characters, latitude at 28, longitude at 33
    numbers = random.Random(5)
    write(folder, 'places.db', ''.join(
        '%-28s%5.1f%5.1f%10s\n' % ('1950 1 1 1 1 STORM%d' % i, numbers.uniform(7, 69),
                                   numbers.uniform(7, 99), '100 100 ') for i in range(1000)))
    write(folder, 'filelist.txt', 'places.db\n')


def picture(folder):  # srad: a PGM; dwt2d: bytes
    numbers = random.Random(6)
    pixels = [numbers.randrange(256) for _ in range(502 * 458)]
    write(folder, 'srad/image.pgm', 'P2\n458 502\n255\n' + lines(pixels, '%d'))
    write(folder, 'picture.rgb', bytes(numbers.randrange(256) for _ in range(256 * 256 * 3)))


def cells(folder):  # myocyte: 91 state variables and 16 parameters
    numbers = random.Random(7)
    write(folder, 'y.txt', lines([numbers.uniform(0.05, 0.95) for _ in range(91)], '%f'))
    write(folder, 'params.txt', lines([1 + numbers.random() for _ in range(18)], '%f'))


def numbers_to_sort(folder):  # hybridsort
    numbers = random.Random(8)
    write(folder, 'floats.txt', lines([numbers.random() for _ in range(20000)], '%f'))


def all_inputs(folder):
    for make in (keys, graph, mesh, grid, points, places, picture, cells, numbers_to_sort):
        make(folder)
