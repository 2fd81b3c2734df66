# SPDX-License-Identifier: Apache-2.0
#
# Unit tests: tests/unit/test_NAME.c is one cmocka program under ASan and
# UBSan, linked with base, crypto, format and with those other layers whose
# headers it includes. Node, gate, host and guest want the mbedtls body of
# crypto, everything else gets OpenSSL; those in UNIT_BOTH are linked with each.
# Fuzzers: tests/fuzz/fuzz_NAME.c, for src/format/NAME.c.
# Other tests: tests/tests.list.

UNIT_BOTH := digest random sign

UNIT := $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c))
# INCLUDES_NAME := the layers that test_NAME.c includes
$(foreach i,$(if $(UNIT),$(shell sed -nE \
	'F;s|^\#include "([a-z]+)/.*|\1|p' tests/unit/test_*.c | awk \
	'/\// { sub(/.*test_/, ""); sub(/\.c$$/, ""); n = $$0; next } \
	!seen[n, $$0]++ { print n "=" $$0 }')),$(eval \
	INCLUDES_$(firstword $(subst =, ,$(i))) += $(lastword $(subst =, ,$(i)))))
UNIT_MBEDTLS := $(foreach n,$(UNIT),$(if \
	$(filter node gate host guest,$(INCLUDES_$(n))),$(n)))
UNIT_OPENSSL := $(filter-out $(UNIT_MBEDTLS),$(UNIT))
UNIT_PROGRAMS := $(UNIT:%=$(BUILD)/test/unit/test_%) \
	$(patsubst %,$(BUILD)/test/unit/test_%-mbedtls,$(filter $(UNIT_BOTH),$(UNIT)))

# Archives, so that a test pulls in only what it uses: a test of a pure part
# of the gate needs no libcurl. A program's main.c stays out.
BELOW_gate := check node
BELOW_server := appraise
BELOW_ctl := appraise
# $(call unit_layers,NAME,BODY)
unit_layers = base crypto crypto/$(2) format $(sort $(foreach l,$(filter-out \
	base crypto format,$(INCLUDES_$(1))),$(l) $(BELOW_$(l))))
ALL_LAYERS := base crypto crypto/openssl crypto/mbedtls format appraise check \
	node gate host guest server ctl
UNIT_LIBS_openssl := $(SERVER_LIBS)
UNIT_LIBS_mbedtls := -L$(DEPS)/glibc/lib -ltinycbor -lmbedtls -lmbedx509 \
	-lmbedcrypto -lnettle

