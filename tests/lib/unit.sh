# shellcheck shell=bash
# Sourced by unit tests in C of the session and of src/gpu, which run with a fake device.
# unit FOLDER/NAME [FILE…]: links tests/FOLDER/NAME.c with those files, the fake device and the
# tree's objects, and runs it. The test has a table of tools of its own instead of the real one.
. tests/lib/session.sh
UNIT_OBJS=()
for object in "${SESSION_OBJS[@]}"; do
  [[ $object == */obj/tools/host.o ]] || UNIT_OBJS+=("$object")
done
unit() {
  local name=$1 san=; shift
  [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
  # shellcheck disable=SC2086
  $CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -pthread -Isrc -Itests/lib \
    -Wl,--wrap=session_send,--wrap=session_note \
    -Wl,--wrap=channel_device_claim,--wrap=channel_device_unmap -o "$TEST_DIR/unit" \
    "tests/$name.c" tests/lib/fake_device.c "$@" "${UNIT_OBJS[@]}" 2> "$TEST_DIR/cc" ||
    { echo "FAIL compile"; cat "$TEST_DIR/cc"; return; }
  (cd "$TEST_DIR" && ASAN_OPTIONS=detect_leaks=0 timeout 60 ./unit) || echo "FAIL exit code $?"
}
