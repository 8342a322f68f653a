// A library the chains go through; opened and closed at run time.
void through_library(void (*call)(const char *), const char *label) {
  call(label);                                           // label: through_library
  __asm__ volatile("" ::: "memory");
}
