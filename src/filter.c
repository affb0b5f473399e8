/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_SECOND UINT64_C(1000000000)

/* Of 1 %: the unit of KM_TIME_PERCENT is the millionth. */
#define MILLIONTHS_PER_PERCENT UINT64_C(10000)

/* More of a bad value than this does not help anybody who reads the message. */
#define REFUSED_BYTES 80

int km_parse_refuse(struct km_error *error, int code, const char *text, const char *what)
{
	size_t length = strlen(text);
	const char *more = "";

	if (length > REFUSED_BYTES) {
		/* Not in the middle of a UTF-8 character. */
		for (length = REFUSED_BYTES; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
			;
		more = "...";
	}
	if (code == -EOVERFLOW)
		return km_error_set(error, code, "\"%.*s%s\" is too large", (int)length, text, more);
	return km_error_set(error, code, "\"%.*s%s\" is not %s", (int)length, text, more, what);
}

/*
 * Numbers are scanned by hand: strtoull() takes blanks, signs and "0x", and
 * turns "-1" into a huge number.
 */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Decimal digits, at least one. -EINVAL: there is none; -EOVERFLOW. Moves the cursor on success. */
static int scan_number(const char **cursor, uint64_t *ret_value)
{
	const char *p = *cursor;
	uint64_t value = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -EOVERFLOW;
	}
	*cursor = p;
	*ret_value = value;
	return 0;
}

/*
 * "12" or "12.25", counted in units: the value is that many times `unit`,
 * which must come out whole. Each decimal is worth a tenth of the one before
 * it, so no intermediate value is larger than the result.
 */
static int scan_decimal(const char **cursor, uint64_t unit, uint64_t *ret_value)
{
	const char *p = *cursor;
	uint64_t value;
	int r;

	r = scan_number(&p, &value);
	if (r < 0)
		return r;
	if (__builtin_mul_overflow(value, unit, &value))
		return -EOVERFLOW;
	if (*p == '.') {
		p++;
		if (!is_digit(*p))
			return -EINVAL;
		for (; is_digit(*p); p++) {
			unit = unit % 10 ? 0 : unit / 10;
			if (unit == 0 && *p != '0')
				return -EINVAL;
			if (__builtin_add_overflow(value, (uint64_t)(*p - '0') * unit, &value))
				return -EOVERFLOW;
		}
	}
	*cursor = p;
	*ret_value = value;
	return 0;
}

/* How many bits to shift by for the suffix in front of the cursor, 0 if there is none; moves the cursor. */
static unsigned scan_binary_suffix(const char **cursor)
{
	static const char *const suffixes[] = { "kK", "mM", "gG" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (**cursor && strchr(suffixes[i], **cursor)) {
			(*cursor)++;
			return 10 * ((unsigned)i + 1);
		}
	}
	return 0;
}

static int scan_scaled(const char *text, bool with_unit, uint64_t *ret_value)
{
	const char *p = text;
	uint64_t value;
	unsigned shift;
	int r;

	r = scan_number(&p, &value);
	if (r < 0)
		return r;
	shift = scan_binary_suffix(&p);
	if (shift && with_unit && p[0] == 'i' && p[1] == 'B')
		p += 2;
	if (*p)
		return -EINVAL;
	if (value > UINT64_MAX >> shift)
		return -EOVERFLOW;
	*ret_value = value << shift;
	return 0;
}

int km_parse_size(const char *text, uint64_t *ret_bytes, struct km_error *error)
{
	int r = scan_scaled(text, true, ret_bytes);

	if (r < 0)
		return km_parse_refuse(error, r, text, "a size such as 4096, 64K, 1M or 2G");
	return 0;
}

int km_parse_count(const char *text, uint64_t *ret_count, struct km_error *error)
{
	int r = scan_scaled(text, false, ret_count);

	if (r < 0)
		return km_parse_refuse(error, r, text, "a number such as 65536, 64K or 1M");
	return 0;
}

int km_parse_duration(const char *text, uint64_t *ret_ns, struct km_error *error)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {
		{ "", NS_PER_SECOND },
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", NS_PER_SECOND },
		{ "m", 60 * NS_PER_SECOND },
		{ "h", 3600 * NS_PER_SECOND },
	};
	const char *suffix = text + strspn(text, "0123456789.");
	const char *p = text;
	uint64_t ns;
	int r = -EINVAL;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(suffix, units[i].suffix) == 0) {
			r = scan_decimal(&p, units[i].ns, &ns);
			break;
		}
	}
	if (r == 0 && p != suffix)
		r = -EINVAL;
	if (r < 0)
		return km_parse_refuse(error, r, text,
				       "a duration in whole nanoseconds such as 100us, 5ms, 1.5s, 3m or 1h");
	*ret_ns = ns;
	return 0;
}

