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
sys.dont_write_bytecode = True
sys.path.insert(0, 'tests/lib')
import elf
path, how = sys.argv[1:]
data = bytearray(open(path, 'rb').read())
init = next(s for s in elf.sections(data) if s.name == '.init')
place = {}
for s in elf.symbols(data):
    place.setdefault(s.name, s.at)
function, start = place[b'cudaMemRangeGetAttributes'], place[b'_init']
if how == 'moved':
    struct.pack_into('<Q', data, function + 8, init.address)
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
