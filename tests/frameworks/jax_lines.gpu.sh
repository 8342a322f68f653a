#!/usr/bin/env bash
# JAX on a real GPU: NaN that is born in a kernel of XLA is attributed to the line of Python; the
# correct twin is silent.
set -u
folder=$(dirname "$0")
python3 -c 'import jax, sys; sys.exit(jax.devices()[0].platform != "gpu")' 2> /dev/null ||
  { echo "skip jax: there is no JAX with a GPU"; exit 0; }
export XLA_PYTHON_CLIENT_PREALLOCATE=false
for name in wrong ok; do
  timeout 120 "$WARPGRIND" --device=gpu --tool=fpcheck python3 "$folder/jax_lines.py" \
    $([ $name = ok ] && echo ok) > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"
  echo $? > "$TEST_DIR/$name.code"
done
line=$(grep -n 'born here' "$folder/jax_lines.py" | cut -d: -f1)
if [ "$(cat "$TEST_DIR/wrong.code")" = 99 ] && grep -q 'fp-nan' "$TEST_DIR/wrong.log" &&
  grep -q "log.*(.*jax_lines.py:$line)" "$TEST_DIR/wrong.log"
  then echo "ok wrong"; else echo "FAIL wrong"; head -n 60 "$TEST_DIR/wrong.log"; fi
if [ "$(cat "$TEST_DIR/ok.code")" = 0 ] &&
  grep -q 'ERROR SUMMARY: 0 errors' "$TEST_DIR/ok.log"
  then echo "ok ok"; else echo "FAIL ok"; head -n 40 "$TEST_DIR/ok.log"; fi
