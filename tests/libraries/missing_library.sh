#!/usr/bin/env bash
# A program that needs NVRTC where it is not installed: the report says what to install, and the
# exit code is the dynamic linker's.
# quick: yes
. tests/lib/check.sh
cat > "$TEST_DIR/program.c" << 'END'
int nvrtcVersion(int *major, int *minor);
int main(void) {
  int major, minor;
  return nvrtcVersion(&major, &minor);
}
END
echo 'int nvrtcVersion(int *major, int *minor) { return 0; }' > "$TEST_DIR/stub.c"
"$CC" -shared -fPIC -Wl,-soname,libnvrtc.so.99 -o "$TEST_DIR/stub.so" "$TEST_DIR/stub.c" || exit 1
"$CC" -o "$TEST_DIR/program" "$TEST_DIR/program.c" "$TEST_DIR/stub.so" || exit 1
"$WARPGRIND" --device=cpu "$TEST_DIR/program" > "$TEST_DIR/out" 2>&1
check exit_code [ $? = 127 ]
check says_what_is_missing has "$TEST_DIR/out" 'needs libnvrtc.so.99 (NVRTC'
check says_what_to_install has "$TEST_DIR/out" 'nvidia-cuda-nvrtc'
ln -s stub.so "$TEST_DIR/libnvrtc.so.99"
LD_LIBRARY_PATH=$TEST_DIR "$WARPGRIND" --device=cpu --tool=none "$TEST_DIR/program" \
  > "$TEST_DIR/out" 2>&1
check runs_where_it_is_installed [ $? = 0 ]
