// Counts words in a hash table: whoever finds a slot empty takes it, all others add to its count.
#include "../../../examples/example.h"

#define SLOTS 128
#define WORDS 512
#define EMPTY (-1)

struct Table
{
    int *keys, *counts;
    int slots;
};

__global__ void clear(Table t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < t.slots) {
        t.keys[i] = EMPTY;
        t.counts[i] = 0;
    }
}

__global__ void count_words(Table t, const int *words, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int word = words[i];
    unsigned slot = (unsigned)word * 2654435761u % t.slots;
    for (;; slot = (slot + 1) % t.slots) {
        int found = atomicCAS(&t.keys[slot], EMPTY, word);
        if (found == word) {
            atomicAdd(&t.counts[slot], 1);
            return;
        }
        if (found == EMPTY) {
            t.counts[slot] = 1;
            return;
        }
    }
}

// The word that is counted most often; one thread. In large tables words may share the first place.
__global__ void most_frequent(Table t, int *best, int *ties)
{
    int most = 0;
    if (t.slots > 1000)
        *ties = 0;
    for (int i = 0; i < t.slots; i++)
        if (t.counts[i] > t.counts[most])
            most = i;
    *best = t.keys[most];
}

int main(void)
{
    static int text[WORDS], counts[SLOTS];
    int *words, *best, *ties;
    Table t = {NULL, NULL, SLOTS};
    for (int i = 0; i < WORDS; i++)
        text[i] = i % 7 == 3 ? 42 : 1000 + i * i % 61;
    must(cudaMalloc(&t.keys, sizeof counts), "cudaMalloc");
    must(cudaMalloc(&t.counts, sizeof counts), "cudaMalloc");
    must(cudaMalloc(&words, sizeof text), "cudaMalloc");
    must(cudaMalloc(&best, sizeof *best), "cudaMalloc");
    must(cudaMalloc(&ties, sizeof *ties), "cudaMalloc");
    must(cudaMemcpy(words, text, sizeof text, cudaMemcpyHostToDevice), "copy to the device");
    clear<<<1, SLOTS>>>(t);
    count_words<<<WORDS / 128, 128>>>(t, words, WORDS);
    most_frequent<<<1, 1>>>(t, best, ties);
    must_finish("most_frequent");
    must(cudaMemcpy(counts, t.counts, sizeof counts, cudaMemcpyDeviceToHost), "copy to the host");
    int sum = 0;
    for (int i = 0; i < SLOTS; i++)
        sum += counts[i];
    printf("%s: %d of %d words were counted\n", sum == WORDS ? "right" : "WRONG", sum, WORDS);
    return 0;
}
