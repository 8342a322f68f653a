#!/usr/bin/env bash
# quick: yes
# Processes, threads and libraries in GPU mode, with the virtual device as the real driver.
set -u
. tests/gpumode/lib.sh
. tests/lib/check.sh
dir=$TEST_DIR
flags=(-std=gnu11 -g -O1 -Wall -Isrc -Itests/driver -pthread -L"$BUILD/lib" -l:libcuda.so.1 \
  -Wl,--allow-shlib-undefined -ldl)
$CC -o "$dir/program" tests/gpumode/process/program.c "${flags[@]}" || exit 1
$CC -fPIC -shared -o "$dir/plugin.so" tests/gpumode/process/plugin.c "${flags[@]}" || exit 1
$CC -fPIC -shared -o "$dir/small_driver.so" tests/gpumode/process/small_driver.c || exit 1

# one NAME TOOL 'text that must be in the report' WORD…: the program passes its own checks, and the
# report says this
one() {
  local name=$1 tool=$2 text=$3 want=0; shift 3
  case $1 in abort) want=134 ;; esac
  "$WARPGRIND" --device=gpu --tool="$tool" -v -- "$dir/program" "$@" > "$dir/out" 2> "$dir/err"
  local code=$?
  if [ $code = $want ] && grep -qF 'all checks passed' "$dir/out" && grep -qF -- "$text" "$dir/err"
    then echo "ok $name"
  else echo "FAIL $name: exit code $code"; cat "$dir/out" "$dir/err"; fi
}
for tool in none count; do
  one names_$tool $tool 'kernel launches: 1,' names
  one threads_$tool $tool 'kernel launches: 1,' threads
  one plugin_$tool $tool 'kernel launches: 1,' plugin "$dir/plugin.so"
  one fork_before_$tool $tool 'kernel launches: 2,' fork_before
  one fork_after_$tool $tool 'kernel launches: 1,' fork_after
  one exec_$tool $tool 'kernel launches: 2,' exec
  one _exit_$tool $tool 'kernel launches: 1,' _exit
  one abort_$tool $tool 'kernel launches: 1,' abort
  one running_$tool $tool 'kernel launches: 2,' running
  one primary_$tool $tool 'kernel launches: 3,' primary
done
# Three times 32 threads with 10 instructions each, of which two contexts were gone before the end.
one primary_counts count '960 instructions by threads' primary
one driver_is_named none "real driver: $WARPGRIND_REAL_DRIVER, CUDA 13.0, 1 device" names

# Which driver, and what if there is none.
said() { "$WARPGRIND" "$@" > "$dir/out" 2> "$dir/err"; echo $?; }
export WARPGRIND_REAL_DRIVER
WARPGRIND_REAL_DRIVER=$dir/small_driver.so
one missing none 'cuCtxGetCurrent: this driver has no such function' missing
one too_old none 'small_driver.so is too old to work with (it has no cuCtxGetCurrent)' missing
standin=$BUILD/tests/libcuda-standin.so
WARPGRIND_REAL_DRIVER=$dir/nothing.so
check no_file test "$(said --device=gpu -- true)" = 125
check no_file_why has "$dir/err" 'No such file'
check no_file_auto test "$(said --device=auto -v -- true)" = 0
check no_file_auto_why has "$dir/err" '--device=auto: the virtual device, since'
WARPGRIND_REAL_DRIVER=$BUILD/warpgrind
check not_a_library test "$(said --device=gpu -- true)" = 125
check not_a_library_why has "$dir/err" 'could not be loaded'
WARPGRIND_REAL_DRIVER=$standin
check no_device test "$(CUDA_VISIBLE_DEVICES='' said --device=gpu -- true)" = 125
check no_device_why has "$dir/err" 'cuInit returned error 100, CUDA_ERROR_NO_DEVICE'
check no_device_auto test "$(CUDA_VISIBLE_DEVICES='' said --device=auto -v -- true)" = 0
check no_device_auto_why has "$dir/err" 'the virtual device, since the NVIDIA driver'
unset WARPGRIND_REAL_DRIVER
mkdir -p "$dir/folder" && cp "$dir/small_driver.so" "$dir/folder/libcuda.so.1"
# Warpgrind's own library is passed over on the way.
check by_search test "$(LD_LIBRARY_PATH=$BUILD/lib:$dir/folder said --device=gpu -v -- true)" = 0
check by_search_which has "$dir/err" "real driver: $dir/folder/libcuda.so.1, CUDA 4.0"

# A driver that takes its time is asked once.
$CC -fPIC -shared -DSLOW -o "$dir/folder/libcuda.so.1" tests/gpumode/process/small_driver.c ||
  exit 1
check slow_first test "$(LD_LIBRARY_PATH=$dir/folder said --device=gpu -v -- true)" = 0
check slow_first_asks has "$dir/err" 'asking it took'
check slow_again test "$(LD_LIBRARY_PATH=$dir/folder said --device=gpu -v -- true)" = 0
check slow_again_knows has "$dir/err" 'the driver was asked in an earlier run'
check slow_other_devices test \
  "$(CUDA_VISIBLE_DEVICES=0 LD_LIBRARY_PATH=$dir/folder said --device=gpu -v -- true)" = 0
check slow_other_devices_asks has "$dir/err" 'asking it took'
check slow_no_cache test "$(WARPGRIND_CACHE_DIR='' LD_LIBRARY_PATH=$dir/folder said --device=gpu \
  -v -- true)" = 0
check slow_no_cache_asks has "$dir/err" 'asking it took'
