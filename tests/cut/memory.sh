#!/usr/bin/env bash
# Memory limits of control groups, of version 1 and 2: nested, without a limit, in containers that
# see a part of the tree.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
san=
[ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
flock "$BUILD/tests" make -s BUILD="$BUILD" CC="$CC" SAN="$SAN" lib-base > "$TEST_DIR/make.log" \
  2>&1 || { cat "$TEST_DIR/make.log"; exit 1; }
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall $san -Isrc -o "$TEST_DIR/memory" tests/cut/memory.c \
  "$BUILD/obj/libbase.a" -lm -pthread || exit 1
cd "$TEST_DIR" || exit 1
MB=1048576
NONE=9223372036854771712                   # "no limit" of version 1

# system NAME CGROUP-LINE MOUNTINFO-LINE: 8000 MB are available
system() {
  mkdir -p "$1/proc/self"
  echo "MemAvailable:    8192000 kB" > "$1/proc/meminfo"
  printf '%s\n' "$2" > "$1/proc/self/cgroup"
  printf '%s\n' "$3" > "$1/proc/self/mountinfo"
}
# group FOLDER LIMIT-MB|none USED-MB CACHE-MB VERSION
group() {
  mkdir -p "$1"
  local limit=$2 names=(memory.max memory.current inactive_file)
  [ "$5" = 2 ] || names=(memory.limit_in_bytes memory.usage_in_bytes total_inactive_file)
  if [ "$limit" != none ]; then limit=$((limit * MB)); elif [ "$5" = 2 ]; then limit=max
    else limit=$NONE; fi
  echo "$limit" > "$1/${names[0]}"
  echo $(($3 * MB)) > "$1/${names[1]}"
  printf 'cache 1\n%s %d\n' "${names[2]}" $(($4 * MB)) > "$1/memory.stat"
}
left() { echo $(($(./memory "$1") / MB)); }
one='36 25 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory'
two='36 25 0:32 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw'

system none '' ''
check none [ "$(left none)" = 8000 ]
system v2 '0::/job' "$two"; group v2/sys/fs/cgroup/job 1000 300 0 2
check v2 [ "$(left v2)" = 700 ]
group v2/sys/fs/cgroup/job none 300 0 2
check v2-none [ "$(left v2)" = 8000 ]
system v1 $'11:cpu,cpuacct:/x\n9:memory:/job/step' "$one"; group v1/sys/fs/cgroup/memory/job/step \
  1000 300 0 1
check v1 [ "$(left v1)" = 700 ]
group v1/sys/fs/cgroup/memory/job 500 310 10 1
check v1-parent [ "$(left v1)" = 200 ]
group v1/sys/fs/cgroup/memory 100 90 0 1
check v1-root [ "$(left v1)" = 10 ]
system unlimited '9:memory:/job' "$one"; group unlimited/sys/fs/cgroup/memory/job none 300 0 1
  group unlimited/sys/fs/cgroup/memory none 900 0 1
check v1-none [ "$(left unlimited)" = 8000 ]
system used '9:memory:/job' "$one"; group used/sys/fs/cgroup/memory/job 100 200 0 1
check v1-over [ "$(left used)" = 0 ]
# In a container the tree begins at its own group, and the path of the group may be that of outside.
system docker '9:memory:/docker/abc' \
  '36 25 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory'
group docker/sys/fs/cgroup/memory 600 100 0 1
check v1-container [ "$(left docker)" = 500 ]
system inside '9:memory:/../../other' "$one"; group inside/sys/fs/cgroup/memory 600 200 0 1
check v1-namespace [ "$(left inside)" = 400 ]
system both $'9:memory:/job\n0::/job' \
  "$one"$'\n''37 25 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw'
group both/sys/fs/cgroup/memory/job 300 100 0 1
check hybrid [ "$(left both)" = 200 ]
# --record takes half of it, unless told otherwise; this process itself: a number above zero
check here [ "$(./memory)" -gt 0 ]
