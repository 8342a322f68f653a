#include "channel/channel.h"

static const ChannelKindInfo kinds[] = {
#define KIND(id, number, name, severity, text) {number, name, text, SEVERITY_##severity},
#include "probe/kinds.def"
};

const ChannelKindInfo *channel_kind(uint32_t number) {
  for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
    if (kinds[i].number == number) return &kinds[i];
  return NULL;
}

const ChannelKindInfo *channel_kind_named(const char *name) {
  for (size_t i = 0; name && i < ARRAY_LEN(kinds); i++)
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  return NULL;
}

const char *channel_severity_name(Severity s) {
  static const char *const names[] = {"none", "note", "warning", "error"};
  return names[s];
}
