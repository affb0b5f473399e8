/* SPDX-License-Identifier: GPL-2.0-only */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *km_format_count(char *buffer, uint64_t value)
{
	char digits[KM_FORMAT_BYTES];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *out = buffer;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buffer;
}

const char *km_format_bytes(char *buffer, uint64_t value)
{
	static const char units[] = "KMGTPE";
	unsigned i = 0;
	uint64_t tenths;

	if (value < 1024) {
		snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64, value);
		return buffer;
	}
	for (;; i++) {
		unsigned shift = 10 * (i + 1);
		uint64_t unit = (uint64_t)1 << shift;

		/* The rest is below 2^60, so ten times it fits. */
		tenths = (value >> shift) * 10 + ((value & (unit - 1)) * 10 + unit / 2) / unit;
		/* What rounds to 1024.0K is 1.0M. */
		if (tenths < 10240 || !units[i + 1])
			break;
	}
	snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, units[i]);
	return buffer;
}

static uint64_t divide_rounding(uint64_t value, uint64_t unit)
{
	return value / unit + (value % unit >= unit - unit / 2);
}

/* Three significant digits; value is below 1000 units, 100 * value fits. */
static const char *format_scaled(char *buffer, uint64_t value, uint64_t unit, const char *suffix)
{
	uint64_t hundredths = divide_rounding(value * 100, unit);
	uint64_t tenths = divide_rounding(value * 10, unit);

	if (hundredths < 1000)
		snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64 ".%02" PRIu64 "%s", hundredths / 100, hundredths % 100,
			 suffix);
	else if (tenths < 1000)
		snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64 ".%" PRIu64 "%s", tenths / 10, tenths % 10, suffix);
	else
		snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64 "%s", divide_rounding(value, unit), suffix);
	return buffer;
}

/* "2h13m": value in the smaller unit, of which the larger one has `base`. */
static const char *format_pair(char *buffer, uint64_t value, unsigned base, char large, char small)
{
	snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64 "%c%02" PRIu64 "%c", value / base, large, value % base, small);
	return buffer;
}

const char *km_format_duration(char *buffer, uint64_t value_ns)
{
	const uint64_t us = 1000, ms = 1000 * us, s = 1000 * ms, minute = 60 * s;

	/* Each step looks at the rounded number: 999.9us is 1.00ms, 59m59.9s is 1h00m. */
	if (value_ns < us) {
		snprintf(buffer, KM_FORMAT_BYTES, "%" PRIu64 "ns", value_ns);
		return buffer;
	}
	if (divide_rounding(value_ns, us) < 1000)
		return format_scaled(buffer, value_ns, us, "us");
	if (divide_rounding(value_ns, ms) < 1000)
		return format_scaled(buffer, value_ns, ms, "ms");
	if (divide_rounding(value_ns, s / 10) < 600)
		return format_scaled(buffer, value_ns, s, "s");
	if (divide_rounding(value_ns, s) < 3600)
		return format_pair(buffer, divide_rounding(value_ns, s), 60, 'm', 's');
	if (divide_rounding(value_ns, minute) < 24 * 60)
		return format_pair(buffer, divide_rounding(value_ns, minute), 60, 'h', 'm');
	return format_pair(buffer, divide_rounding(value_ns, 60 * minute), 24, 'd', 'h');
}

const char *km_format_ratio(char *buffer, double ratio)
{
	if (!isfinite(ratio))
		snprintf(buffer, KM_FORMAT_BYTES, "-");
	else if (fabs(ratio) < 1e9)
		snprintf(buffer, KM_FORMAT_BYTES, "%.1f%%", ratio * 100);
	else
		snprintf(buffer, KM_FORMAT_BYTES, "%.3g%%", ratio * 100);
	return buffer;
}

void km_format_one_line(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
	}
}

const char *km_format_real(char *buffer, double value)
{
	double size = fabs(value);
	int decimals = 0;

	if (!(size < 1e15)) {
		snprintf(buffer, KM_FORMAT_BYTES, "%.4g", value);
		return buffer;
	}
	if (size >= 999.95) {
		char digits[KM_FORMAT_BYTES];

		km_format_count(digits, (uint64_t)(size + 0.5));
		snprintf(buffer, KM_FORMAT_BYTES, "%s%.*s", value < 0 ? "-" : "", KM_FORMAT_BYTES - 2, digits);
		return buffer;
	}
	if (size > 0 && size < 0.0001) {
		snprintf(buffer, KM_FORMAT_BYTES, "%.3g", value);
		return buffer;
	}
	for (double edge = 99.995; size > 0 && decimals < 4 && size < edge * 10; edge /= 10)
		decimals++;
	snprintf(buffer, KM_FORMAT_BYTES, "%.*f", decimals, value);
	return buffer;
}
