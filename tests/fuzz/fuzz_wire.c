/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "format/wire.h"

static enum reason selection_again(struct bytes in, struct blob *out)
{
	struct cursor c = cursor_of(in);
	struct cbor_writer w = cbor_write_begin(out);
	struct pcr_selection s;

	TRY(wire_selection_read(&c, &s));
	TRY(cursor_end(&c));
	wire_selection_write(&w, &s);
	return cbor_write_end(&w, in.n);
}

static enum reason values_again(struct bytes in, struct blob *out)
{
	struct cursor c = cursor_of(in);
	struct cbor_writer w = cbor_write_begin(out);
	static struct pcr_values v;

	TRY(wire_values_read(&c, &v));
	TRY(cursor_end(&c));
	wire_values_write(&w, &v);
	return cbor_write_end(&w, in.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	same_again(selection_again, bytes_of(data, size));
	same_again(values_again, bytes_of(data, size));
	return 0;
}
