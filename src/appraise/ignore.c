/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that differ from machine to machine, or from boot to boot, and prove
 * nothing about what runs. A rule names its register, wants the content
 * proved by the digest and decoded whole, and says why it is there.
 */
#include "appraise/component.h"

#include <string.h>

#include "appraise/semantics.h"
#include "base/cleanup.h"
#include "format/efivar.h"

#define BOOT_ORDER_MAX 128u		/* entries */

static const char why_card[] =
	"a boot entry with the address of a network card; what was booted is in register 4";
static const char why_unit[] =
	"a boot entry of a disk or drive of this machine; what was booted is in register 4";
static const char why_order[] =
	"the order in which boot entries are tried; what was booted is in register 4";
static const char why_attempt[] =
	"a boot option that loaded nothing, and the step to the next";

static bool is_variable(uint32_t type)
{
	return type == EV_EFI_VARIABLE_BOOT || type == EV_EFI_VARIABLE_BOOT2;
}

/*
 * The variable of a boot entry or of their order, in register 1. With older
 * firmware the digest proves its content and not its name.
 */
static enum reason boot_variable(const struct logs *l, const struct logged *one,
				 struct efi_variable *ret, bool *ret_proved, bool *ret_named)
{
	*ret_proved = false;
	*ret_named = one->proved;
	if (one->event.pcr != 1 || !is_variable(one->event.type))
		return R_OK;
	if (efi_variable_read(one->event.data, ret) != R_OK ||
	    !bytes_equal(ret->guid, efi_global_variable))
		return R_OK;
	if (one->proved) {
		*ret_proved = true;
		return R_OK;
	}
	return semantics_content_proved(l, one, ret_proved);
}

static const char *entry_reason(const struct efi_variable *v)
{
	struct efi_load_option o;
	uint16_t number;

	if (!efi_boot_number(v->name, &number) || efi_load_option_read(v->content, &o) != R_OK)
		return NULL;
	/* A file inside the firmware is part of it, wherever it is listed. */
	if (o.path.firmware)
		return NULL;
	if (o.path.mac)
		return why_card;
	return o.path.unit ? why_unit : NULL;
}

static bool order_has(const struct efi_variable *order, size_t count, uint16_t number)
{
	for (size_t i = 0; i < count; i++)
		if ((order->content.p[2 * i] | order->content.p[2 * i + 1] << 8) == number)
			return true;
	return false;
}

/* A list of numbers, each once. */
static bool order_is_list(const struct efi_variable *v)
{
	size_t count = v->content.n / 2;

	if (!utf16_is(v->name, "BootOrder") || v->content.n == 0 || v->content.n % 2 ||
	    count > BOOT_ORDER_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		uint16_t n = (uint16_t)(v->content.p[2 * i] | v->content.p[2 * i + 1] << 8);

		if (order_has(v, i, n))
			return false;
	}
	return true;
}

/*
 * Where the digest leaves the name out, the entries that follow must prove
 * that this is their list: exactly those, all proved, all load options.
 */
static enum reason order_is_followed(const struct logs *l, size_t at,
				     const struct efi_variable *order, bool *ret)
{
	size_t count = order->content.n / 2;
	size_t found = 0;

	*ret = false;
	for (size_t i = at + 1; i < l->count && found < count; i++) {
		struct efi_variable v;
		struct efi_load_option o;
		uint16_t number;
		bool proved;
		bool named;

		if (l->event[i].event.pcr != 1)
			continue;
		TRY(boot_variable(l, &l->event[i], &v, &proved, &named));
		if (!proved || !efi_boot_number(v.name, &number) ||
		    efi_load_option_read(v.content, &o) != R_OK)
			break;
		if (!order_has(order, count, number))
			break;
		found++;
	}
	*ret = found == count;
	return R_OK;
}

static enum reason ignore_entries(struct logs *l)
{
	for (size_t i = 0; i < l->count; i++) {
		struct efi_variable v;
		bool proved;
		bool named;

		TRY(boot_variable(l, &l->event[i], &v, &proved, &named));
		if (!proved)
			continue;
		l->event[i].ignored = entry_reason(&v);
		if (l->event[i].ignored || !order_is_list(&v))
			continue;
		if (!named)
			TRY(order_is_followed(l, i, &v, &named));
		if (named)
			l->event[i].ignored = why_order;
	}
	return R_OK;
}

static bool is_action(const struct logged *one, const char *text)
{
	return one->proved && semantics_is_action(&one->event, text);
}

/*
 * Register 4: "Returning ..." with no image loaded since the attempt before
 * began, and the "Calling ..." straight behind it, which older firmware leaves
 * out. A card without a server, a time-out: the next boot may have one less or
 * one more.
 */
static void ignore_attempts(struct logs *l)
{
	bool empty = false;		/* an attempt began and loaded nothing so far */
	bool ended = false;		/* such an attempt, by the event before */

	for (size_t i = 0; i < l->count; i++) {
		struct logged *one = &l->event[i];

		if (one->event.pcr != 4)
			continue;
		if (is_action(one, ACTION_RETURNING)) {
			one->ignored = empty ? why_attempt : NULL;
			ended = empty;
			empty = true;
		} else if (is_action(one, ACTION_CALLING)) {
			one->ignored = ended ? why_attempt : NULL;
			ended = false;
			empty = true;
		} else {
			empty = empty && one->event.type == EV_SEPARATOR;
			ended = false;
		}
	}
}

enum reason components_ignore(struct logs *l)
{
	TRY(ignore_entries(l));
	ignore_attempts(l);
	return R_OK;
}