/* Room for the items of one more comma list, so that appending them can not fail. */
static void *grow(void *items, size_t count, size_t item_bytes, const char *text)
{
	size_t more = 1;

	for (; *text; text++)
		more += *text == ',';
	return reallocarray(items, count + more, item_bytes);
}

int km_patterns_parse(struct km_patterns *patterns, const char *text, struct km_error *error)
{
	size_t count = patterns->count;
	const char *p = text;
	void *items;
	int r;

	items = grow(patterns->items, count, sizeof(*patterns->items), text);
	if (!items)
		return km_error_set(error, -ENOMEM, "out of memory");
	patterns->items = items;

	for (;; p++) {
		bool negated = *p == '!';
		size_t length = strcspn(p + negated, ",");

		if (length == 0) {
			r = km_parse_refuse(error, -EINVAL, text, "a comma list of names or globs, none of them empty");
			goto fail;
		}
		patterns->items[count].negated = negated;
		patterns->items[count].glob = strndup(p + negated, length);
		if (!patterns->items[count].glob) {
			r = km_error_set(error, -ENOMEM, "out of memory");
			goto fail;
		}
		count++;
		p += negated + length;
		if (!*p)
			break;
	}
	patterns->count = count;
	return 0;

fail:
	while (count > patterns->count)
		free(patterns->items[--count].glob);
	return r;
}

bool km_patterns_match_any(const struct km_patterns *patterns, const char *const *names, size_t count)
{
	bool has_plain = false, matched = false;

	for (size_t i = 0; i < patterns->count; i++) {
		has_plain |= !patterns->items[i].negated;
		for (size_t n = 0; n < count; n++) {
			if (fnmatch(patterns->items[i].glob, names[n] ? names[n] : "", 0) != 0)
				continue;
			if (patterns->items[i].negated)
				return false;
			matched = true;
		}
	}
	return matched || !has_plain;
}

bool km_patterns_match(const struct km_patterns *patterns, const char *name)
{
	return km_patterns_match_any(patterns, &name, 1);
}

void km_patterns_release(struct km_patterns *patterns)
{
	if (!patterns)
		return;
	for (size_t i = 0; i < patterns->count; i++)
		free(patterns->items[i].glob);
	free(patterns->items);
	*patterns = (struct km_patterns){ 0 };
}

