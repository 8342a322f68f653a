// The token in the address of the page: requests without it are refused. Each server makes a new
// one.
#include "view/server.h"

#include <sys/random.h>

bool view_token_make(char token[VIEW_TOKEN_TEXT], Error *err) {
  uint8_t bytes[VIEW_TOKEN_BYTES];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    return error_set(err, "the system gives no random numbers for the address of the page.");
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

// Takes the same time wherever the two differ, so that the token cannot be guessed letter by
// letter.
const char *view_token_strip(const char *token, const char *url) {
  enum { LETTERS = VIEW_TOKEN_TEXT - 1 };
  if (strnlen(url, LETTERS + 2) < LETTERS + 2) return NULL;
  unsigned differs = (unsigned)(url[0] ^ '/') | (unsigned)(url[LETTERS + 1] ^ '/');
  for (int i = 0; i < LETTERS; i++) differs |= (unsigned)(url[i + 1] ^ token[i]);
  return differs ? NULL : url + LETTERS + 1;
}
