#!/usr/bin/env bash
# Correct models with all tools at once on a real GPU: nothing is reported. MODELS: which of them;
# LIMIT: seconds for each; AT_ONCE: how many run side by side.
set -u
folder=$(dirname "$0")
has() { python3 -c "import $1" 2> /dev/null; }
names=
has torch && names="convolution attention embedding recurrent convolution-bf16 attention-bf16
  attention-compiled embedding-compiled"
has torch && names="$names $(printf '%s-compiled ' convolution depthwise transposed fused encoder \
  language recurrent gated perceptron sums)"
has triton && names="$names triton"
has cupy && names="$names cupy cupy-kernels"
python3 -c 'import jax, sys; sys.exit(jax.devices()[0].platform != "gpu")' 2> /dev/null &&
  names="$names jax jax-convolution jax-attention jax-recurrent jax-embedding"
export XLA_PYTHON_CLIENT_PREALLOCATE=false
[ -n "$names" ] || { echo "skip models: there is no framework"; exit 0; }
[ -z "${MODELS:-}" ] || names=$MODELS
for name in $names; do
  while [ "$(jobs -rp | wc -l)" -ge "${AT_ONCE:-8}" ]; do wait -n; done
  (timeout "${LIMIT:-200}" "$WARPGRIND" --device=gpu --tool=all python3 "$folder/models.py" \
    "$name" > "$TEST_DIR/$name.out" 2> "$TEST_DIR/$name.log"; echo $? > "$TEST_DIR/$name.code") &
done
wait
for name in $names; do
  code=$(cat "$TEST_DIR/$name.code")
  if [ "$code" = 0 ] && grep -q 'ERROR SUMMARY: 0 errors' "$TEST_DIR/$name.log"; then
    echo "ok $name"
  else
    echo "FAIL $name: exit code $code"; head -n "${LINES_OF_LOG:-60}" "$TEST_DIR/$name.log"
  fi
done
