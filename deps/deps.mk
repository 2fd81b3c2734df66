# SPDX-License-Identifier: Apache-2.0
# Included by the top-level Makefile: where the third-party libraries are.

DEPS := $(shell deps/build --print-prefix)
MUSL_CC := $(DEPS)/bin/musl-cc

# In link order; the test folder adds the swtpm TCTI.
DEPS_TSS := -ltss2-esys -ltss2-sys -ltss2-mu -ltss2-rc -ltss2-tcti-device
DEPS_TLS := -lcurl -lmbedtls -lmbedx509 -lmbedcrypto
DEPS_LIBS := $(DEPS_TSS) $(DEPS_TLS) -lnettle -ltinycbor

.PHONY: deps deps-packages
deps-packages:
	deps/install-packages deps/packages.build

deps: deps-packages
	deps/build
	deps/unpack-debian

# whatever is compiled depends on this, order-only
$(MUSL_CC):
	deps/install-packages deps/packages.build
	deps/build
