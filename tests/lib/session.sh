# Sourced by test scripts whose programs report through the session: what they are linked with.
# shellcheck disable=SC2034
SESSION_OBJS=("$BUILD"/obj/{base,ptx,ir,sass,weave,tools,tools/*,channel,where,session}/*.o \
  "$BUILD"/obj/{jit,vgpu,vgpu/*,probe}/*.o -lm -lrt -ldl)
