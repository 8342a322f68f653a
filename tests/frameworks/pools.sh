#!/usr/bin/env bash
# quick: yes
# PyTorch's cache: off under tools that need each tensor, on from the first use of a private pool.
# With a package that has the few functions of PyTorch which are asked.
set -u
. tests/lib/check.sh
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
unset PYTORCH_NO_CUDA_MEMORY_CACHING
mkdir -p "$TEST_DIR/new/torch/_inductor" "$TEST_DIR/old/torch" "$TEST_DIR/own"
for package in new old; do
  echo 'from torch import _C' > "$TEST_DIR/$package/torch/__init__.py"
done
cat > "$TEST_DIR/new/torch/_C.py" <<'PY'
state = []
def _cuda_cudaCachingAllocator_enable(on): state.append(on)
def _cuda_beginAllocateCurrentThreadToPool(device, pool): state.append(pool)
PY
touch "$TEST_DIR/new/torch/_inductor/__init__.py" "$TEST_DIR/new/torch/_inductor/cudagraph_trees.py"
touch "$TEST_DIR/old/torch/_C.py"
echo 'import sys; sys.own = 7' > "$TEST_DIR/own/sitecustomize.py"

# runs PACKAGE WARPGRIND_OPTIONS… -- PYTHON
runs() {
  local package=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  PYTHONPATH=$TEST_DIR/$package "$WARPGRIND" -q --device=cpu --tool=memcheck "${options[@]}" \
    python3 -c "import os, sys, torch
variable = lambda: os.environ.get('PYTORCH_NO_CUDA_MEMORY_CACHING', 'unset')
$2" 2>&1
}
check "off at first" [ "$(runs new -- 'print(variable(), torch._C.state)')" = "unset [False]" ]
check "on with the first pool" [ "$(runs new -- '
torch._C._cuda_beginAllocateCurrentThreadToPool(0, 5); print(torch._C.state)')" = \
  "[False, True, 5]" ]
check "on with graph trees" [ "$(runs new -- '
import torch._inductor.cudagraph_trees; print(torch._C.state)')" = "[False, True]" ]
check "a PyTorch that cannot switch" [ "$(runs old -- 'print(variable())')" = 1 ]
check "the program's own allocators" [ \
  "$(runs new --framework-allocators=keep -- 'print(variable(), torch._C.state)')" = "unset []" ]
check "the user's own setting" [ "$(PYTORCH_NO_CUDA_MEMORY_CACHING=1 runs new -- '
print(variable(), torch._C.state)')" = "1 []" ]
check "a child" [ "$(runs new -- '
import subprocess; print(subprocess.run([sys.executable, "-c",
  "import torch; print(torch._C.state)"], capture_output=True, text=True).stdout.strip())')" = \
  "[False]" ]
check "the user's sitecustomize" [ "$(PYTHONPATH=$TEST_DIR/own "$WARPGRIND" -q --device=cpu \
  --tool=memcheck python3 -c 'import sys; print(sys.own, [p for p in sys.path if "lib/python" in p
  and p.endswith("build/lib/python")])' 2>&1)" = "7 []" ]
