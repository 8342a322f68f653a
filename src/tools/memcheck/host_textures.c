// Checks that all linear memory of a new texture is allocated.
#include "cuda/format.h"
#include "cuda/abi.h"
#include "tools/memcheck/host.h"

static void check(const char *call, uint64_t address, uint64_t row_bytes, uint64_t rows,
                  uint64_t pitch) {
  HeapRange r;
  if (!address || !row_bytes || !rows || !session_ranges_look(address, &r)) return;
  uint64_t bytes, room = r.memory.base + r.memory.size - address;
  if (__builtin_mul_overflow(rows - 1, pitch, &bytes) ||
      __builtin_add_overflow(bytes, row_bytes, &bytes))
    bytes = UINT64_MAX;
  bool freed = r.memory.state != WG_MEMORY_LIVE && r.kind != SESSION_GRAPH,
       short_pitch = rows > 1 && pitch < row_bytes;
  // another mapping may follow
  if (!freed && !short_pitch && (bytes <= room || r.kind == SESSION_VIRTUAL)) return;
  char text[256];
  if (freed)
    snprintf(text, sizeof text, "%s: the texture lies in memory that was freed before", call);
  else if (short_pitch)
    snprintf(text, sizeof text,
             "%s: the pitch of the texture, %llu bytes, is smaller than a row of %llu", call,
             (unsigned long long)pitch, (unsigned long long)row_bytes);
  else
    snprintf(
        text, sizeof text,
        "%s: the texture covers %llu bytes where %llu are left of the allocation: %llu too many",
        call, (unsigned long long)bytes, (unsigned long long)room,
        (unsigned long long)(bytes - room));
  session_finding(&(SessionFinding){.kind = "api-misuse",
                                    .text = text,
                                    .has_address = true,
                                    .address = freed || short_pitch ? address : address + room,
                                    .related = r.memory.base});
}

void textures_asked(const char *call, const CUDA_RESOURCE_DESC *d) {
  if (!d) return;
  // old programs pass the largest size to mean all of the memory
  if (d->resType == CU_RESOURCE_TYPE_LINEAR && d->res.linear.sizeInBytes < UINT32_MAX)
    check(call, d->res.linear.devPtr, d->res.linear.sizeInBytes, 1, 0);
  if (d->resType == CU_RESOURCE_TYPE_PITCH2D)
    check(call, d->res.pitch2D.devPtr,
          cuda_format_bytes(d->res.pitch2D.format) * d->res.pitch2D.numChannels *
              d->res.pitch2D.width,
          d->res.pitch2D.height, d->res.pitch2D.pitchInBytes);
}
