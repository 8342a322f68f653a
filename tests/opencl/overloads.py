"""overloads.py HEADER: OpenCL C that calls every function that a preprocessed opencl-c.h declares,
each overload once."""
import re
import sys

DECLARED = re.compile(r'^(?P<result>[\w ]+?(?: \*)?) ?(?:__attribute__\(\(\w+\)\) ?)+'
                      r'(?P<name>\w+)\((?P<parameters>[^()]*)\);$')


def callers(text):
    """A function for each: its parameters are handed on."""
    text = re.sub(r'(?m)^#.*$', '', text)
    for number, declaration in enumerate(re.findall(r'[^;{}]*;', re.sub(r'\s+', ' ', text))):
        found = DECLARED.match(declaration.strip())
        if not found or '...' in found['parameters']:
            continue
        types = [t.strip() for t in found['parameters'].split(',') if t.strip() != 'void']
        names = ['a%d' % i for i in range(len(types))]
        parameters = ', '.join('%s %s' % x for x in zip(types, names))
        yield 'void call_%d(%s) { %s(%s); }' % (number, parameters or 'void', found['name'],
                                                ', '.join(names))


print('#pragma OPENCL EXTENSION cl_khr_fp16 : enable')
with open(sys.argv[1]) as header:
    print('\n'.join(callers(header.read())))
