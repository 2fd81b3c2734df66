/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "format/pci.h"

#define AREA 256u			/* of the list; extended ones lie behind */
#define EXPRESS 0x10u
#define PCI_X 0x07u

static const char *const plain[] = {
	[0x00] = "null", "power-management", "agp", "vpd", "slot-id", "msi", "hot-swap", "pci-x",
	"hypertransport", "vendor", "debug-port", "cpci-control", "hot-plug", "subsystem", "agp3",
	"secure-device", "express", "msi-x", "sata", "advanced-features", "enhanced-allocation",
	"flattening-portal-bridge",
};

static const char *const extended[] = {
	[0x00] = "null", "aer", "virtual-channel", "serial", "power-budgeting", "rc-link",
	"rc-internal-link", "rc-event-collector", "mfvc", "virtual-channel-mfvc", "rcrb", "vendor",
	"cac", "acs", "ari", "ats", "sr-iov", "mr-iov", "multicast", "page-request", "amd",
	"resizable-bar", "dpa", "tph", "ltr", "secondary-express", "pmux", "pasid", "lnr", "dpc",
	"l1-substates", "ptm", "mphy", "frs-queueing", "readiness-time", "dvsec",
	"vf-resizable-bar", "data-link", "physical-16gt", "lane-margining", "hierarchy-id", "npem",
	"physical-32gt", "alternate-protocol", "sfi", "shadow-functions", "doe", "device-3", "ide",
	"physical-64gt", "flit-logging", "flit-performance", "flit-error-injection",
};

const char *pci_capability_name(const struct pci_capability *c)
{
	const char *const *names = c->extended ? extended : plain;
	size_t count = c->extended ? ARRAY_LEN(extended) : ARRAY_LEN(plain);

	return c->id < count ? names[c->id] : "other";
}

enum reason pci_walk_open(struct bytes space, struct pci_walk *ret)
{
	struct pci_walk w = { .space = space };
	struct pci_header h;
	uint64_t status = 0, next = 0;

	if (space.n != PCI_HEADER_LEN && space.n != AREA && space.n != PCI_SPACE_MAX)
		return R_PCI_SIZE;
	TRY(pci_header_read(space, &h));
	(void)le_at(space, 0x06, 2, &status);
	w.list = status >> 4 & 1;
	/* a bridge to CardBus has the pointer elsewhere */
	(void)le_at(space, h.type == 2 ? 0x14 : 0x34, 1, &next);
	if (w.list)
		w.next = next & 0xfc;
	*ret = w;
	return R_OK;
}

/* Each place is passed once, whoever made the list. */
static bool pass(struct pci_walk *w, uint16_t offset)
{
	uint8_t bit = (uint8_t)(1u << (offset / 4 % 8)), *byte = &w->passed[offset / 32];
	bool first = (*byte & bit) == 0;

	*byte |= bit;
	return first;
}

static enum reason plain_next(struct pci_walk *w, struct pci_capability *ret)
{
	struct pci_capability c = { .offset = w->next };
	uint64_t id = 0, next = 0, status;

	/* ids of all ones: the device does not answer there */
	if (c.offset < PCI_HEADER_LEN || !le_at(w->space, c.offset, 1, &id) || id == 0xff)
		return R_PCI_CAPABILITY;
	if (!pass(w, c.offset))
		return R_PCI_CAPABILITY_LOOP;
	(void)le_at(w->space, c.offset + 1u, 1, &next);
	c.id = (uint16_t)id;
	c.body = bytes_of(w->space.p + c.offset, AREA - c.offset);
	/* PCI-X of 266 MHz or more has the larger space too */
	if (id == EXPRESS || (id == PCI_X && le_at(c.body, 4, 4, &status) && status >> 30))
		w->express = true;
	w->next = next & 0xfc;
	*ret = c;
	return R_OK;
}

static enum reason extended_next(struct pci_walk *w, struct pci_capability *ret, bool *ret_end)
{
	struct pci_capability c = { .extended = true, .offset = w->next };
	uint64_t header;

	if (c.offset < AREA || !le_at(w->space, c.offset, 4, &header))
		return R_PCI_CAPABILITY;
	if (!pass(w, c.offset))
		return R_PCI_CAPABILITY_LOOP;
	/* an empty first one means that there are none, and so do all ones */
	if (c.offset == AREA && (header == 0 || header == 0xffffffff)) {
		*ret_end = true;
		return R_OK;
	}
	if (header == 0xffffffff)
		return R_PCI_CAPABILITY;
	c.id = (uint16_t)header;
	c.version = header >> 16 & 0xf;
	c.body = bytes_of(w->space.p + c.offset, w->space.n - c.offset);
	w->next = header >> 20 & 0xffc;
	*ret = c;
	return R_OK;
}

enum reason pci_walk_next(struct pci_walk *w, struct pci_capability *ret, bool *ret_end)
{
	*ret_end = false;
	if (!w->extended && w->next != 0 && w->space.n > PCI_HEADER_LEN)
		return plain_next(w, ret);
	if (!w->extended && w->express && w->space.n == PCI_SPACE_MAX) {
		w->extended = true;
		w->next = AREA;
	}
	if (w->extended && w->next != 0)
		return extended_next(w, ret, ret_end);
	*ret_end = true;
	return R_OK;
}
