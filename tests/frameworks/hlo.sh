#!/usr/bin/env bash
# quick: yes
# A finding in a kernel of XLA (JAX) names the line of Python that it was made from, by the program
# that XLA writes; its folder is gone afterwards. With a script that does what XLA does.
set -u
cd "$ROOT" || exit 1
[ "$SAN" = 0 ] || { echo "skip hlo: not under sanitizers"; exit 0; }
command -v python3 > /dev/null || { echo "skip hlo: no python3"; exit 0; }
export WARPGRIND_CACHE_DIR=$TEST_DIR/cache
run() {  # NAME ARGUMENTS…
  local name=$1; shift
  timeout 60 "$WARPGRIND" --device=cpu --tool=memcheck python3 tests/frameworks/hlo.py "$@" > \
    "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"
  echo $?
}
. tests/lib/check.sh
says() { grep -qF -- "$1" "$TEST_DIR/$2" || { cat "$TEST_DIR/$2"; return 1; }; }
lacks() { ! grep -qF -- "$1" "$TEST_DIR/$2" || { cat "$TEST_DIR/$2"; return 1; }; }
check lines        [ "$(run lines lines)" = 99 ]
check lines_at     says "at jit(loss)/log (/models/model.py:41)" lines.log
check lines_by     says "by <module> (tests/frameworks/hlo.py:" lines.log
check lines_fused  says "by jit(loss)/mul (/models/model.py:38)" lines.log
check frames       [ "$(run frames frames)" = 99 ]
check frames_at    says "at loss, jit(loss)/log (/models/model.py:41)" frames.log
check frames_by    says "by main (/models/model.py:90)" frames.log
check frames_fused says "by loss, jit(loss)/mul (/models/model.py:38)" frames.log
check frames_own   lacks "site-packages" frames.log
check other        [ "$(run other other)" = 99 ]
check other_silent lacks "model.py" other.log
check right        [ "$(run right lines ok)" = 0 ]
check removed      [ ! -e "$(cut -d' ' -f3 "$TEST_DIR/right.out")" ]
export XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_dump_to=$TEST_DIR/mine"
check own_folder   [ "$(run own lines)" = 99 ]
check own_kept     [ -e "$TEST_DIR/mine/module_0001.jit_loss.sm_9.0_gpu_after_optimizations.txt" ]
check own_at       says "at jit(loss)/log (/models/model.py:41)" own.log
