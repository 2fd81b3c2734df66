# SPDX-License-Identifier: Apache-2.0
# Included by the top-level Makefile: gate images, and the lab.

MKIMAGE := $(BUILD)/bin/bootgate-mkimage
SHARE := $(BUILD)/share/bootgate
HOST_INITRD := $(BUILD)/lab/host.initrd
# The gate's kernel with its modules; another one: GATE_KERNEL=FILE and
# GATE_MODULES=DIR
DEBIAN := $(shell deps/unpack-debian --print-prefix)
GATE_KERNEL ?= $(DEBIAN)/vmlinuz
GATE_MODULES ?= $(DEBIAN)/modules
BUSYBOX ?= /bin/busybox

SHARE_FILES := $(SHARE)/vmlinuz $(SHARE)/modules $(SHARE)/linuxx64.efi.stub \
	$(SHARE)/busybox
INITRAMFS_FILES := $(addprefix initramfs/,init list modules network udhcpc.script)

.PHONY: mkimage images lab
mkimage: $(MKIMAGE) $(CTL) ## bootgate-mkimage and the files it needs

$(MKIMAGE): image/bootgate-mkimage $(SHARE_FILES) $(INITRAMFS_FILES)
	$(call say,GEN,$@)
	@mkdir -p $(@D) $(SHARE)/initramfs
	$(Q)install -m 644 -t $(SHARE)/initramfs $(INITRAMFS_FILES)
	$(Q)install -m 755 $< $@

$(SHARE)/vmlinuz: $(DEBIAN) | $(SHARE)
	$(Q)ln -sfn $(GATE_KERNEL) $@
$(SHARE)/modules: $(DEBIAN) | $(SHARE)
	$(Q)ln -sfn $(GATE_MODULES) $@
$(SHARE)/linuxx64.efi.stub: $(DEBIAN) | $(SHARE)
	$(Q)ln -sfn $(DEBIAN)/linuxx64.efi.stub $@
$(SHARE)/busybox: | $(SHARE)
	$(Q)ln -sfn $(BUSYBOX) $@
$(SHARE):
	@mkdir -p $@
$(DEBIAN):
	deps/unpack-debian

# make images SITE=DIR: the gate image of a site, build/gate.efi
images: mkimage gate $(HOST_INITRD) ## host image of the lab; SITE=DIR: gate image
	$(if $(SITE),$(Q)$(MKIMAGE) $(SITE) $(BUILD)/gate.efi)

$(HOST_INITRD): image/lab/mkhost image/lab/unpack-host $(wildcard image/lab/host/*)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)image/lab/mkhost "$$(image/lab/unpack-host)" $@

# the tests of tests/tests.list that play scenarios
test-programs: mkimage $(HOST_INITRD)

# make lab SCENARIO="admit no-tpm", see tests/boot/scenarios.tsv
SCENARIO ?= admit
lab: ## a boot in QEMU; SCENARIO=NAME for another than admit
	$(Q)deps/install-packages deps/packages.build deps/packages.lab
	$(Q)$(MAKE) --no-print-directory all $(HOST_INITRD)
	$(Q)BOOTGATE_BUILD=$(abspath $(BUILD)) image/lab/lab $(SCENARIO)
