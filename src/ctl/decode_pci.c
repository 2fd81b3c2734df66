/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "ctl/decode.h"
#include "format/pci.h"

static json_t *capability(const struct pci_capability *c)
{
	json_t *j = json_pack("{s:s, s:o, s:o, s:b}", "name", pci_capability_name(c), "id",
			      decode_hex(c->id, c->extended ? 4 : 2), "offset",
			      decode_hex(c->offset, c->extended ? 3 : 2), "extended", (int)c->extended);
	struct fields f;

	if (c->extended)
		json_object_set_new(j, "capability_version", json_integer(c->version));
	pci_capability_fields(c, &f);
	decode_fields(j, &f);
	return j;
}

/* What the bytes of one device say; what is wrong stands in the device. */
static enum reason device(struct bytes space, size_t number, json_t *ret)
{
	json_t *list = json_array();
	struct pci_capability c;
	struct pci_header h;
	struct pci_walk w;
	struct fields f;
	bool end = false;

	json_object_set_new(ret, "bytes", json_integer((json_int_t)space.n));
	enum reason r = pci_walk_open(space, &w);
	if (r == R_OK)
		r = pci_header_read(space, &h);
	if (r != R_OK) {
		json_decref(list);
		return decode_refused(ret, r, 0, "device", number);
	}
	pci_header_fields(space, &h, &f);
	decode_fields(ret, &f);
	json_object_set_new(ret, "capabilities", list);
	while (r == R_OK && !end) {
		r = pci_walk_next(&w, &c, &end);
		if (r == R_OK && !end)
			json_array_append_new(list, capability(&c));
	}
	if (r != R_OK)
		return decode_refused(ret, r, w.next, "device", number);
	if (w.list && space.n == PCI_HEADER_LEN)
		decode_note(ret, "the capabilities are behind the 64 bytes that the file has");
	else if (w.express && space.n < PCI_SPACE_MAX)
		decode_note(ret, "extended capabilities would be behind the 256 bytes that the file has");
	return R_OK;
}

enum reason decode_pci(struct bytes in, json_t *ret)
{
	enum reason first = R_OK, r;
	json_t *list = json_array();
	uint8_t room[PCI_SPACE_MAX];
	struct bytes slot, space;
	struct pci_dump dump;
	bool end = false;

	json_object_set_new(ret, "type", json_string("pci"));
	json_object_set_new(ret, "devices", list);
	if (!pci_dump_open(in, &dump)) {
		json_t *one = json_object();

		json_array_append_new(list, one);
		return device(in, 0, one);
	}
	for (size_t number = 0;; number++) {
		json_t *one;

		r = pci_dump_next(&dump, room, &slot, &space, &end);
		if (r != R_OK) {
			decode_note(ret, "line %zu", dump.line);
			return decode_refused(ret, r, (size_t)(dump.rest.p - in.p), "device", number);
		}
		if (end)
			break;
		one = json_pack("{s:s#}", "slot", slot.p, (int)slot.n);
		json_array_append_new(list, one);
		r = device(space, number, one);
		if (first == R_OK)
			first = r;
	}
	if (json_array_size(list) == 0)
		return decode_refused(ret, R_PCI_DUMP, 0, "device", 0);
	return first;
}
