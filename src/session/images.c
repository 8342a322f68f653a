// The texture objects over linear memory and the surface objects of the process, with their sizes.
// Kernels see them after the table of allocations.
#include "cuda/format.h"
#include "cuda/abi.h"
#include "session/internal.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static VEC(WgImage) images;  // by key

static uint32_t place_of(uint64_t key) {
  uint32_t low = 0, high = images.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (images.data[middle].key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

static bool wanted(void) { return session_wants(SESSION_WANTS_IMAGES); }

static void set(WgImage new, bool is_there) {
  pthread_rwlock_wrlock(&lock);
  uint32_t at = place_of(new.key);
  bool known = at < images.len && images.data[at].key == new.key;  // the driver reuses handles
  if (is_there && !known) {
    vec_push(&images, (WgImage){0});
    memmove(&images.data[at + 1], &images.data[at], (images.len - 1 - at) * sizeof *images.data);
  }
  if (is_there) images.data[at] = new;
  if (!is_there && known) {
    memmove(&images.data[at], &images.data[at + 1], (images.len - 1 - at) * sizeof *images.data);
    images.len--;
  }
  pthread_rwlock_unlock(&lock);
  session_ranges_outdated();
}

void session_texture_created(uint64_t handle, const CUDA_RESOURCE_DESC *d) {
  if (!wanted()) return;
  uint64_t bytes = 0, elements = 0;
  if (d->resType == CU_RESOURCE_TYPE_LINEAR)
    bytes = cuda_format_bytes(d->res.linear.format) * d->res.linear.numChannels;
  if (bytes) elements = d->res.linear.sizeInBytes / bytes;
  set((WgImage){.key = WG_IMAGE_KEY(handle, 0),
                .base = d->res.linear.devPtr,
                .width = (uint32_t)elements,
                .height = 1,
                .slices = 1,
                .bytes = (uint32_t)bytes},
      bytes && elements < UINT32_MAX);
}

void session_surface_created(uint64_t handle, const CUDA_ARRAY3D_DESCRIPTOR *d) {
  if (!wanted()) return;
  uint64_t bytes = cuda_format_bytes(d->Format) * d->NumChannels, width = d->Width * bytes,
           height = MAX(d->Height, 1), slices = MAX(d->Depth, 1);
  set((WgImage){.key = WG_IMAGE_KEY(handle, 1),
                .width = (uint32_t)width,
                .height = (uint32_t)height,
                .slices = (uint32_t)slices,
                .bytes = (uint32_t)bytes},
      bytes && width < WG_IMAGE_WIDEST && height < WG_IMAGE_MOST && slices < WG_IMAGE_MOST);
}

void session_texture_destroyed(uint64_t handle) {
  if (wanted()) set((WgImage){.key = WG_IMAGE_KEY(handle, 0)}, false);
}

void session_surface_destroyed(uint64_t handle) {
  if (wanted()) set((WgImage){.key = WG_IMAGE_KEY(handle, 1)}, false);
}

size_t session_images_bytes(void) {
  pthread_rwlock_rdlock(&lock);
  size_t bytes = images.len * sizeof *images.data;
  pthread_rwlock_unlock(&lock);
  return bytes;
}

bool session_images_write(void *to, size_t room, uint32_t *count) {
  pthread_rwlock_rdlock(&lock);
  bool fits = images.len * sizeof *images.data <= room;
  if (fits && images.len) memcpy(to, images.data, images.len * sizeof *images.data);
  *count = images.len;
  pthread_rwlock_unlock(&lock);
  return fits;
}
