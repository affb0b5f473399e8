/* SPDX-License-Identifier: GPL-2.0-only */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

#include "format.h"

int km_error_set(struct km_error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (!error || error->code)
		return code;
	error->code = code;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	km_format_one_line(error->text);
	return code;
}
