# SPDX-License-Identifier: Apache-2.0
#
# What tests/swtpm drives: node/tpm.h and node/measure.h as a command. Once as
# the gate is linked, and once under ASan and UBSan with Debian's tpm2-tss.

TPM_DRIVERS := $(BUILD)/test/tpm-driver $(BUILD)/test/tpm-driver-asan
TPM_LAYERS := base crypto crypto/mbedtls format node
TPM_WRAP := -Wno-missing-prototypes -Wl,--wrap=open,--wrap=mbedtls_ecdh_gen_public
whole-programs: $(TPM_DRIVERS)

$(BUILD)/test/tpm-driver: tests/swtpm/driver.c $(call objects,test,$(TPM_LAYERS)) | $(DEPS_READY)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(ALL_test) $(GATE_LDFLAGS) $(TPM_WRAP) -o $@ $(filter %.c %.o,$^) \
		-L$(DEPS)/musl/lib \
		-Wl,--start-group $(DEPS_LIBS) -Wl,--end-group

$(BUILD)/test/tpm-driver-asan: $(BUILD)/obj/asan/tests/swtpm/driver.o \
		$(call archives,asan,$(TPM_LAYERS))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) $(TPM_WRAP) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(UNIT_LIBS_mbedtls) -ltss2-esys -ltss2-mu
-include $(BUILD)/obj/asan/tests/swtpm/driver.d
