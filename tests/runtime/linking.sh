#!/usr/bin/env bash
# Every way a program can come by its CUDA runtime: static, shared, none installed, brought along;
# -rdc; opened later; stripped.
set -u
src=$ROOT/tests/runtime/linking
cases="static deleted by_loader shared shared_stripped own_libcudart no_libcudart not_pie rdc "\
"rdc_shared plugin stripped_library linked_library per_thread stripped fully_static"
if ! command -v nvcc > /dev/null; then
  for c in $cases; do echo "skip $c: nvcc is not installed"; done
  exit 0
fi
toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
cd "$TEST_DIR" || exit 1
nvcc() { command nvcc -arch=compute_75 "$@"; }
run() { "$WARPGRIND" --device=cpu --tool=none -q -- "$@"; }
good='result 500 593, '

# check NAME 'text that must be printed' command…
check() {
  local name=$1 text=$2; shift 2
  local output code
  output=$("$@" 2>&1); code=$?
  if [ $code = 0 ] && grep -qF -- "$text" <<< "$output"; then echo "ok $name"
  else echo "FAIL $name"; printf '%s\nexit code %s, wanted: %s\n' "$output" $code "$text"; fi
}
# refuse NAME 'text of the error' command…: exit code 125
refuse() {
  local name=$1 text=$2; shift 2
  local output code
  output=$("$@" 2>&1); code=$?
  if [ $code = 125 ] && grep -qF -- "$text" <<< "$output"; then echo "ok $name"
  else echo "FAIL $name"; printf '%s\nexit code %s, wanted 125 and: %s\n' "$output" $code "$text"
    fi
}

nvcc -o static "$src/main.cu" && check static "$good" run ./static
# A program that is gone from the disk by the time it starts, and one started through the loader.
deleted() { cp static gone; run bash -c 'exec 3< ./gone; rm gone; exec /proc/self/fd/3'; }
check deleted "$good" deleted
interpreter=$(readelf -l static | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
check by_loader "$good" run "$interpreter" ./static
nvcc -cudart=shared -o shared "$src/main.cu" && check shared "$good" run ./shared
cp shared shared_stripped && strip shared_stripped && check shared_stripped "$good" run \
  ./shared_stripped
check no_libcudart "uses $BUILD/lib/cpu/libcudart.so" env -u LD_LIBRARY_PATH "$WARPGRIND" \
  --device=cpu -q -- ./shared

# A program that insists on its own copy of NVIDIA's library.
theirs=$(find "$toolkit/" -name 'libcudart.so.1[23]*' -type f 2> /dev/null | head -n 1)
if [ -n "$theirs" ]; then
  mkdir -p own && cp "$theirs" own/ && (cd own && f=$(echo libcudart.so.*) &&
    ln -sf "$f" "$(readelf -d "$f" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" 2> /dev/null)
  nvcc -cudart=shared -Xlinker --disable-new-dtags,-rpath,"$PWD/own" -o own_libcudart "$src/main.cu"
  check own_libcudart "uses $PWD/own/libcudart.so" run ./own_libcudart
  check own_libcudart_result "$good" run ./own_libcudart
else
  echo "skip own_libcudart: the toolkit has no shared libcudart"
fi

nvcc -Xcompiler -fno-pie -Xlinker -no-pie -o not_pie "$src/main.cu" && check not_pie "$good" run \
  ./not_pie
nvcc -rdc=true -o rdc "$src/rdc_main.cu" "$src/rdc_part.cu" && check rdc 'combined 73, no error' \
  run ./rdc
nvcc -rdc=true -cudart=shared -o rdc_shared "$src/rdc_main.cu" "$src/rdc_part.cu" &&
  check rdc_shared 'combined 73, no error' run ./rdc_shared
nvcc --default-stream per-thread -o per_thread "$src/main.cu" && check per_thread "$good" run \
  ./per_thread

nvcc -shared -Xcompiler -fPIC -o libplugin.so "$src/plugin.cu"
$CC -o host "$src/host.c" -ldl
check plugin 'square 101036' run ./host "$PWD/libplugin.so"
check plugin_again 'square 101049' run ./host "$PWD/libplugin.so"

# A library as vendors ship them: a runtime inside, no names. It loads, and its calls fail.
nvcc -shared -Xcompiler -fPIC -Xlinker --exclude-libs,ALL -o libvendor.so "$src/plugin.cu" &&
  strip libvendor.so
check stripped_library 'square -1' run ./host "$PWD/libvendor.so"

# A program and a library it is linked with, each with a static runtime.
sed 's/int main() {/extern "C" int plugin_square(int);\nint main() { printf("plugin %d\\n", '\
'plugin_square(4));/' "$src/main.cu" > both.cu
nvcc -o both both.cu -L. -lplugin -Xlinker -rpath,"$PWD"
check linked_library 'plugin 101016' run ./both
check linked_library_program "$good" run ./both

cp static stripped && strip stripped && refuse stripped 'nvcc -cudart=shared' run ./stripped
if nvcc -Xcompiler -static -o fully_static "$src/main.cu" > static.log 2>&1; then
  refuse fully_static 'fully static program' run ./fully_static
else
  echo "skip fully_static: this machine cannot link a fully static CUDA program"
fi
