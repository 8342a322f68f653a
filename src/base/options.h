// options: the user's options, from the command line or the environment. The command and the
// library inside the program use the same table and the same checks: `warpgrind --seed=3 ./app`
// passes WARPGRIND_SEED=3.
#ifndef WG_OPTIONS_H
#define WG_OPTIONS_H

#include "base/base.h"

// Options that no single tool has. A tool finds its own in tools/options.h; their numbers follow.
enum {
#define OPTION(id, ...) OPT_##id,
#define IMPLIED(id, value)
#include "base/options.def"
#include "tools/options.def"
#undef OPTION
#undef IMPLIED
  OPT_FIRST_OF_TOOLS,
  OPTIONS_MOST = 256
};
typedef unsigned OptionId;

// The part of the help that shows an option: options of checks come first, under one heading.
typedef enum OptionSection {
  SECTION_SELECTION,  // which tools run, and on which kernels and launches
  SECTION_TOOLS,      // how a tool checks
  SECTION_OUTPUTS,    // what launches write
  SECTION_FAILURES,   // launches that go wrong
  SECTION_MEMORY,     // allocations
  SECTION_RECORDING,
  SECTION_DEVICE,
  SECTION_REPORT,
  SECTION_PROGRAM,
  SECTION_COUNT
} OptionSection;
const char *options_heading(OptionSection s);

typedef enum { OPTION_FLAG, OPTION_NUMBER, OPTION_TEXT, OPTION_LIST, OPTION_CHOICE } OptionKind;
typedef struct OptionInfo {
  const char *name;
  char letter;
  OptionKind kind;
  const char *argument, *initial;
  OptionSection section;
  const char *help;
} OptionInfo;
extern const OptionInfo options_table[];

// The n-th option in the order of the help; OPTIONS_MOST: there are no more.
OptionId options_at(unsigned n);
#define EACH_OPTION(id) \
  for (unsigned id##_at = 0, id; (id = options_at(id##_at)) < OPTIONS_MOST; id##_at++)

// {0}: nothing given, defaults apply
typedef struct Options {
  const char *text[OPTIONS_MOST];
} Options;

// Whether the text is a value of an option of this kind.
bool options_check(const OptionInfo *info, const char *text, Error *err);
const char *options_implied(OptionId id);  // its value if given without one; NULL: not allowed
// checks the text; it is not copied
bool options_set(Options *o, OptionId id, const char *text, Error *err);
bool options_from_environment(Options *o, Error *err);  // WARPGRIND_*; does not replace what is set
void options_to_environment(const Options *o);
void options_variable(OptionId id, char *out, size_t size);  // "WARPGRIND_LOG_FILE"
bool options_given(const Options *o, OptionId id);
// Whether the OpenCL layer must sit in front of the platform: OpenCL calls or the times of commands
// are to be written.
bool options_want_opencl_layer(const Options *o);
const char *options_text(const Options *o, OptionId id);  // or the default; NULL: neither
uint64_t options_number(const Options *o, OptionId id);
bool options_flag(const Options *o, OptionId id);  // also for yes|no
bool options_is(const Options *o, OptionId id, const char *word);

// "run-%p-%q{USER}.log" -> "run-4711-ada.log". pid 0: this process.
bool options_expand_name(const char *pattern, int pid, Str *out, Error *err);
// Opens the log as the options say. pid 0: this process.
bool options_open_log(const Options *o, int pid, Error *err);
// --trace-children=no: gives the program's children the LD_PRELOAD and LD_LIBRARY_PATH that
// Warpgrind was started with.
void options_release_children(const Options *o);

#endif
