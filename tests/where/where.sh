#!/usr/bin/env bash
# quick: yes
# timeout: 300
# Host stacks: captured by src/where inside a process, turned into functions and lines by src/symbol
# in another. The chains are known, so are their lines: comments `label: NAME` in the sources.
. tests/lib/check.sh
. tests/lib/annotations.sh
d=$TEST_DIR
make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" lib-where lib-symbol lib-base > "$d/make.log" 2>&1 ||
  { cat "$d/make.log"; exit 1; }
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
flags="-std=gnu11 -g $san -Isrc"
libs=$(make -s BUILD="$BUILD" CC="$CC" print-symbol-libs)

# shellcheck disable=SC2086
{
  $CC $flags -O2 -fPIC -fvisibility=hidden -shared -Wl,-z,defs -o "$d/libcapture.so" \
    tests/where/capture_library.c \
    -Wl,--whole-archive "$BUILD/obj/libwhere.a" -Wl,--no-whole-archive "$BUILD/obj/libbase.a" -ldl \
      -lm -pthread || [ "$SAN" != 0 ] || exit 1
  $CC $flags -O2 -o "$d/symbolize" tests/where/symbolize.c "$BUILD/obj/libsymbol.a" \
    "$BUILD/obj/libbase.a" $libs -ldl -lm -pthread || exit 1
  $CC -g -O2 $san -o "$d/timing" tests/where/timing.c "$d/libcapture.so" -Wl,-rpath,"$d" || exit 1
}

line() { line_of "$1" "$ROOT/tests/where/$2"; }
# stack LABEL FUNCTION…: these functions, innermost first, are how the stack begins
stack() {
  local label=$1 got want; shift
  got=$(grep "^$label " "$d/frames" | head -n $#)
  want=$(for f in "$@"; do
    case $f in
      *@inlined) echo "$label ${f%@*} chains.c:$(line "${f%@*}" chains.c) inlined" ;;
      through_library) echo "$label $f library.c:$(line "$f" library.c)" ;;
      main) echo main ;;
      *) echo "$label $f chains.c:$(line "$f" chains.c)" ;;
    esac
  done)
  [ "$(echo "$got" | sed 's/^[a-z]* main .*/main/')" = "$want" ] || { echo "wanted:"; echo "$want"
    echo "got:"; echo "$got"; return 1; }
}

for opt in O0 O1 O2 O3 "O2 -fomit-frame-pointer" "O2 -fno-omit-frame-pointer" "O2 -gz"; do
  name=${opt// /}
  # shellcheck disable=SC2086
  $CC $flags -$opt -fPIC -shared -o "$d/library.so" tests/where/library.c &&
    $CC $flags -$opt -pthread -o "$d/chains" tests/where/chains.c "$d/libcapture.so" \
      -Wl,-rpath,"$d" -ldl || { echo "FAIL build-$name"; continue; }
  rm -f "$d/stacks"
  check "run-$name" "$d/chains" "$d/stacks" "$d/library.so"
  "$d/symbolize" "$d/stacks" > "$d/frames"
  check "plain-$name" stack plain save third second first main
  check "inline-$name" stack inline save inner@inlined middle@inlined outer main
  check "realigned-$name" stack realigned save realigned main
  check "large-$name" stack large save large main
  check "thread-$name" stack thread save in_thread
  check "coroutine-$name" stack coroutine save coroutine
  check "jit-$name" grep -q "^jit main chains.c" <(sed 's/^jit jit chains.c.*/jit main chains.c/' \
    "$d/frames")
  check "library-$name" stack library save through_library main
  check "reloaded-$name" [ \
    "$(grep -c "^library through_library library.c:$(line through_library library.c)" \
    "$d/frames")" = 3 ]
done

# A stripped program: names of exported functions at most, and places as offsets.
cp "$d/chains" "$d/unstripped"; strip "$d/chains"; rm -f "$d/stacks"
check run-stripped "$d/chains" "$d/stacks" "$d/library.so"
"$d/symbolize" "$d/stacks" > "$d/frames"
check stripped grep -qx 'plain ? chains+' "$d/frames"
check stripped-says-no-line eval '! grep -q "chains.c" "$d/frames"'
check library-of-stripped grep -q "^library through_library library.c" "$d/frames"

# Its debug information in a separate file beside it.
objcopy --only-keep-debug "$d/unstripped" "$d/chains.debug"
cp "$d/unstripped" "$d/chains"; strip "$d/chains"
  (cd "$d" && objcopy --add-gnu-debuglink=chains.debug chains); rm -f "$d/stacks"
check run-separate "$d/chains" "$d/stacks" "$d/library.so"
"$d/symbolize" "$d/stacks" > "$d/frames"
check separate stack plain save third second first main

# A file that is another one by the time its addresses are looked up.
$CC -g -O0 -fPIC -shared -o "$d/library.so" tests/where/library.c -DANOTHER -Wl,--build-id=0xabcdef
"$d/symbolize" "$d/stacks" > "$d/frames"
check replaced grep -qx 'library ? library.so+' "$d/frames"
rm "$d/library.so"
"$d/symbolize" "$d/stacks" > "$d/frames"
check removed grep -qx 'library ? library.so+' "$d/frames"

# C++ names.
if [ -e tests/where/names.cc ] && command -v "${CXX:-g++}" > "$d/log" 2>&1; then
  # shellcheck disable=SC2086
  ${CXX:-g++} -g -O1 $san -o "$d/names" tests/where/names.cc "$d/libcapture.so" -Wl,-rpath,"$d" &&
    rm -f "$d/stacks" && "$d/names" "$d/stacks" &&
    "$d/symbolize" "$d/stacks" > "$d/frames"
  check names grep -q '^names void .*outer::call<int>(char const\*, int)' "$d/frames"
fi

if [ "$SAN" = 0 ]; then
  "$d/timing" > "$d/time"; check timing [ $? = 0 ]; cat "$d/time"
fi

# Python frames, when the thread holds the lock (PyDLL) and when it does not (CDLL).
if ! command -v python3 > "$d/log" 2>&1; then echo "skip python: no python3"
elif [ "$SAN" != 0 ]; then echo "skip python: not under sanitizers"
else
  cat > "$d/want" <<EOF
script.py:$(line py_inner script.py):Thing.inner
script.py:$(line py_outer script.py):outer
script.py:$(line py_main script.py):<module>
EOF
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || sed -i 's/Thing\.//' "$d/want"
  for way in direct public; do
    # Layouts of CPython's structures are known for some versions.
    known=no; [ $way = public ] ||
      ! python3 -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' ||
      known=yes
    # shellcheck disable=SC2046
    python3 tests/where/script.py "$d/libcapture.so" $([ $way = direct ] || echo public) > \
      "$d/python" 2>&1
    check python-run-$way [ $? = 0 ]
    sed -n 's/^PY //p' "$d/python" > "$d/got"
    check python-$way cmp "$d/got" "$d/want"
    check python-error-$way grep -qx 'still raising: True' "$d/python"
    if [ $known = yes ]; then
      check python-without-lock-$way grep -qx \
        "without the lock: script.py:$(line py_released script.py):Elsewhere.größe_λ_𐌀" "$d/python"
    else
      check python-without-lock-$way grep -qx 'without the lock: no python frames' "$d/python"
    fi
    cat "$d/python"
  done
fi
exit 0
