/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_entry: any bytes as a trace, through all that is done with one:
 * opened, asked about and read; then replayed, counted and written as one of
 * the reports. Shared by the libFuzzer targets and by the test that runs
 * their corpora.
 */
#ifndef KM_FUZZ_ENTRY_H
#define KM_FUZZ_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* How far the bytes got. */
enum km_fuzz_depth {
	KM_FUZZ_REFUSED, /* not opened */
	KM_FUZZ_OPENED,  /* but no buffer could be read to its end */
	KM_FUZZ_READ,
};

/*
 * Aborts where something that holds for every input does not. Which report
 * is made, and with which options, depends on the bytes.
 */
enum km_fuzz_depth km_fuzz(const uint8_t *data, size_t bytes);
/* The reader's part alone. */
enum km_fuzz_depth km_fuzz_read(const uint8_t *data, size_t bytes);

#endif
