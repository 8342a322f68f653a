// Textures over linear memory: whether all of it is allocated.
#include "cuda/abi.h"
#include "session/internal.h"

size_t session_format_bytes(int format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
  }
}

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
  // mapped memory may go on
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

void session_texture_check(const char *call, const CUDA_RESOURCE_DESC *d) {
  if (!(session_tools() & TOOL_BIT(MEMCHECK)) || !d) return;
  // as much as there is, in the words of old programs
  if (d->resType == CU_RESOURCE_TYPE_LINEAR && d->res.linear.sizeInBytes < UINT32_MAX)
    check(call, d->res.linear.devPtr, d->res.linear.sizeInBytes, 1, 0);
  if (d->resType == CU_RESOURCE_TYPE_PITCH2D)
    check(call, d->res.pitch2D.devPtr,
          session_format_bytes(d->res.pitch2D.format) * d->res.pitch2D.numChannels *
              d->res.pitch2D.width,
          d->res.pitch2D.height, d->res.pitch2D.pitchInBytes);
}
