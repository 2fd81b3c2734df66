# SPDX-License-Identifier: Apache-2.0
#
# Layers, flavours and programs. A layer is a folder below src/; a flavour is
# a compiler with its flags; a program is a list of layers in one flavour.
# A new .c file needs no line here.

# Made once; nothing is compiled before it.
DEPS_READY := $(MUSL_CC)

# What each program links, lower layers first.
LAYERS_gate := base crypto crypto/mbedtls format check node gate
LAYERS_server := base crypto crypto/openssl format appraise server
LAYERS_ctl := base crypto crypto/openssl format appraise ctl

WARN := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wformat=2 \
	-Wstrict-prototypes -Wmissing-prototypes
ifneq ($(filter 1 true,$(CI) $(WERROR)),)
WARN += -Werror
endif
CPPFLAGS_ALL := -Isrc -D_GNU_SOURCE -DBOOTGATE_VERSION='"$(VERSION)"'
CFLAGS_ALL := -std=gnu11 -g $(WARN) -fno-strict-aliasing -fno-common \
	-ffile-prefix-map=$(CURDIR)=. -fstack-protector-strong

# gate: the product. test: the same for tests, with the hooks of
# BOOTGATE_TEST. server: glibc, hardened. asan: everything that
# runs natively in tests. Headers that have no native library (curl, tss2)
# are taken from the static ones, so that every layer compiles everywhere.
MUSL_FLAGS := -Os -fPIE -ffunction-sections -fdata-sections \
	-fstack-clash-protection -fcf-protection
HARDEN := -O2 -fPIE -fstack-clash-protection -fcf-protection \
	-D_FORTIFY_SOURCE=2
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
NATIVE_INC := -I$(DEPS)/glibc/include -idirafter $(DEPS)/musl/include

CC_gate = $(MUSL_CC)
FLAGS_gate = $(MUSL_FLAGS) -I$(DEPS)/musl/include
CC_test = $(MUSL_CC)
FLAGS_test = $(MUSL_FLAGS) -DBOOTGATE_TEST -I$(DEPS)/musl-test/include \
	-I$(DEPS)/musl/include
CC_server = $(CC)
FLAGS_server = $(HARDEN) $(NATIVE_INC)
CC_asan = $(CC)
FLAGS_asan = -O1 $(SANITIZE) -DBOOTGATE_TEST $(NATIVE_INC)

FLAVOURS := gate test server asan

# $(call sources,LAYERS) and $(call objects,FLAVOUR,LAYERS)
sources = $(foreach l,$(1),$(wildcard src/$(l)/*.c))
objects = $(patsubst src/%.c,$(BUILD)/obj/$(1)/%.o,$(call sources,$(2)))

# An object depends on the flags it was made with: the file `flags` changes
# only when they do.
define flavour
ALL_$(1) = $$(CC_$(1)) $$(CPPFLAGS_ALL) $$(CFLAGS_ALL) $$(FLAGS_$(1))
$$(BUILD)/obj/$(1)/flags: FORCE
	@mkdir -p $$(@D)
	@echo '$$(subst ','"'"',$$(ALL_$(1)))' | cmp -s - $$@ || \
		echo '$$(subst ','"'"',$$(ALL_$(1)))' >$$@
$$(BUILD)/obj/$(1)/%.o: src/%.c $$(BUILD)/obj/$(1)/flags | $$(DEPS_READY)
	$$(call say,CC,$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(ALL_$(1)) -MMD -MP -c -o $$@ $$<
-include $$(patsubst src/%.c,$$(BUILD)/obj/$(1)/%.d,$$(wildcard src/*/*.c src/*/*/*.c))
endef
$(foreach f,$(FLAVOURS),$(eval $(call flavour,$(f))))

.PHONY: FORCE
FORCE:

# The gate. No build id of git: the ELF note is a hash of the content.
GATE := $(if $(wildcard src/gate/main.c),$(BUILD)/bin/bootgate)
GATE_LDFLAGS := -static-pie -Wl,--gc-sections -Wl,-z,relro,-z,now \
	-Wl,-z,noexecstack -Wl,--build-id=sha1
.PHONY: gate
gate: $(GATE) ## the gate, static-pie
$(BUILD)/bin/bootgate: $(call objects,gate,$(LAYERS_gate)) | $(DEPS_READY)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(GATE_LDFLAGS) -o $@.full \
		$(filter %.o,$^) -L$(DEPS)/musl/lib \
		-Wl,--start-group $(DEPS_LIBS) -Wl,--end-group
	$(Q)strip -o $@ $@.full

# With the hooks that tests use; the way to swtpm is one of them.
$(BUILD)/test/bootgate: $(call objects,test,$(LAYERS_gate)) | $(DEPS_READY)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(MUSL_CC) $(GATE_LDFLAGS) -o $@ $(filter %.o,$^) \
		-L$(DEPS)/musl/lib \
		-Wl,--start-group $(DEPS_LIBS) -Wl,--end-group

# Server and operator's command.
SERVER := $(if $(wildcard src/server/main.c),$(BUILD)/bin/bootgated)
CTL := $(if $(wildcard src/ctl/main.c),$(BUILD)/bin/bootgatectl)
SERVER_LDFLAGS := -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed
SERVER_LIBS := -lmicrohttpd -lgnutls -lsqlite3 -ljansson \
	-L$(DEPS)/glibc/lib -ltinycbor -lssl -lcrypto
CTL_LIBS := -lcurl -ljansson -L$(DEPS)/glibc/lib -ltinycbor -lssl -lcrypto

# $(call link_native,TARGET,FLAVOUR,LAYERS,LIBS)
define link_native
$(1): $$(call objects,$(2),$(3)) | $$(DEPS_READY)
	$$(call say,LINK,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC_$(2)) $$(CFLAGS_ALL) $$(FLAGS_$(2)) $$(SERVER_LDFLAGS) \
		-o $$@ $$(filter %.o,$$^) $(4)
endef

.PHONY: server ctl
server: $(SERVER) ## bootgated
ctl: $(CTL) ## bootgatectl
$(eval $(call link_native,$(BUILD)/bin/bootgated,server,$(LAYERS_server),$(SERVER_LIBS)))
$(eval $(call link_native,$(BUILD)/bin/bootgatectl,server,$(LAYERS_ctl),$(CTL_LIBS)))
$(eval $(call link_native,$(BUILD)/test/bootgated,asan,$(LAYERS_server),$(SERVER_LIBS)))
$(eval $(call link_native,$(BUILD)/test/bootgatectl,asan,$(LAYERS_ctl),$(CTL_LIBS)))

TEST_PROGRAMS := $(GATE:$(BUILD)/bin/%=$(BUILD)/test/%) \
	$(SERVER:$(BUILD)/bin/%=$(BUILD)/test/%) \
	$(CTL:$(BUILD)/bin/%=$(BUILD)/test/%)

.PHONY: size
size: $(GATE) ## size of the gate against its limit
	@tests/size $(GATE)
