/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_reader_entry: any bytes as a trace, through all that is done with
 * one: opened, asked about, read, replayed and aggregated. Shared by the
 * libFuzzer target and by the test that runs its corpus.
 */
#ifndef KM_FUZZ_READER_ENTRY_H
#define KM_FUZZ_READER_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* How far the bytes got. */
enum km_fuzz_depth {
	KM_FUZZ_REFUSED, /* not opened */
	KM_FUZZ_OPENED,  /* but no buffer could be read to its end */
	KM_FUZZ_READ,
};

/* Aborts where something that holds for every input does not. */
enum km_fuzz_depth km_fuzz_reader(const uint8_t *data, size_t bytes);

#endif
