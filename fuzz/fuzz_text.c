/* SPDX-License-Identifier: GPL-2.0-only */
/* libFuzzer target: texts of traces, with the words of fuzz_text.dict; see fuzz_entry.h. */
#include "fuzz_entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	km_fuzz(data, bytes);
	return 0;
}
