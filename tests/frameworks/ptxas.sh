#!/usr/bin/env bash
# The front of ptxas, called as Triton and JAX call it: same machine code, a stamp, the text kept;
# whatever goes wrong, the real ptxas gets what was given.
set -u
. tests/lib/check.sh
command -v ptxas > /dev/null || { echo "skipped: ptxas is not installed"; exit 77; }
real=$(command -v ptxas)
export WARPGRIND_CACHE_DIR=$TEST_DIR/cache
ptx=tests/frameworks/add.ptx
under() { "$WARPGRIND" --device=cpu --tool="${TOOL:-none}" -q --log-file="$TEST_DIR/log" -- "$@"; }
in_run() { under env bash -c "$1"; }

in_run 'echo "$TRITON_PTXAS_PATH $TRITON_PTXAS_BLACKWELL_PATH $WARPGRIND_PTXAS_TEXTS"; command -v '\
'ptxas; echo "$TRITON_CACHE_DIR $TORCHINDUCTOR_CACHE_DIR '\
'${JAX_COMPILATION_CACHE_DIR-unset}"' > "$TEST_DIR/names"
read -r triton blackwell texts < "$TEST_DIR/names"
check "Triton's ptxas is ours" test "$(readlink -f "$triton")" = "$(readlink -f "$WARPGRIND")"
check "the one for Blackwell too" test "$(readlink -f "$blackwell")" = "$(readlink -f "$WARPGRIND")"
check "the one on PATH too" test "$(readlink -f "$(sed -n 2p "$TEST_DIR/names")")" = \
  "$(readlink -f "$WARPGRIND")"
check "caches are our own" test "$(sed -n 3p "$TEST_DIR/names")" = \
  "$WARPGRIND_CACHE_DIR/frameworks/triton $WARPGRIND_CACHE_DIR/frameworks/inductor unset"
user_cache() {
  [ "$(JAX_COMPILATION_CACHE_DIR=$TEST_DIR/user in_run 'echo $JAX_COMPILATION_CACHE_DIR')" = \
    "$WARPGRIND_CACHE_DIR/frameworks/jax" ]
}
check "JAX's cache moves where the user has one" user_cache

in_run 'ptxas --version' > "$TEST_DIR/version"
version() {
  head -n 5 "$TEST_DIR/version" | cmp -s - <("$real" --version | head -n 5) &&
    grep -q '^Warpgrind .*build' "$TEST_DIR/version"
}
check "the version text is the real one and ours" version

# Code of all kernels, as the cubin lister reads it: the bytes of the .text sections.
code_of() { python3 - "$1" << 'PY'
import struct, sys, hashlib
d = open(sys.argv[1], "rb").read()
shoff, = struct.unpack_from("<Q", d, 40)
n, names = struct.unpack_from("<HH", d, 60)
s = [struct.unpack_from("<IIQQQQ", d, shoff + 64 * i) for i in range(n)]
name = lambda x: d[s[names][4] + x[0]:].split(b"\0", 1)[0].decode()
for x in s:
    if name(x).startswith(".text"): print(name(x), hashlib.sha256(d[x[4]:x[4] + x[5]]).hexdigest())
PY
}
same_code() { diff <(code_of "$1") <(code_of "$2"); }
id_of() { "$WARPGRIND" image "$1" | sed -n 's/.*global __warpgrind_ptx_\([0-9a-f]*\).*/\1/p'; }

