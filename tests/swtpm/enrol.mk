# SPDX-License-Identifier: Apache-2.0
#
# The server's side of enrolment as a command, for tests/swtpm/test_enrol.py.

ENROLLER_LAYERS := base crypto crypto/openssl format appraise
whole-programs: $(BUILD)/test/enroller

$(BUILD)/test/enroller: $(BUILD)/obj/asan/tests/swtpm/enroller.o \
		$(call archives,asan,$(ENROLLER_LAYERS))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(SERVER_LIBS)
-include $(BUILD)/obj/asan/tests/swtpm/enroller.d
