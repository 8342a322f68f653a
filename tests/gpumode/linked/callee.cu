// Run by modules_linked.sh: the function of the other file.
__device__ float other_file(float x) { return x * 2 + 1; }
