#!/usr/bin/env bash
# timeout: 300
# Every process of a run is checked, however many there are and whatever they do to their
# surroundings; what cannot be taken is exit code 125 and a sentence.
set -u
cd "$ROOT" || exit 1
. tests/lib/check.sh
export BEHAVE=$TEST_DIR/behave
$CC -std=gnu11 -g -O1 -Wall -Wextra -Isrc -pthread -o "$BEHAVE" tests/processes/behave.c \
  -L"$BUILD/lib" -l:libcuda.so.1 || { echo "FAIL build"; exit 1; }
cd "$TEST_DIR" || exit 1
w="timeout -s KILL 120 $WARPGRIND --device=cpu"
errors() { has err "ERROR SUMMARY: $1 errors from $1 places"; }
# runs NAME ERRORS ARGUMENTS…: the exit code and the number of findings are right
runs() {
  local name=$1 n=$2 code; shift 2
  code=$(code $w "$BEHAVE" "$@")
  check "$name" [ "$code" = "$([ "$n" = 0 ] && echo 0 || echo 99)" ]
  check "${name}_findings" errors "$n"
}

# many processes: one after the other, at once, by exec
runs after_each_other 40 many 40 1 1 fork
runs at_once 40 together 40
runs contexts_at_once 48 together 8 6
runs execs 40 execs 40
for how in vfork spawn clone3; do runs "$how" 5 many 10 2 3 $how; done
runs killed 1 finish kill
runs exits_at_once 1 finish exit

# 200 children with bugs in 100: each is reported once, with the stacks of its own process, and the
# memory of the command does not grow
memory() { python3 -c 'import resource, subprocess, sys; r = subprocess.run(sys.argv[1:],
  stderr=open("err", "w")); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"; }
kb=$(memory $w --json=many.json "$BEHAVE" many 200 2 8 fork)
check children_findings errors 100
check children_stacks python3 - << 'END'
import json, sys
found = json.load(open("many.json"))["findings"]
names = lambda x: [frame["function"] for frame in x.get("stack", [{"function": "none"}])]
right = [f for f in found if names(f)[0] == "compute" and f["count"] == 1
         and names(f.get("allocation", {}))[-1] == "main"]
sys.exit(len(found) != 100 or len(right) != 100 or len({f["process"] for f in found}) != 100)
END
[ "$SAN" = 0 ] && check children_memory [ "$kb" -lt 120000 ]
check children_run_file [ "$(code $w -o run.wg "$BEHAVE" many 30 10 4 fork)" = 99 ]
check children_frames [ "$("$WARPGRIND" sql run.wg "select count(*) from process p where p.id not in
  (select s.process from stack s join frame f on f.stack = s.id where f.function = 'compute')" |
  tail -n 1)" = 0 ]

# what processes do to themselves, before the first CUDA call, after one, and before another program
for change in close nofile daemon raw; do
  runs "${change}_before" 1 change $change before
  [ $change = daemon ] || runs "${change}_after" 1 change $change after
  [ $change = nofile ] || runs "${change}_exec" 1 change $change exec
done
for change in drop chroot mount network pid container; do
  if [ "$(id -u)" != 0 ] || [ "$(code "$BEHAVE" change $change none)" = 3 ] &&
    grep -qE '^(setuid|chroot|unshare|mount): ' err; then
    echo "skip $change: needs the rights of root"
    continue
  fi
  runs "${change}_before" 1 change $change before
  case $change in drop | chroot | mount | network) runs "${change}_after" 1 change $change after ;;
    esac
  case $change in drop | mount | network | pid) runs "${change}_exec" 1 change $change exec ;; esac
  case $change in chroot) runs chroot_drop 1 change chroot+drop+close before ;; esac
  # a program that finds no way to the command says so, and ends with 125: behave then ends with 3
  case $change in container)
    check container_exec [ "$(code $w "$BEHAVE" change container exec)" = 3 ]
    check container_exec_code has err "a child: $((125 * 256))"
    check container_exec_said grep -q 'Process [0-9]* cannot report to the warpgrind command' err ;;
  esac
done

# limits are loud: a limit on the size of files leaves room for 32 channels
few() { (ulimit -f 1000000; $w "$BEHAVE" together 40) > out 2> err; echo $?; }
check too_many [ "$(few)" = 125 ]
check too_many_said grep -q 'could not do its work: Findings of device 0 in process [0-9]* cannot '\
'be reported: all 32 channels' err

# the memory files of the command cannot be cut
check truncate [ "$(code $w "$BEHAVE" truncate)" = 99 ]
check truncate_refused [ ! -s out ]
