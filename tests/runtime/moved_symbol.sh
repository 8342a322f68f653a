#!/usr/bin/env bash
# A symbol table that says that a function of the CUDA runtime is where the program's _init is, or
# that _init is called so: it is not overwritten.
set -u
cd "$ROOT" || exit 1
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
tests/lib/nvcc -O1 -arch=compute_75 -o "$TEST_DIR/program" examples/overrun/overrun_ok.cu > \
  "$TEST_DIR/nvcc" 2>&1 || { cat "$TEST_DIR/nvcc"; exit 1; }
for how in moved renamed; do
cp "$TEST_DIR/program" "$TEST_DIR/$how"
python3 - "$TEST_DIR/$how" $how << 'P' || exit 1
import struct, sys
path, how = sys.argv[1:]
data = bytearray(open(path, 'rb').read())
shoff, = struct.unpack_from('<Q', data, 0x28)
size, count, names = struct.unpack_from('<HHH', data, 0x3a)
sections = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + i * size) for i in range(count)]
text = lambda table, at: bytes(data[table[4] + at:data.index(0, table[4] + at)]).decode()
init = next(s for s in sections if text(sections[names], s[0]) == '.init')
symbols = next(s for s in sections if s[1] == 2)
place = {}
for at in range(symbols[4], symbols[4] + symbols[5], 24):
    place.setdefault(text(sections[symbols[6]], struct.unpack_from('<I', data, at)[0]), at)
function, start = place['cudaMemRangeGetAttributes'], place['_init']
if how == 'moved':
    struct.pack_into('<Q', data, function + 8, init[3])
else:
    data[start:start + 4] = data[function:function + 4]
open(path, 'wb').write(data)
P
"$WARPGRIND" --device=cpu --tool=none -q "$TEST_DIR/$how" > "$TEST_DIR/out" 2>&1
code=$?
if [ $code = 0 ]; then
  echo "ok $how"
else
  cat "$TEST_DIR/out"; echo "FAIL $how: exit code $code"
fi
done