static int scan_integer(const char **cursor, int64_t *ret_value)
{
	const char *p = *cursor;
	bool negative = *p == '-';
	uint64_t value;
	int r;

	p += negative;
	r = scan_number(&p, &value);
	if (r < 0)
		return r;
	if (value > INT64_MAX)
		return -EOVERFLOW;
	*cursor = p;
	*ret_value = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

/* "3", "-1", "2-4". A minus right after a number makes a range, anywhere else it is a sign. */
static int scan_range(const char **cursor, int64_t *ret_low, int64_t *ret_high)
{
	const char *p = *cursor;
	int64_t low, high;
	int r;

	r = scan_integer(&p, &low);
	if (r < 0)
		return r;
	high = low;
	if (*p == '-') {
		p++;
		r = scan_integer(&p, &high);
		if (r < 0)
			return r;
	}
	if ((*p && *p != ',') || low > high)
		return -EINVAL;
	*cursor = p;
	*ret_low = low;
	*ret_high = high;
	return 0;
}

int km_ranges_parse(struct km_ranges *ranges, const char *text, struct km_error *error)
{
	size_t count = ranges->count;
	const char *p = text;
	void *items;
	int r;

	items = grow(ranges->items, count, sizeof(*ranges->items), text);
	if (!items)
		return km_error_set(error, -ENOMEM, "out of memory");
	ranges->items = items;

	for (;; p++) {
		bool negated = *p == '!';

		p += negated;
		r = scan_range(&p, &ranges->items[count].low, &ranges->items[count].high);
		if (r < 0)
			return km_parse_refuse(error, r, text, "a list of numbers and ranges such as 0,2-4");
		ranges->items[count].negated = negated;
		count++;
		if (!*p)
			break;
	}
	ranges->count = count;
	return 0;
}

bool km_ranges_match(const struct km_ranges *ranges, int64_t value)
{
	bool has_plain = false, matched = false;

	for (size_t i = 0; i < ranges->count; i++) {
		bool negated = ranges->items[i].negated;
		bool inside = value >= ranges->items[i].low && value <= ranges->items[i].high;

		if (negated && inside)
			return false;
		has_plain |= !negated;
		matched |= inside;
	}
	return matched || !has_plain;
}

void km_ranges_release(struct km_ranges *ranges)
{
	if (!ranges)
		return;
	free(ranges->items);
	*ranges = (struct km_ranges){ 0 };
}

/* One end of a window, `length` bytes of text; sets *ret_point on success only. */
static int scan_time_point(const char *text, size_t length, struct km_time_point *ret_point)
{
	struct km_time_point point = { .kind = KM_TIME_OPEN };
	const char *p = text;
	int r = 0;

	if (length == 0) {
		;
	} else if (*p == '@') {
		if (length == 1)
			return -EINVAL;
		point.kind = KM_TIME_MARK;
		point.text = strndup(text + 1, length - 1);
		if (!point.text)
			return -ENOMEM;
		p += length;
	} else if (text[length - 1] == '%') {
		point.kind = KM_TIME_PERCENT;
		r = scan_decimal(&p, MILLIONTHS_PER_PERCENT, &point.value);
		if (r == 0 && point.value > 100 * MILLIONTHS_PER_PERCENT)
			r = -EINVAL;
		p += r == 0 && *p == '%';
	} else {
		point.kind = *p == '+' ? KM_TIME_RELATIVE : KM_TIME_CLOCK;
		p += *p == '+';
		r = scan_decimal(&p, NS_PER_SECOND, &point.value);
	}
	if (r < 0)
		return r;
	if (p != text + length)
		return -EINVAL;
	*ret_point = point;
	return 0;
}

/* Ends of different kinds can only be compared with the trace at hand. */
static bool is_backwards(const struct km_time_point *from, const struct km_time_point *until)
{
	return from->kind == until->kind && from->kind != KM_TIME_MARK && from->value > until->value;
}

int km_time_window_parse(const char *text, struct km_time_point *ret_from, struct km_time_point *ret_until,
			 struct km_error *error)
{
	struct km_time_point from = { .kind = KM_TIME_OPEN }, until = { .kind = KM_TIME_OPEN };
	const char *comma = strchr(text, ',');
	int r = -EINVAL;

	if (!comma || strchr(comma + 1, ','))
		goto fail;
	r = scan_time_point(text, (size_t)(comma - text), &from);
	if (r < 0)
		goto fail;
	r = scan_time_point(comma + 1, strlen(comma + 1), &until);
	if (r < 0)
		goto fail;
	if (is_backwards(&from, &until)) {
		r = km_parse_refuse(error, -EINVAL, text, "a time window: it ends before it begins");
		goto fail;
	}
	*ret_from = from;
	*ret_until = until;
	return 0;

fail:
	km_time_point_release(&from);
	km_time_point_release(&until);
	if (r == -ENOMEM)
		return km_error_set(error, r, "out of memory");
	return km_parse_refuse(error, r, text,
			       "a time window A,B, each of the two being empty, "
			       "seconds of the trace clock (5170.25), +seconds from the first event, "
			       "a percentage of the trace (N%), or the text of a marker (@TEXT)");
}

void km_time_point_release(struct km_time_point *point)
{
	if (!point)
		return;
	free(point->text);
	*point = (struct km_time_point){ .kind = KM_TIME_OPEN };
}

void km_filter_release(struct km_filter *filter)
{
	if (!filter)
		return;
	km_patterns_release(&filter->cache);
	km_patterns_release(&filter->site);
	km_patterns_release(&filter->function);
	km_patterns_release(&filter->module);
	km_patterns_release(&filter->comm);
	km_patterns_release(&filter->gfp);
	km_ranges_release(&filter->pid);
	km_ranges_release(&filter->cpu);
	km_ranges_release(&filter->node);
	km_time_point_release(&filter->from);
	km_time_point_release(&filter->until);
	*filter = (struct km_filter){ 0 };
}

bool km_filter_is_active(const struct km_filter *filter)
{
	return filter->cache.count || filter->site.count || filter->function.count || filter->module.count ||
	       filter->comm.count || filter->gfp.count || filter->pid.count || filter->cpu.count ||
	       filter->node.count || filter->has_min_age || filter->min_size_bytes || filter->has_time;
}
