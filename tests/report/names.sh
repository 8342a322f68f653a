#!/usr/bin/env bash
# timeout: 300
# What buffers are called in the report: the comments `name: I NAME` of names.cu.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/annotations.sh
command -v nvcc > /dev/null || { echo "nvcc is not installed"; exit 77; }
cp tests/report/names.cu "$TEST_DIR/"
cd "$TEST_DIR" || exit 1
names() { # report: the number of each kernel and the name of its buffer
  python3 - "$1" << 'P'
import json, re, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    number = re.search(r"hit<(\d+)>", f["kernel_readable"])[1]
    print(number, f.get("allocation", {}).get("name", "-"))
P
}
marked name names.cu | cut -d' ' -f2- | sort > want
for flags in "-g -O0" "-g -O3"; do
  # shellcheck disable=SC2086
  nvcc -w $flags -lineinfo -arch=compute_75 -o names names.cu -lcuda > nvcc.log 2>&1 ||
    { cat nvcc.log; echo "FAIL nvcc"; exit 1; }
  "$WARPGRIND" --device=cpu --json=names.json -o names.wg -- ./names > out 2> "err"
  names names.json | sort > got
  check "names$flags" diff want got
  check "stubs$flags" eval \
    '! grep -qE "device_stub_|(at|by) (void )?hit<[0-9]+>(\(int|  *\()" err &&
    grep -q "launched$" err'
done
check text       has err 'plain[64] of 4-byte elements'
check text_after has err 'right after the end of plain, an allocation of 256 bytes'
check again      eval \
  '"$WARPGRIND" report --json=again.json names.wg 2> /dev/null && cmp names.json again.json'
check parameter  has err 'plain[64] of 4-byte elements, parameter p of the kernel'
check parameter_json [ "$(python3 -c 'import json; print({f.get("parameter") for f in
  json.load(open("names.json"))["findings"]})')" = "{'p'}" ]
# Variables: in shared, local and constant memory.
nvcc -w -g -O3 -lineinfo -arch=compute_75 -o shared "$ROOT/tests/memcheck/programs/shared.cu" &&
  nvcc -w -g -O3 -lineinfo -arch=compute_75 -o local "$ROOT/tests/memcheck/programs/local.cu"
"$WARPGRIND" --device=cpu --json=shared.json -o shared.wg -- ./shared > out 2> err
check shared     has err \
  'is right after the end of first, 128 bytes of shared memory, first[32] of 4-byte elements'
check dynamic    has err \
  'is right after the end of dynamic, 128 bytes of shared memory, dynamic[32] of 4-byte elements'
check object     [ "$(python3 -c 'import json; print(sorted({f["object"]["name"] for f in
  json.load(open("shared.json"))["findings"] if "object" in
  f}))')" = "['dynamic', 'first', 'second']" ]
check object_again eval \
  '"$WARPGRIND" report --json=again.json shared.wg 2> /dev/null && cmp shared.json again.json'
"$WARPGRIND" --device=cpu -- ./local > out 2> err
check local      has err \
  'is right after the end of the variables of the function, 64 bytes of local memory'
check constant   has err \
  'is right after the end of constants, 32 bytes of const memory, constants[8] of 4-byte elements'
# What is in no allocation: null, and the device's heap.
nvcc -w -O3 -lineinfo -arch=compute_75 -o null "$ROOT/tests/memcheck/programs/null.cu" &&
  nvcc -w -O3 -lineinfo -arch=compute_75 -o heap "$ROOT/tests/memcheck/programs/heap.cu"
"$WARPGRIND" --device=cpu -- ./null > out 2> err
check null       has err 'address 0x0, a null pointer'
echo 'struct Two { int a, b; }; __global__ void k(Two *p) { p->b = 1; } int main() { k<<<1, '\
'1>>>(nullptr); return cudaDeviceSynchronize(); }' > near_null.cu
nvcc -w -lineinfo -arch=compute_75 -o near_null near_null.cu && "$WARPGRIND" --device=cpu -- \
  ./near_null > out 2> err
check near_null  has err 'address 0x4, computed from a null pointer'
"$WARPGRIND" --device=cpu -- ./heap > out 2> err
check heap       has err "is in a block of the device's heap that was freed"
# Functions of one file only: without the namespace that nvcc puts them into.
nvcc -w -O3 -lineinfo -arch=compute_75 -o textures "$ROOT/tests/memcheck/programs/textures.cu"
"$WARPGRIND" --device=cpu -- ./textures > out 2> err
check internal   has err 'in float tex1Dfetch<float>(unsigned long long, int)'
# A source that was changed after the program was made, and one that is not there: no names.
touch -d '1 hour' names.cu
"$WARPGRIND" --device=cpu --json=names.json -- ./names > out 2> err
check younger    [ "$(names names.json | grep -c -- ' -$')" = "$(wc -l < want)" ]
rm names.cu
"$WARPGRIND" --device=cpu --json=names.json -- ./names > out 2> err
check gone       [ "$(names names.json | grep -c -- ' -$')" = "$(wc -l < want)" ]
