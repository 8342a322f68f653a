#!/usr/bin/env bash
# Which tools tell frameworks to leave their own allocators, and how that is switched off.
set -u
. tests/lib/check.sh
seen() {
  env -u PYTORCH_NO_CUDA_MEMORY_CACHING -u XLA_PYTHON_CLIENT_ALLOCATOR "$WARPGRIND" -q \
    --device=cpu "$@" sh -c \
    'echo "${PYTORCH_NO_CUDA_MEMORY_CACHING-unset} ${XLA_PYTHON_CLIENT_ALLOCATOR-unset}"'
}
check "with memcheck"             [ "$(seen --tool=memcheck)" = "1 platform" ]
check "with initcheck"            [ "$(seen --tool=initcheck)" = "1 platform" ]
check "not with others"           [ "$(seen --tool=count)" = "unset unset" ]
check "not without a tool"        [ "$(seen --tool=none)" = "unset unset" ]
check "switched off"              [ "$(seen --tool=memcheck --framework-allocators=keep)" = \
  "unset unset" ]
check "what the user set stands"  [ \
  "$(XLA_PYTHON_CLIENT_ALLOCATOR=default "$WARPGRIND" -q --device=cpu --tool=memcheck sh -c \
  'echo $XLA_PYTHON_CLIENT_ALLOCATOR')" = default ]
