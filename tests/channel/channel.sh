#!/usr/bin/env bash
# quick: yes
# The report channel: a program that reports through the session API, in every way a program can
# behave and end.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
. tests/lib/session.sh
san=; [ "$SAN" = 0 ] || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$CC -std=gnu11 -g -O1 -Wall -Wextra -Wno-unused-parameter $san -pthread -Isrc -Itests/channel -o \
  "$TEST_DIR/fake" tests/channel/fake.c \
  "${SESSION_OBJS[@]}" || { echo "FAIL fake: does not compile"; exit 1; }
cd "$TEST_DIR" || exit 1
w="$WARPGRIND --device=cpu --tool=none"
count="$w --tool=count --host-stacks=no"
sql() { "$WARPGRIND" sql run.wg "${1//$'\n'/ }" | tail -n +2; }
errors() { has err "ERROR SUMMARY: $1 errors from $2 places"; }

# order and completeness: every launch arrives, in order, although the ring is much smaller than the
# traffic
check traffic            [ "$(code $count -o run.wg ./fake launches 50000)" = 0 ]
check traffic_complete   [ "$(sql 'select count(*), min(number), max(number) from launch')" = \
  "50000	1	50000" ]
check traffic_in_order   [ "$(sql 'select count(*) from launch a join launch b on b.id = a.id + 1
  where b.number <> a.number + 1')" = 0 ]
check traffic_coverage   has err 'coverage (count): 50000 launches (100%) of 1 kernels'
check own_exit_code      [ "$(code $count ./fake launches 1 5)" = 5 ]

# findings of the device: the first in full, all of them counted
check finding            [ "$(code $count ./fake finding 1000)" = 99 ]
check finding_counted    errors 1000 1
check finding_where      has err 'inlined at fake.cu:101 in outer'
check finding_allocation has err '8 bytes after the end of an allocation of 4096 bytes at 0x10000'
check exit_code_option   [ "$(code $count --error-exitcode=3 ./fake finding 1)" = 3 ]
check many_places        [ "$(code $count --max-errors=2 ./fake many_places 20000)" = 99 ]
check many_places_counted errors 60000 20000
check max_errors         [ "$(grep -c 'NaN appears' err)" = 2 ]
check too_many_places    [ "$(code $count --max-errors=1 ./fake many_places 120000)" = 99 ]
check too_many_counted   errors 360000 120000
check too_many_said      [ "$(grep -c 'more than 100000 places' err)" = 1 ]
check quiet              [ "$(code $count -q ./fake finding 1; grep -c SUMMARY err)" = "99
0" ]
check quiet_has_finding  has err 'oob-write'

# ways to end
check killed             [ "$(code $count ./fake kill 9)" = 99 ]
check killed_all_there   errors 3 2
check killed_launches    has err 'kernel launches: 10'
check killed_says_so     has err 'signal 9'
check exits_at_once      [ "$(code $count ./fake kill 0)" = 99 ]
check exits_all_there    errors 3 2
check crashed            [ "$(code $count ./fake kill 11)" = 99 ]
check crashed_all_there  errors 3 2
check killed_busy        [ "$(code $count -o run.wg ./fake kill_busy)" = 99 ]
check killed_busy_order  [ "$(sql 'select count(*) - count(distinct number) from launch')" = 0 ]
check killed_busy_many   [ "$(sql 'select count(*) > 1000 from launch')" = 1 ]
check hole               [ "$(code $count ./fake hole)" = 99 ]
check hole_passed_over   errors 3 3

# a program that hangs: its findings are there before it ends, and the summary when it is
# interrupted
$count ./fake hang > out 2> err &
pid=$!
wait_for grep -q barrier-divergence err
check hang_shows_finding has err 'barrier-divergence'
kill -TERM $pid; wait $pid
check hang_exit_code     [ $? = 99 ]
check hang_summary       errors 1 1

# several processes
check forks              [ "$(code $count -o run.wg ./fake fork 100)" = 99 ]
check forks_all_there    errors 100 100
check forks_launches     has err 'kernel launches: 101'
check forks_processes    [ "$(sql 'select count(distinct pid) from process')" = 101 ]
check forks_kernels      [ "$(sql 'select count(*), sum(launches) from kernel where name = "k"')" \
  = "101	101" ]
check fork_while_writing [ "$(code $count ./fake fork_busy)" = 99 ]
check fork_while_errors  errors 1 1
check exec               [ "$(code $count ./fake exec)" = 99 ]
check exec_all_there     errors 2 2
check close_fds          [ "$(code $count ./fake close_fds)" = 99 ]
check close_fds_there    errors 2 2
check children_of_shell  [ \
  "$(code $count sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ./fake finding 1; done')" = 99 ]
check children_counted   errors 10 10

# as many processes and contexts at once as there are
check crowd              [ "$(code $count ./fake crowd 140)" = 99 ]
check crowd_all_there    errors 140 140
check devices            [ "$($w --tool=fpcheck --host-stacks=no ./fake devices 60 2> err)" = 0 ]

# what cannot be done is said: a limit on the size of files leaves room for 64 processes and 32
# contexts
few() { (ulimit -f 1000000; "$@") > out 2> err; echo $?; }
check crowd_limit        [ "$(few $count ./fake crowd 80)" = 125 ]
check crowd_limit_said   grep -qE \
  'could not do its work: Process [0-9]+ cannot report to the warpgrind command \(all 64 places' err
check crowd_the_others   grep -qE 'ERROR SUMMARY: 6[34] errors from' err
check devices_limit      [ "$(few $w --tool=fpcheck --host-stacks=no ./fake devices 33)" = 125 ]
check devices_limit_out  [ "$(cat out)" = 2 ]
check devices_said       has err \
  'findings of device 33 cannot be reported: all 32 channels for findings are in use'
check lost_counts        [ "$(code $count ./fake lost_counts 1)" = 0 ]
check lost_counts_said   has err 'the counts of device 0 are lost'
check exit_lost_counts   [ "$(code $count ./fake lost_counts 2)" = 0 ]
check exit_lost_said     has err 'before the counts of device 0 were read'
check truncate           [ "$(code $count ./fake truncate)" = 99 ]
for seed in 1 2 3 4 5 6 7 8; do
  code $count ./fake scribble $seed > code
  grep -qE '^(0|99|125)$' code && grep -q 'ERROR SUMMARY' err || { echo "FAIL scribble_$seed"
    cat code err | tail -5; }
done
check scribble           [ -s code ]

# the command is killed: a process that is left goes on
timeout 60 setsid $count ./fake orphan > out 2> err
wait_for [ -e orphan.done ]
check orphan_goes_on     [ -e orphan.done ]

# without a command everything is private
check alone              [ "$(env WARPGRIND_TOOL=count "$TEST_DIR/fake" launches 10 > out 2> err;
  echo $?)" = 0 ]

# selection
check select_all         [ "$($count ./fake select 2> /dev/null)" = "11 11 11 11 11 11 " ]
check select_kernel      [ "$($count --kernel='^k$' ./fake select 2> /dev/null)" = \
  "10 10 10 10 10 10 " ]
check select_exclude     [ "$($count --kernel-exclude='^k$' ./fake select 2> /dev/null)" = \
  "01 01 01 01 01 01 " ]
check select_launches    [ "$($count --launch-skip=3 --launch-count=4 ./fake select 2> /dev/null)" \
  = "00 01 11 10 00 00 " ]
check bad_regex          [ "$(code $count --kernel='(' ./fake select)" = 125 ]

# coverage
check tools_written_out   [ "$(code $w --tool=all --json=all.json ./fake launches 1;
  grep -c '"tools":\[.*"count","fpcheck".*\],"coverage"' all.json)" = "0
1" ]
check min_coverage       [ "$(code $count --min-coverage=100 ./fake launches 3)" = 0 ]
check min_coverage_low   [ "$(code $w --min-coverage=1 ./fake launches 3)" = 125 ]
check min_coverage_said  has err '--min-coverage=1'
check nothing_checked    grep -qE '^==[0-9]+== NOTHING WAS CHECKED$' <(tail -n 1 err)

# cost of a launch without stacks and without a run file
if [ "$SAN" = 0 ]; then
  ns=$($w ./fake time 20000 2> /dev/null)
  echo "a launch costs $ns ns"
  check launch_is_cheap  [ "$ns" -lt 1000 ]
fi
