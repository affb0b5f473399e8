/* SPDX-License-Identifier: GPL-2.0-only */
#include "utf8.h"

#include <string.h>

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. The NUL ends a sequence that is cut short. */
size_t km_utf8_character(const char *string, uint32_t *ret_code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)string[0];
	size_t length;
	uint32_t code;

	if (!first)
		return 0;
	if (first < 0x80) {
		if (ret_code)
			*ret_code = first;
		return 1;
	}
	if (first < 0xc2 || first > 0xf4)
		return 0;
	length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	code = first & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		unsigned char byte = (unsigned char)string[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	if (ret_code)
		*ret_code = code;
	return length;
}

size_t km_utf8_clean(const char *text, char *buffer, size_t bytes)
{
	size_t length = 0;

	while (*text) {
		size_t step = km_utf8_character(text, NULL);
		const char *from = step ? text : KM_UTF8_REPLACEMENT;
		size_t n = step ? step : sizeof(KM_UTF8_REPLACEMENT) - 1;

		if (length + n >= bytes)
			break;
		memcpy(buffer + length, from, n);
		length += n;
		text += step ? step : 1;
	}
	buffer[length] = '\0';
	return length;
}
