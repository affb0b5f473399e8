/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format: numbers as people read them, for tables and for the texts that an
 * analysis composes. Each of these functions writes a NUL-terminated string
 * of at most KM_FORMAT_BYTES and returns the buffer.
 */
#ifndef KM_FORMAT_H
#define KM_FORMAT_H

#include <stdint.h>

#define KM_FORMAT_BYTES 40
const char *km_format_count(char *buffer, uint64_t value);       /* 28,970,056 */
const char *km_format_bytes(char *buffer, uint64_t value);       /* 512, 9.8K, 70.9M: 1024-based, 3 to 4 digits */
const char *km_format_duration(char *buffer, uint64_t value_ns); /* 870ns, 51.2us, 3.04ms, 49.6s, 2h13m */
const char *km_format_real(char *buffer, double value);  /* 0.0123, 12.35, 1,235: four digits or all whole ones */
const char *km_format_ratio(char *buffer, double ratio); /* 12.5% */

/* What quotes names from a file stays one line that no terminal obeys: control characters become '?'. */
void km_format_one_line(char *text);

#endif
