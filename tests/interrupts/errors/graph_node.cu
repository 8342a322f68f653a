// says: kernel _Z6kernelv calls interrupts (tests/interrupts/errors/graph_node.cu:9): it cannot be
//    part of a graph
// prints: operation not permitted when stream is capturing
#include <cstdio>

#include "warpgrind.h"

WG_INTERRUPT(f, void(int x));
__global__ void kernel() { f(1); }
WG_HANDLER(f, wg_callers &callers, wg_list<int> x) {}

// A node that the program adds itself.
int main() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaKernelNodeParams p = {};
  p.func = (void *)kernel;
  p.gridDim = p.blockDim = dim3(1);
  cudaGraphCreate(&graph, 0);
  puts(cudaGetErrorString(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &p)));
  cudaGraphDestroy(graph);
}
