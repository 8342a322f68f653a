// The same fetches inside, from a texture whose memory is still there.
#define MORE 0
#include "textures.cu"
