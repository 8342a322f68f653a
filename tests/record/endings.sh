#!/usr/bin/env bash
# timeout: 300
# Programs that are killed, fork, use two devices or fail; disks that are full: the run file can be
# used, and nobody waits for ever.
set -u
. tests/record/common
make_show
build endings || exit
build bandwidth || exit
count() { sql "$1" "SELECT value FROM meta WHERE key='trace_operations'"; }

RECORD_ARGS=kill record cpu endings killed
check killed grep -q "signal 9" "$work/killed.err"
check killed-before test "$("$work/show" "$work/killed.wg" 1 | grep -c store)" = 4096
check killed-while test "$("$work/show" "$work/killed.wg" 2 5 5 | grep -c 'store.*= 00000007')" = 1

RECORD_ARGS=devices record cpu endings devices --devices=2
check devices test "$(cat "$work/devices.out")" = 10
check devices-all test "$(count devices)" = 2001
RECORD_ARGS=fork record cpu endings fork
check fork test "$(cat "$work/fork.out")" = "5 5"
check fork-all test "$(count fork)" = 300
RECORD_ARGS=reset record cpu endings reset
check reset-all test "$(count reset)" = 2000
RECORD_ARGS=fault record cpu endings fault
check fault grep -q cudaErrorLaunchFailure "$work/fault.out"
check fault-before test "$("$work/show" "$work/fault.wg" 1 | grep -c 'store.*= 00000003')" = 32

# a limit
RECORD_ARGS="100000 256" record cpu bandwidth limit --record-disk=1
check limit-says grep -q "recording stopped: " "$work/limit.err"
check limit-result test "$(cat "$work/limit.out" | cut -d' ' -f2-)" = "no error"
check limit-file test "$(count limit)" -gt 0
# a run file that cannot grow
(ulimit -S -f 3000; RECORD_ARGS="1000000 256" record cpu bandwidth small)
check small-file test "$(cut -d' ' -f2- "$work/small.out")" = "no error"
# no place for it
"$WARPGRIND" --device=cpu --record -o "$work/nowhere/x.wg" -- "$work/endings" > "$work/out" 2>&1
check nowhere test $? = 125
# the command is killed: what was there until then can be read
(exec "$WARPGRIND" --device=cpu --tool=none --record -o "$work/command.wg" -- "$work/bandwidth" \
  40000000 64 > /dev/null 2>&1) &
command=$!
told() { sql command "SELECT count(*) FROM launch" 2> /dev/null; }
for _ in $(seq 300); do [ "$(told)" = 1 ] && break; sleep 0.2; done
kill -9 $command
wait $command 2> /dev/null
check command-killed test "$(told)" = 1
