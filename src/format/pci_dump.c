/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "format/pci.h"

bool pci_dump_open(struct bytes text, struct pci_dump *ret)
{
	/* a space has zeros, or is all ones */
	if (text.n == 0 || memchr(text.p, 0, text.n) || text.p[0] == 0xff)
		return false;
	*ret = (struct pci_dump){ .rest = text };
	return true;
}

static bool take_line(struct pci_dump *d, struct bytes *ret)
{
	const uint8_t *end;

	if (d->rest.n == 0)
		return false;
	end = memchr(d->rest.p, '\n', d->rest.n);
	*ret = bytes_of(d->rest.p, end ? (size_t)(end - d->rest.p) : d->rest.n);
	d->rest = bytes_of(d->rest.p + ret->n + (end != NULL), d->rest.n - ret->n - (end != NULL));
	d->line++;
	if (ret->n > 0 && ret->p[ret->n - 1] == '\r')
		ret->n--;
	return true;
}

static int digit(uint8_t ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* `01:00.0` or `0000:01:00.0` and a blank. */
static bool heading(struct bytes line, struct bytes *ret_slot)
{
	const uint8_t *blank = line.n > 0 ? memchr(line.p, ' ', line.n) : NULL;
	size_t n = blank ? (size_t)(blank - line.p) : line.n;
	char name[32] = "0000:";
	struct pci_slot slot;

	if (n > 16)
		return false;
	memcpy(name + (n == 7 ? 5 : 0), line.p, n);
	name[n == 7 ? 12 : n] = '\0';
	if (pci_slot_read(name, &slot) != R_OK)
		return false;
	*ret_slot = bytes_of(line.p, n);
	return true;
}

/* `40: 10 de ...`: two or three digits, a colon, up to 16 bytes. */
static bool is_hex(struct bytes line, size_t *ret_offset, size_t *ret_at)
{
	size_t at = 0, offset = 0;

	while (at < line.n && at < 3 && digit(line.p[at]) >= 0)
		offset = offset << 4 | (size_t)digit(line.p[at++]);
	if (at < 2 || at == line.n || line.p[at] != ':')
		return false;
	*ret_offset = offset;
	*ret_at = at + 1;
	return true;
}

static enum reason hex_bytes(struct bytes line, size_t at, uint8_t *room, size_t *n)
{
	size_t count = 0;

	for (; at < line.n; at += 3, count++) {
		if (line.n - at < 3 || line.p[at] != ' ' || digit(line.p[at + 1]) < 0 ||
		    digit(line.p[at + 2]) < 0 || count == 16 || *n == PCI_SPACE_MAX)
			return R_PCI_DUMP;
		room[(*n)++] = (uint8_t)(digit(line.p[at + 1]) << 4 | digit(line.p[at + 2]));
	}
	return R_OK;
}

enum reason pci_dump_next(struct pci_dump *d, uint8_t room[PCI_SPACE_MAX], struct bytes *ret_slot,
			  struct bytes *ret_space, bool *ret_end)
{
	struct bytes line, slot = d->slot, next = BYTES_NONE;
	size_t n = 0, offset, at;

	while (next.n == 0 && take_line(d, &line)) {
		if (heading(line, &next)) {
			/* what stands before the first heading is no device's */
			if (slot.n == 0) {
				slot = next;
				next = BYTES_NONE;
			}
		} else if (is_hex(line, &offset, &at)) {
			if (slot.n == 0 || offset != n)
				return R_PCI_DUMP;
			TRY(hex_bytes(line, at, room, &n));
		}
	}
	d->slot = next;
	*ret_end = slot.n == 0;
	*ret_slot = slot;
	*ret_space = bytes_of(room, n);
	return R_OK;
}
