/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * utf8: which bytes of a text are characters, and texts made of such only. A
 * recording's names may hold any bytes; what is written for others may not.
 */
#ifndef KM_UTF8_H
#define KM_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* What stands for a byte that is no part of a character: U+FFFD. */
#define KM_UTF8_REPLACEMENT "\xef\xbf\xbd"

/*
 * The length in bytes of the character that a NUL-terminated string begins
 * with, 0 if it begins with none that is valid UTF-8. ret_code may be NULL.
 */
size_t km_utf8_character(const char *string, uint32_t *ret_code);

/*
 * The text with each byte that is no part of a character replaced, into
 * buffer: NUL-terminated, cut between characters where it does not fit.
 * Returns its length.
 */
size_t km_utf8_clean(const char *text, char *buffer, size_t bytes);

#endif
