// Events as bytes. A field of an event's struct takes one word, a list two; so a string of letters
// describes each struct.
#include "channel/channel.h"

static const struct {
  const char *fields;
} table[] = {
    {""},
#define NUM(name) "n"
#define TEXT(name) "t"
#define LIST(name) "l"
#define EVENT(id, Name, fields) {fields ""},
#include "channel/events.def"
};

_Static_assert(sizeof(char *) == sizeof(uint64_t), "a field is one word");
enum { NO_TEXT = 0xffffffffu };

static size_t round8(size_t n) { return (n + 7) & ~(size_t)7; }
static size_t text_length(const char *s) { return s ? strnlen(s, CHANNEL_TEXT_MAX) : 0; }
static uint64_t list_length(const uint64_t *words) {
  return words[0] ? MIN(words[1], (uint64_t)CHANNEL_LIST_MAX) : 0;
}

size_t channel_encoded_size(ChannelEvent type, const void *event) {
  size_t size = sizeof(ChannelEventHead);
  const uint64_t *word = event;
  for (const char *f = table[type].fields; *f; f++, word++) {
    if (*f == 'n') size += 8;
    else if (*f == 't') size += 8 + round8(text_length((const char *)(uintptr_t)*word) + 1);
    else {
      size += 8 + 8 * list_length(word);
      word++;
    }
  }
  return size;
}

void channel_encode(ChannelEvent type, const void *event, void *to, size_t size) {
  ChannelEventHead head = {(uint32_t)size, type};
  memcpy(to, &head, sizeof head);
  char *p = (char *)to + sizeof head, *end = (char *)to + size;
  const uint64_t *word = event;
  for (const char *f = table[type].fields; *f; f++, word++) {
    uint64_t first = *word;
    if (*f == 't') {
      const char *s = (const char *)(uintptr_t)*word;
      size_t n = text_length(s), room = (size_t)(end - p) - 8;
      n = MIN(n, room - 1);  // another thread may lengthen the string meanwhile
      first = s ? n : NO_TEXT;
      memset(p + 8, 0, MIN(round8(n + 1), room));
      if (s) memcpy(p + 8, s, n);
      memcpy(p, &first, 8);
      p += 8 + round8(n + 1);
    } else if (*f == 'l') {
      uint64_t n = list_length(word);
      memcpy(p, &n, 8);
      if (n) memcpy(p + 8, (const void *)(uintptr_t)word[0], n * 8);
      p += 8 + n * 8;
      word++;
    } else {
      memcpy(p, &first, 8);
      p += 8;
    }
  }
}

bool channel_decode(ChannelEvent type, const void *from, size_t size, AnyEvent *out) {
  if (type == EVENT_NONE || type >= EVENT_COUNT || size < sizeof(ChannelEventHead)) return false;
  const char *p = (const char *)from + sizeof(ChannelEventHead), *end = (const char *)from + size;
  uint64_t *word = (uint64_t *)out;
  for (const char *f = table[type].fields; *f; f++, word++) {
    if (end - p < 8) return false;
    uint64_t first;
    memcpy(&first, p, 8);
    p += 8;
    if (*f == 'n') {
      *word = first;
    } else if (*f == 't') {
      uint64_t n = first == NO_TEXT ? 0 : first;
      if (n > CHANNEL_TEXT_MAX || (size_t)(end - p) < round8(n + 1) || strnlen(p, n + 1) != n)
        return false;
      *word = first == NO_TEXT ? 0 : (uintptr_t)p;
      p += round8(n + 1);
    } else {
      if (first > CHANNEL_LIST_MAX || (size_t)(end - p) < first * 8) return false;
      *word++ = (uintptr_t)p;
      *word = first;
      p += first * 8;
    }
  }
  return p == end;
}
