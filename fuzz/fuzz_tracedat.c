/* SPDX-License-Identifier: GPL-2.0-only */
/* The libFuzzer target of fuzz_reader_entry.h. */
#include "fuzz_reader_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	km_fuzz_reader(data, bytes);
	return 0;
}