call() { # NAME arguments: as Triton calls it, with and without us
  local name=$1; shift
  "$real" "$@" "$ptx" -o "$TEST_DIR/$name.plain" 2> "$TEST_DIR/$name.plain.err" || return 1
  in_run "\$TRITON_PTXAS_PATH $* $ptx -o $TEST_DIR/$name.ours" 2> "$TEST_DIR/$name.err" || return 1
  same_code "$TEST_DIR/$name.plain" "$TEST_DIR/$name.ours" || return 1
  local id; id=$(id_of "$TEST_DIR/$name.ours")
  [ ${#id} = 32 ] || { echo "no stamp"; return 1; }
  cmp -n "$(stat -c %s "$ptx")" "$texts/$id.ptx" "$ptx" || return 1
}
check "as Triton calls it" call triton -lineinfo -v --gpu-name=sm_90a
check "the real one's messages come through" grep -q 'Used .* registers' "$TEST_DIR/triton.err"
check "without fused multiply-add" call nofma -lineinfo --fmad=false -v --gpu-name=sm_90a
check "options are kept" grep -q '^// ptxas options: .*--fmad=false' \
  "$texts/$(id_of "$TEST_DIR/nofma.ours").ptx"
check "other options, another id" test "$(id_of "$TEST_DIR/nofma.ours")" != \
  "$(id_of "$TEST_DIR/triton.ours")"
check "an option with its value apart" call opt0 -lineinfo --opt-level 0 --gpu-name=sm_90a
jax() {
  cp "$ptx" "$TEST_DIR/tempfile-1234"
  in_run "ptxas $TEST_DIR/tempfile-1234 -o $TEST_DIR/jax.ours -arch=sm_90a --warn-on-spills" &&
    "$real" "$ptx" -o "$TEST_DIR/jax.plain" -arch=sm_90a &&
    same_code "$TEST_DIR/jax.plain" "$TEST_DIR/jax.ours" && [ -n "$(id_of "$TEST_DIR/jax.ours")" ]
}
check "as JAX calls it: a file without an ending" jax
tool() {
  TOOL=count in_run \
    "\$TRITON_PTXAS_PATH -lineinfo -v --gpu-name=sm_90a $ptx -o $TEST_DIR/count.ours" 2> /dev/null \
    && cmp "$TEST_DIR/count.ours" "$TEST_DIR/triton.ours"
}
if "$WARPGRIND" --help | grep -q count; then
  check "a tool leaves the machine code as it is" tool
fi

# what can go wrong
broken() { # text we cannot read, which the real one refuses too: its message and exit code
  printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { nonsense.u32 %%r1; '\
'}\n' > "$TEST_DIR/broken.ptx"
  "$real" --gpu-name=sm_90 "$TEST_DIR/broken.ptx" -o "$TEST_DIR/x" > "$TEST_DIR/b1" 2>&1; local a=$?
  in_run "ptxas --gpu-name=sm_90 $TEST_DIR/broken.ptx -o $TEST_DIR/x" > "$TEST_DIR/b2" 2>&1
    local b=$?
  [ $a != 0 ] && [ $a = $b ] && cmp "$TEST_DIR/b1" "$TEST_DIR/b2"
}
check "PTX that is refused" broken
missing() {
  in_run "ptxas --gpu-name=sm_90 $TEST_DIR/there-is-none.ptx -o $TEST_DIR/x" > "$TEST_DIR/b2" 2>&1
    [ $? = "$("$real" --gpu-name=sm_90 "$TEST_DIR/there-is-none.ptx" -o "$TEST_DIR/x" > /dev/null \
    2>&1; echo $?)" ]
}
check "a file that is not there" missing
unwritable() { # texts cannot be kept: compiled as it is, not stamped
  local options="-lineinfo --gpu-name=sm_90a $ptx -o $TEST_DIR/u.ours"
  in_run "WARPGRIND_PTXAS_TEXTS=/nowhere \$TRITON_PTXAS_PATH $options" &&
    same_code "$TEST_DIR/triton.plain" "$TEST_DIR/u.ours" && [ -z "$(id_of "$TEST_DIR/u.ours")" ]
}
check "texts cannot be kept" unwritable
no_cache() {
  [ "$(WARPGRIND_CACHE_DIR= in_run 'echo ${TRITON_PTXAS_PATH-unset} $(command -v ptxas)')" = \
    "unset $real" ]
}
check "without a cache folder nothing is changed" no_cache
users() { # the user's own ptxas is the one that is run
  printf '#!/bin/sh\necho called >> "%s"\nexec "%s" "$@"\n' "$TEST_DIR/called" "$real" > \
    "$TEST_DIR/my-ptxas"; chmod +x "$TEST_DIR/my-ptxas"
  TRITON_PTXAS_PATH=$TEST_DIR/my-ptxas in_run \
    "\$TRITON_PTXAS_PATH -lineinfo --gpu-name=sm_90a $ptx -o $TEST_DIR/mine.ours" &&
    [ -s "$TEST_DIR/called" ] && [ -n "$(id_of "$TEST_DIR/mine.ours")" ]
}
check "the user's own ptxas" users
check "no file is left behind" test -z \
  "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'warpgrind-*.ptx' -newer "$TEST_DIR/names" -size 0 \
  2> /dev/null)$(find "$texts" -name '.new.*')"