# $(call archive,FLAVOUR,LAYER)
archive = $(BUILD)/obj/$(1)/lib-$(subst /,-,$(2)).a
archives = $(foreach l,$(2),$(if $(wildcard src/$(l)/*.c),$(call archive,$(1),$(l))))
define archive_rule
$(call archive,$(1),$(2)): $$(filter-out %/main.o,$$(call objects,$(1),$(2)))
	$$(Q)rm -f $$@
	$$(Q)ar rcTD $$@ $$^
endef
$(foreach l,$(ALL_LAYERS),$(eval $(call archive_rule,asan,$(l))))

$(BUILD)/obj/asan/tests/%.o: tests/%.c $(BUILD)/obj/asan/flags | $(DEPS_READY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(ALL_asan) -Itests/unit -Wno-missing-prototypes \
		-DCORPUS='"$(CORPUS)"' -MMD -MP -c -o $@ $<
-include $(patsubst %.c,$(BUILD)/obj/asan/%.d,$(wildcard tests/unit/*.c))

UNIT_WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# $(call unit_rule,NAME,SUFFIX,BODY)
define unit_rule
$(BUILD)/test/unit/test_$(1)$(2): $(BUILD)/obj/asan/tests/unit/test_$(1).o \
		$(BUILD)/obj/asan/tests/unit/unit.o $$(call archives,asan,$(call unit_layers,$(1),$(3)))
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(SANITIZE) $$(UNIT_WRAP) -Wl,--as-needed \
		-o $$@ $$(filter %.o,$$^) -Wl,--start-group \
		$$(filter %.a,$$^) -Wl,--end-group $$(UNIT_LIBS_$(3)) -lcmocka
endef
$(foreach n,$(UNIT_OPENSSL),$(eval $(call unit_rule,$(n),,openssl)))
$(foreach n,$(UNIT_MBEDTLS),$(eval $(call unit_rule,$(n),,mbedtls)))
$(foreach n,$(filter $(UNIT_BOTH),$(UNIT)),$(eval $(call unit_rule,$(n),-mbedtls,mbedtls)))

.PHONY: unit
unit: $(UNIT_PROGRAMS) ## builds and runs the unit tests only
	$(Q)tests/run --unit $(UNIT_PROGRAMS)

# What "make check" runs must be there before anything is compiled, hence
# the three steps.
.PHONY: check check-long check-tools test-programs whole-programs
check: check-tools ## all tests but the long ones
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all test-programs
	$(Q)tests/run --class check $(UNIT_PROGRAMS)
check-long: check-tools ## all tests
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all test-programs
	$(Q)tests/run --class long $(UNIT_PROGRAMS)
check-tools:
	$(Q)deps/install-packages deps/packages.build deps/packages.check \
		deps/packages.lab
	$(Q)$(MAKE) --no-print-directory deps

# Fuzzers, with clang's libFuzzer.
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_PROGRAMS := $(FUZZ:%=$(BUILD)/fuzz/%)
whole-programs: $(TEST_PROGRAMS)
test-programs: whole-programs $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS)
COVER_PROGRAMS := $(FUZZ:%=$(BUILD)/fuzz-cover/%)
FUZZ_LAYERS := base crypto crypto/openssl format appraise
FUZZ_LIBS := -L$(DEPS)/glibc/lib -ltinycbor -lcrypto
# gcc's opinion on conversions is enough
CC_fuzz = $(CLANG)
FLAGS_fuzz = -Wno-conversion -O1 $(SANITIZE) -fsanitize=fuzzer-no-link $(NATIVE_INC)
CC_cover = $(CLANG)
FLAGS_cover = -Wno-conversion -O0 -fprofile-instr-generate -fcoverage-mapping $(NATIVE_INC)
$(foreach f,fuzz cover,$(eval $(call flavour,$(f))))
$(foreach f,fuzz cover,$(foreach l,$(FUZZ_LAYERS),$(eval $(call archive_rule,$(f),$(l)))))

# $(call fuzz_rule,FLAVOUR,FOLDER)
define fuzz_rule
$(BUILD)/$(2)/%: tests/fuzz/fuzz_%.c $(BUILD)/obj/$(1)/flags $(call archives,$(1),$(FUZZ_LAYERS))
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(ALL_$(1)) -Wno-missing-prototypes -MMD -MP -fsanitize=fuzzer -o $$@ $$< \
		-Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $$(FUZZ_LIBS)
endef
$(eval $(call fuzz_rule,fuzz,fuzz))
$(eval $(call fuzz_rule,cover,fuzz-cover))
-include $(FUZZ:%=$(BUILD)/fuzz/%.d) $(FUZZ:%=$(BUILD)/fuzz-cover/%.d)

.PHONY: fuzz fuzz-short fuzz-cover fuzz-merge
fuzz: $(FUZZ_PROGRAMS) ## every fuzzer for 60 s
	$(Q)tests/fuzz/run 60 $(FUZZ)
fuzz-short: $(FUZZ_PROGRAMS) ## every fuzzer for 2 s
	$(Q)tests/fuzz/run 2 $(FUZZ)
fuzz-cover: $(COVER_PROGRAMS) ## line coverage of each reader by its corpus
	$(Q)tests/fuzz/cover $(FUZZ)
fuzz-merge: $(FUZZ_PROGRAMS) ## adds what fuzzing found to the corpus
	$(Q)tests/fuzz/run merge $(FUZZ)

.PHONY: mutants bench
mutants: check-tools ## one-line mistakes, each must turn its test red
	$(Q)tests/mutants/run
bench: all test-programs $(BUILD)/test/bench-sha256 ## the table of numbers
	$(Q)tests/bench/run
$(BUILD)/test/bench-sha256: tests/bench/sha256.c \
		$(call objects,test,base crypto crypto/mbedtls) | $(DEPS_READY)
	$(Q)$(ALL_test) $(GATE_LDFLAGS) -o $@ $^ -L$(DEPS)/musl/lib \
		-lmbedcrypto -lnettle

# Linters. clang-tidy runs again only for files that changed.
TIDY := $(patsubst %.c,$(BUILD)/lint/%.tidy,$(wildcard src/*/*.c src/*/*/*.c))
.PHONY: lint lint-scripts
lint: lint-scripts $(TIDY) ## clang-tidy and shellcheck
lint-scripts:
	$(call say,LINT,scripts)
	$(Q)tests/lint-scripts
$(BUILD)/lint/%.tidy: %.c .clang-tidy | $(DEPS_READY)
	$(call say,TIDY,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG_TIDY) --quiet $< -- -std=gnu11 $(CPPFLAGS_ALL) \
		-DBOOTGATE_TEST $(NATIVE_INC) 2>$@.log || \
		{ cat $@.log >&2; exit 1; }
	$(Q)$(CC) $(CPPFLAGS_ALL) -DBOOTGATE_TEST $(NATIVE_INC) -MM -MP \
		-MT $@ -MF $(@:.tidy=.d) $<
	$(Q)touch $@
-include $(TIDY:.tidy=.d)

include $(wildcard tests/*/*.mk)
