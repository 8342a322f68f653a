# shellcheck shell=bash
# Sourced by the scripts of this folder: gpu_unit NAME links NAME.c with src/gpu and the fake
# driver. start.c and procaddr.c find the real driver; they are left out.
. tests/lib/unit.sh
gpu_unit() {
  local objects=() object
  for object in "$BUILD"/obj/{gpu,gpu/*,image,interrupt,closed}/*.o; do
    case $object in */gpu/start.o | */gpu/procaddr.o) ;; *) objects+=("$object") ;; esac
  done
  unit "gpu_unit/$1" -Itests/gpu_unit tests/gpu_unit/fake_driver.c "${objects[@]}" -lzstd -llz4
}
