# Warpgrind. `make demo` and `make check` are all a newcomer needs; see README.md.
CC ?= gcc
BUILD ?= build
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
OPT ?= -O2
CFLAGS_ALL := -std=gnu11 -g $(OPT) -Wall -Wextra -Wno-unused-parameter -fPIC -fvisibility=hidden -pthread -MMD -MP -Isrc -I$(BUILD)/gen $(CFLAGS)
