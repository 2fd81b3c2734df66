# SPDX-License-Identifier: Apache-2.0
#
#   make            gate, server, bootgatectl and mkimage, into build/bin
#   make check      everything that must pass before a commit
#   make help       the other targets
#
# V=1 shows the commands, WERROR=1 (or CI=true) makes warnings errors.

VERSION := 0.1.0
BUILD := build
# Firmware logs and certificates of real machines; tests use them when there.
CORPUS ?= ../shared/corpus
DESTDIR ?=
PREFIX ?= /usr
JOBS ?= $(shell nproc)
export BUILD CORPUS

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
CLANG_TIDY ?= clang-tidy
Q := $(if $(V),,@)
# $(call say,CC,src/base/bytes.c)
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

include deps/deps.mk
include src/src.mk
include tests/tests.mk
include image/image.mk

.PHONY: all
all: gate server ctl mkimage ## gate, server, ctl, mkimage

.PHONY: docs
docs: docs/reasons.md docs/checks.md ## generated documentation
docs/reasons.md: docs/make-reasons src/base/reason.def
	$(call say,DOC,$@)
	$(Q)docs/make-reasons src/base/reason.def >$@
docs/checks.md: docs/make-checks src/check/check.def
	$(call say,DOC,$@)
	$(Q)docs/make-checks src/check/check.def >$@

# bootgate-mkimage finds the gate beside itself and the rest in ../share.
.PHONY: install
install: all ## into $(DESTDIR)$(PREFIX)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/bin $(CTL) $(GATE) $(MKIMAGE)
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/sbin $(SERVER)
	mkdir -p $(DESTDIR)$(PREFIX)/share/bootgate
	cp -RL $(SHARE)/. $(DESTDIR)$(PREFIX)/share/bootgate
	$(foreach n,1 5 8,$(if $(wildcard docs/man/*.$(n)),install -D -m 644 -t \
		$(DESTDIR)$(PREFIX)/share/man/man$(n) $(wildcard docs/man/*.$(n)) &&)) true

.PHONY: clean
clean: ## removes build/ (the cache of deps stays)
	rm -rf $(BUILD)

.PHONY: help
help:
	@sed -n 's/^\([a-z-]*\):.* ## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | \
		sort | awk -F '\t' '{ printf "  %-12s %s\n", $$1, $$2 }'
