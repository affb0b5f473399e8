/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one thing that every form has is `TIME: EVENT:`. It is looked for from
 * the left, and what is before it is read from the right, since the left end
 * is the task's name, which can be anything:
 *
 *     [buffer:] comm-pid (tgid) [cpu] flags TIME: EVENT: key=value key=value
 *     comm pid [cpu] TIME: [period] system:EVENT: key=value key=value
 *
 * Lines without it that hold a slab event are of a printk (tp_printk, a dump
 * of the buffer at an oops); scan_bare() reads them.
 *
 * A value ends where the next key begins, so it may have blanks in it.
 */
#include "text_line.h"

#include <string.h>

#define COMM_BYTES   15 /* TASK_COMM_LEN less the NUL */
#define COMM_COLUMNS 16 /* trace-cmd and the kernel put the name to the right of as many */
#define FLAGS_BYTES  8  /* latency flags: 4 or 5, with room */

/* What is still to be read. */
struct span {
	const char *p;
	const char *end;
};

/* A serial line leaves NULs, a copy from elsewhere CRs. */
static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static inline bool is_word(char c)
{
	return (unsigned char)((c | 0x20) - 'a') < 26 || is_digit(c) || c == '_';
}

static inline int hex_digit(char c)
{
	unsigned letter = ((unsigned char)c | 0x20U) - 'a';

	return is_digit(c) ? c - '0' : letter < 6 ? (int)letter + 10 : -1;
}

static inline const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* The end of what is in [start, end) without its last blanks. */
static inline const char *trim_right(const char *start, const char *end)
{
	while (end > start && is_blank(end[-1]))
		end--;
	return end;
}

static inline bool slice_is(struct km_text_slice slice, const char *text, size_t bytes)
{
	return slice.bytes == bytes && !memcmp(slice.p, text, bytes);
}

#define SLICE_IS(slice, text) slice_is(slice, text, sizeof(text) - 1)

/* Whether text is next; it is taken. */
static bool take(struct span *s, const char *text)
{
	size_t bytes = strlen(text);

	if ((size_t)(s->end - s->p) < bytes || memcmp(s->p, text, bytes))
		return false;
	s->p += bytes;
	return true;
}

/* --- numbers --- */

/* Digits from s->p on. false if there is none, or too many for 64 bits. */
static inline bool take_decimal(struct span *s, uint64_t *ret_value)
{
	const char *start = s->p;
	uint64_t value = 0;

	for (; s->p < s->end && is_digit(*s->p); s->p++) {
		unsigned digit = (unsigned)(*s->p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return s->p > start;
}

/* Hexadecimal digits, at most 16; returns how many. */
static inline unsigned take_hex(struct span *s, uint64_t *ret_value)
{
	unsigned digits = 0;
	uint64_t value = 0;
	int digit;

	for (; s->p < s->end && digits < 17 && (digit = hex_digit(*s->p)) >= 0; s->p++, digits++)
		value = value << 4 | (unsigned)digit;
	if (digits > 16)
		return 0;
	*ret_value = value;
	return digits;
}

static inline bool take_0x(struct span *s)
{
	if (s->end - s->p < 3 || s->p[0] != '0' || (s->p[1] | 0x20) != 'x')
		return false;
	s->p += 2;
	return true;
}

/* Nothing follows, or what the `fields` option adds: the value once more, in parentheses. */
static inline bool is_ended(const struct span *s)
{
	return s->p == s->end || is_blank(*s->p);
}

/* "360", "-1", "0x168 (360)": the bits of the number. */
static bool read_number(struct km_text_slice value, uint64_t *ret_number)
{
	struct span s = { value.p, value.p + value.bytes };
	bool negative = false;

	if (take_0x(&s))
		return take_hex(&s, ret_number) && is_ended(&s);
	if (s.p < s.end && *s.p == '-') {
		negative = true;
		s.p++;
	}
	if (!take_decimal(&s, ret_number) || !is_ended(&s))
		return false;
	if (negative)
		*ret_number = -*ret_number;
	return true;
}

/* An address with or without 0x. Where a parser gave up, libtraceevent prints decimals: more digits than hex has. */
static unsigned read_address(struct km_text_slice value, uint64_t *ret_address)
{
	struct span s = { value.p, value.p + value.bytes };
	unsigned digits;
	uint64_t address;

	take_0x(&s);
	digits = take_hex(&s, &address);
	if (!digits || !is_ended(&s)) {
		s.p = value.p;
		digits = 16;
		if (value.bytes <= 16 || !take_decimal(&s, &address) || !is_ended(&s))
			return 0;
	}
	*ret_address = address;
	return digits;
}

/* "12.345678" and "12.345678901" in ns, "12345" in ticks. [start, end) is all of it. */
static bool read_time(const char *start, const char *end, struct km_text_line *line)
{
	static const uint32_t scale[] = { 1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1 };
	struct span s = { start, end };
	uint64_t whole, part = 0;
	size_t digits;

	if (!take_decimal(&s, &whole))
		return false;
	line->has_time = true;
	line->is_ticks = s.p == end;
	line->time = whole;
	if (line->is_ticks)
		return true;
	if (*s.p != '.')
		return false;
	s.p++;
	digits = (size_t)(end - s.p);
	if (digits < 1 || digits > 9 || !take_decimal(&s, &part) || s.p != end)
		return false;
	if (whole > (UINT64_MAX - 999999999) / 1000000000)
		return false;
	line->time = whole * 1000000000 + part * scale[digits];
	return true;
}

/* --- the task --- */

/*
 * The name in [start, end), and what is before it: marks of quoting, the
 * time of a log, or the instance that trace-cmd names before a name of full
 * width.
 */
static void read_comm(const char *start, const char *end, struct km_text_line *line)
{
	const char *colon;

	while (start < end && (is_blank(*start) || *start == '>' || *start == '|'))
		start++;
	if (end - start > COMM_BYTES) {
		colon = memchr(start, ':', (size_t)(end - start));
		if (colon && end - colon == 2 + COMM_COLUMNS && colon[1] == ' ' && colon[2] == ' ' &&
		    !memchr(start, ' ', (size_t)(colon - start))) {
			line->buffer = (struct km_text_slice){ start, (size_t)(colon - start) };
			start = skip_blanks(colon + 1, end);
		} else {
			start = end - COMM_BYTES;
			for (const char *p = start; p + 1 < end; p++) {
				if (is_blank(p[1]) && (*p == ':' || *p == ']' || *p == '>'))
					start = p + 1;
			}
			start = skip_blanks(start, end);
		}
	}
	line->comm = (struct km_text_slice){ start, (size_t)(end - start) };
	if (SLICE_IS(line->comm, "<...>"))
		line->comm.bytes = 0;
}

/* `comm-pid`, `comm pid`, `comm pid/tid` or nothing, in [start, end). */
static void read_task(const char *start, const char *end, struct km_text_line *line)
{
	const char *digits, *comm_end;
	struct span s;
	uint64_t pid;

	end = trim_right(start, end);
	if (end > start && end[-1] == ')') { /* the tgid: (  123) or (-------) */
		const char *p = end - 1;

		while (p > start && (is_digit(p[-1]) || p[-1] == ' ' || p[-1] == '-'))
			p--;
		if (p > start && p[-1] == '(')
			end = trim_right(start, p - 1);
	}
	digits = end;
	while (digits > start && is_digit(digits[-1]))
		digits--;
	if (digits == end || digits == start)
		return;
	s = (struct span){ digits, end };
	comm_end = digits - 1;
	if (*comm_end == '-' && comm_end > start && !is_blank(comm_end[-1])) {
		/* the kernel's and trace-cmd's */
	} else if (*comm_end == '/') {
		while (comm_end > start && is_digit(comm_end[-1]))
			comm_end--;
	} else if (!is_blank(*comm_end)) {
		return;
	}
	if (!take_decimal(&s, &pid) || pid > INT32_MAX)
		return;
	line->pid = (int32_t)pid;
	read_comm(start, trim_right(start, comm_end), line);
}

/* [12] at the end of [start, *end): taken off. */
static bool take_cpu(const char *start, const char **end, struct km_text_line *line)
{
	const char *p = *end;
	struct span s;
	uint64_t cpu;

	if (p - start < 3 || p[-1] != ']')
		return false;
	s.end = --p;
	while (p > start && is_digit(p[-1]))
		p--;
	s.p = p;
	if (p == start || p[-1] != '[' || !take_decimal(&s, &cpu) || cpu >= KM_CPU_LIMIT)
		return false;
	line->cpu = (unsigned)cpu;
	line->has_cpu = true;
	*end = p - 1;
	return true;
}

/* `1d..3` at the end of [start, *end), CPU and flags in the latency format: taken off. */
static bool take_cpu_and_flags(const char *start, const char **end, struct km_text_line *line)
{
	const char *p = *end;
	struct span s = { .end = *end };
	uint64_t cpu;

	while (p > start && !is_blank(p[-1]) && *end - p < 2 * FLAGS_BYTES)
		p--;
	s.p = p;
	if (p == start || !is_blank(p[-1]) || !take_decimal(&s, &cpu) || cpu >= KM_CPU_LIMIT || s.end - s.p < 3 ||
	    !memchr(".dDbX", *s.p, 5))
		return false;
	line->cpu = (unsigned)cpu;
	line->has_cpu = true;
	*end = p;
	return true;
}

/* What is before the time. Whether a CPU was told, which says that this is no chance. */
static bool read_context(const char *start, const char *end, struct km_text_line *line)
{
	const char *flags;

	line->cpu = 0;
	line->has_cpu = false;
	line->pid = KM_TEXT_PID_NONE;
	end = trim_right(start, end);
	if (take_cpu(start, &end, line)) {
		read_task(start, end, line);
		return true;
	}
	flags = end;
	while (flags > start && !is_blank(flags[-1]) && end - flags <= FLAGS_BYTES)
		flags--;
	flags = trim_right(start, flags);
	if (take_cpu(start, &flags, line)) {
		read_task(start, flags, line);
		return true;
	}
	if (take_cpu_and_flags(start, &end, line)) {
		read_task(start, end, line);
		return true;
	}
	read_task(start, end, line);
	return false;
}

/* --- the event --- */

static bool slab_kind(struct km_text_slice name, enum km_event_kind *ret_kind)
{
	if (!name.bytes || name.p[0] != 'k')
		return false;
	if (SLICE_IS(name, "kfree"))
		*ret_kind = KM_EVENT_KFREE;
	else if (SLICE_IS(name, "kmalloc"))
		*ret_kind = KM_EVENT_KMALLOC;
	else if (SLICE_IS(name, "kmem_cache_alloc"))
		*ret_kind = KM_EVENT_CACHE_ALLOC;
	else if (SLICE_IS(name, "kmem_cache_free"))
		*ret_kind = KM_EVENT_CACHE_FREE;
	else if (SLICE_IS(name, "kmalloc_node"))
		*ret_kind = KM_EVENT_KMALLOC_NODE;
	else if (SLICE_IS(name, "kmem_cache_alloc_node"))
		*ret_kind = KM_EVENT_CACHE_ALLOC_NODE;
	else
		return false;
	return true;
}

static void fault(struct km_text_line *line, const char *what)
{
	if (!line->fault)
		line->fault = what;
}

static void read_pointer(struct km_text_slice value, struct km_text_line *line)
{
	line->ptr_digits = read_address(value, &line->ptr);
	if (line->ptr_digits)
		line->pointer = line->ptr ? KM_TEXT_POINTER_VALUE : KM_TEXT_POINTER_NULL;
	else if (SLICE_IS(value, "(null)") || SLICE_IS(value, "(nil)"))
		line->pointer = KM_TEXT_POINTER_NULL;
	else if (memmem(value.p, value.bytes, "ptrval", 6))
		line->pointer = KM_TEXT_POINTER_WITHHELD;
	else
		fault(line, "a pointer that is no number");
}

enum field { FIELD_SITE = 1, FIELD_PTR = 2, FIELD_REQ = 4, FIELD_ALLOC = 8 };

/* One key and its value; returns which of the needed ones it is. */
static unsigned read_field(struct km_text_slice key, struct km_text_slice value, struct km_text_line *line)
{
	uint64_t number;

	if (SLICE_IS(key, "ptr")) {
		read_pointer(value, line);
		return FIELD_PTR;
	}
	if (SLICE_IS(key, "call_site")) {
		line->site = value;
		return FIELD_SITE;
	}
	if (SLICE_IS(key, "bytes_req") || SLICE_IS(key, "bytes_alloc")) {
		bool asked = key.bytes == 9;

		if (!read_number(value, asked ? &line->bytes_req : &line->bytes_alloc))
			fault(line, "a size that is no number");
		return asked ? FIELD_REQ : FIELD_ALLOC;
	}
	if (SLICE_IS(key, "gfp_flags")) {
		line->gfp = value;
		for (size_t i = 0; i < value.bytes; i++) {
			if (is_blank(value.p[i]))
				line->gfp.bytes = i;
		}
	} else if (SLICE_IS(key, "name")) {
		line->cache = value;
		if (SLICE_IS(value, "(null)"))
			line->cache.bytes = 0;
	} else if (SLICE_IS(key, "node")) {
		if (read_number(value, &number)) {
			line->node = (int16_t)number;
			line->has_node = true;
		}
	}
	return 0;
}

/* key=value key=value: a key is the word before a '=', its value goes up to the next key. */
static unsigned read_fields(struct km_text_line *line)
{
	const char *p = line->payload.p, *end = p + line->payload.bytes;
	struct km_text_slice key = { p, 0 };
	const char *value = p, *equals = memchr(p, '=', (size_t)(end - p));
	unsigned met = 0;

	while (equals) {
		const char *start = equals;
		const char *value_end;

		while (start > value && is_word(start[-1]))
			start--;
		value_end = trim_right(value, start);
		if (key.bytes) {
			value = skip_blanks(value, value_end);
			met |= read_field(key, (struct km_text_slice){ value, (size_t)(value_end - value) }, line);
		}
		key = (struct km_text_slice){ start, (size_t)(equals - start) };
		value = equals + 1;
		equals = memchr(value, '=', (size_t)(end - value));
	}
	if (key.bytes) {
		const char *value_end = trim_right(value, end);

		value = skip_blanks(value, value_end);
		met |= read_field(key, (struct km_text_slice){ value, (size_t)(value_end - value) }, line);
	}
	return met;
}

static enum km_text_kind read_slab(struct km_text_line *line)
{
	bool is_alloc = line->slab <= KM_EVENT_CACHE_ALLOC_NODE;
	unsigned met = read_fields(line);

	/* trace-cmd's plug-in puts the symbol before the fields, whose call_site is then the address. */
	if (line->payload.bytes && line->payload.p[0] == '(' && line->site.p)
		line->site = (struct km_text_slice){ line->payload.p,
						     (size_t)(line->site.p + line->site.bytes - line->payload.p) };
	if (!(met & FIELD_SITE))
		fault(line, "no call_site");
	if (!(met & FIELD_PTR))
		fault(line, "no ptr");
	if (is_alloc && !(met & FIELD_REQ))
		fault(line, "no bytes_req");
	if (is_alloc && !(met & FIELD_ALLOC))
		fault(line, "no bytes_alloc");
	return KM_TEXT_SLAB;
}

/* "PERF_RECORD_LOST lost 10" */
static enum km_text_kind read_perf_lost(struct span s, struct km_text_line *line)
{
	s.p = skip_blanks(s.p, s.end);
	if (!take(&s, "lost") || (s.p = skip_blanks(s.p, s.end)) == s.end || !take_decimal(&s, &line->lost_count))
		return KM_TEXT_OTHER;
	return KM_TEXT_LOST;
}

/* `EVENT: ...` or `system:EVENT: ...` at s; KM_TEXT_OTHER if it is neither. */
static enum km_text_kind read_event(struct span s, struct km_text_line *line)
{
	const char *start;

	s.p = skip_blanks(s.p, s.end);
	start = s.p;
	while (s.p < s.end && is_digit(*s.p))
		s.p++;
	if (s.p > start && s.p < s.end && is_blank(*s.p)) /* perf's period */
		start = s.p = skip_blanks(s.p, s.end);
	while (s.p < s.end && (is_word(*s.p) || *s.p == '-'))
		s.p++;
	line->name = (struct km_text_slice){ start, (size_t)(s.p - start) };
	if (s.p == start) {
		if (!take(&s, "<stack trace"))
			return KM_TEXT_OTHER;
		line->name = (struct km_text_slice){ "kernel_stack", 12 };
		return KM_TEXT_EVENT;
	}
	if (SLICE_IS(line->name, "PERF_RECORD_LOST"))
		return read_perf_lost(s, line);
	if (s.p == s.end || *s.p != ':')
		return KM_TEXT_OTHER;
	s.p++;
	if (s.p < s.end && is_word(*s.p)) {
		const char *name = s.p;

		while (s.p < s.end && is_word(*s.p))
			s.p++;
		if (s.p < s.end && *s.p == ':') {
			line->name = (struct km_text_slice){ name, (size_t)(s.p - name) };
			line->is_perf = true;
			s.p++;
		} else {
			s.p = name;
		}
	}
	s.p = skip_blanks(s.p, s.end);
	line->payload = (struct km_text_slice){ s.p, (size_t)(s.end - s.p) };
	if (slab_kind(line->name, &line->slab))
		return read_slab(line);
	if (SLICE_IS(line->name, "print") || SLICE_IS(line->name, "tracing_mark_write"))
		return KM_TEXT_MARK;
	return KM_TEXT_EVENT;
}

/* --- lines without `TIME: EVENT:` --- */

/*
 * What is before a slab event whose time is not followed by a colon:
 *     [    0.123456][   T12] kmalloc:         a printk, with CONFIG_PRINTK_CALLER
 *     bash-2345    1d..3 251us+: kmalloc:     a dump in the latency format
 */
static void read_bare_context(const char *start, const char *end, struct km_text_line *line)
{
	const char *p;
	struct span s;
	uint64_t value;

	end = trim_right(start, end);
	if (end > start && end[-1] == ':') {
		end = trim_right(start, end - 1);
		while (end > start && memchr("+!#*@$", end[-1], 6))
			end--;
		if (end - start < 3 || end[-1] != 's' || end[-2] != 'u')
			return;
		s.end = end = end - 2;
		while (end > start && is_digit(end[-1]))
			end--;
		s.p = end;
		if (!take_decimal(&s, &value) || value > UINT64_MAX / 1000)
			return;
		line->has_time = true;
		line->time = value * 1000;
		end = trim_right(start, end);
		if (take_cpu_and_flags(start, &end, line))
			read_task(start, end, line);
		return;
	}
	while (end > start && end[-1] == ']') {
		p = --end;
		while (p > start && p[-1] != '[')
			p--;
		if (p == start)
			return;
		s = (struct span){ skip_blanks(p, end), end };
		if (s.p < s.end && (*s.p == 'T' || *s.p == 'C')) {
			bool is_task = *s.p++ == 'T';

			if (!take_decimal(&s, &value) || s.p != s.end)
				return;
			if (is_task && value <= INT32_MAX)
				line->pid = (int32_t)value;
			if (!is_task && value < KM_CPU_LIMIT) {
				line->cpu = (unsigned)value;
				line->has_cpu = true;
			}
		} else if (!memchr(s.p, '.', (size_t)(s.end - s.p)) || !read_time(s.p, s.end, line)) {
			line->has_time = false;
			return;
		}
		end = p - 1;
	}
}

/* A slab event wherever it is in the line: the text before `call_site=` is `EVENT: `. */
static enum km_text_kind scan_bare(struct span s, struct km_text_line *line)
{
	const char *key = memmem(s.p, (size_t)(s.end - s.p), "call_site=", 10);
	const char *end, *name;

	if (!key)
		return KM_TEXT_OTHER;
	end = trim_right(s.p, key);
	if (end > s.p && end[-1] == ')') { /* trace-cmd's symbol */
		while (end > s.p && *end != '(')
			end--;
		key = end;
		end = trim_right(s.p, end);
	}
	if (end == s.p || end[-1] != ':')
		return KM_TEXT_OTHER;
	name = --end;
	while (name > s.p && is_word(name[-1]))
		name--;
	line->name = (struct km_text_slice){ name, (size_t)(end - name) };
	if (!slab_kind(line->name, &line->slab))
		return KM_TEXT_OTHER;
	line->pid = KM_TEXT_PID_NONE;
	line->cpu = 0;
	line->has_cpu = false;
	line->time = 0;
	line->has_time = line->is_ticks = false;
	line->payload = (struct km_text_slice){ key, (size_t)(s.end - key) };
	if (name > s.p)
		read_bare_context(s.p, name, line);
	return read_slab(line);
}

/* "CPU:1 [LOST 1234 EVENTS]" of the kernel, "CPU:1 [1234 EVENTS DROPPED]" of trace-cmd, either without the number. */
static enum km_text_kind scan_lost(struct span s, struct km_text_line *line)
{
	uint64_t cpu;

	if (!take(&s, "CPU:") || !take_decimal(&s, &cpu) || cpu >= KM_CPU_LIMIT)
		return KM_TEXT_OTHER;
	line->cpu = (unsigned)cpu;
	line->has_cpu = true;
	s.p = skip_blanks(s.p, s.end);
	if (!take(&s, "["))
		return KM_TEXT_OTHER;
	if (take(&s, "LOST "))
		return take(&s, "EVENTS") || (take_decimal(&s, &line->lost_count) && take(&s, " EVENTS"))
			       ? KM_TEXT_LOST
			       : KM_TEXT_OTHER;
	if (take(&s, "EVENTS DROPPED"))
		return KM_TEXT_LOST;
	return take_decimal(&s, &line->lost_count) && take(&s, " EVENTS DROPPED") ? KM_TEXT_LOST : KM_TEXT_OTHER;
}

static bool take_count(struct span s, const char *before, uint32_t *ret_count)
{
	const char *p = memmem(s.p, (size_t)(s.end - s.p), before, strlen(before));
	uint64_t value;

	if (!p)
		return false;
	s.p = p + strlen(before);
	if (!take_decimal(&s, &value) || !value || value > KM_CPU_LIMIT)
		return false;
	*ret_count = (uint32_t)value;
	return true;
}

/* Lines that begin with '#', and trace-cmd's first. */
static enum km_text_kind scan_header(struct span s, struct km_text_line *line)
{
	struct span rest = s;
	uint64_t cpu;

	if (take(&rest, "##### CPU ")) {
		if (!take_decimal(&rest, &cpu) || cpu >= KM_CPU_LIMIT || !take(&rest, " buffer started"))
			return KM_TEXT_OTHER;
		line->cpu = (unsigned)cpu;
		line->has_cpu = true;
		line->starts_cpu = true;
		return KM_TEXT_HEADER;
	}
	if (take(&rest, "cpus="))
		return take_count(s, "cpus=", &line->cpus_count) ? KM_TEXT_HEADER : KM_TEXT_OTHER;
	if (take(&rest, "# entries-in-buffer/entries-written: ")) {
		line->has_entries = take_decimal(&rest, &line->entries_count) && take(&rest, "/") &&
				    take_decimal(&rest, &line->written_count);
		take_count(rest, "#P:", &line->cpus_count);
		return KM_TEXT_HEADER;
	}
	return take(&rest, "# tracer: ") ? KM_TEXT_HEADER : KM_TEXT_OTHER;
}

enum km_text_kind km_text_line_parse(const char *text, size_t bytes, struct km_text_line *line)
{
	struct span s = { text, text + bytes };
	enum km_text_kind kind;
	const char *colon;

	memset(line, 0, sizeof(*line));
	line->pid = KM_TEXT_PID_NONE;
	line->node = KM_NODE_ANY;
	s.end = trim_right(s.p, s.end);
	for (colon = s.p; (colon = memchr(colon, ':', (size_t)(s.end - colon))); colon++) {
		const char *time = colon;
		bool has_cpu;

		while (time > s.p && (is_digit(time[-1]) || time[-1] == '.'))
			time--;
		if (time == colon || (time > s.p && !is_blank(time[-1]) && time[-1] != ']') || colon + 1 == s.end ||
		    !is_blank(colon[1]) || !read_time(time, colon, line))
			continue;
		has_cpu = read_context(s.p, time, line);
		kind = read_event((struct span){ colon + 1, s.end }, line);
		/* Without a CPU it may be any text: only what can be nothing else counts. */
		if (kind != KM_TEXT_OTHER && (has_cpu || kind == KM_TEXT_SLAB || (line->is_perf && !line->is_ticks)))
			return line->kind = kind;
		line->comm.bytes = line->buffer.bytes = line->name.bytes = 0;
		line->is_perf = false;
		if (has_cpu) /* the function tracer's lines, and what else has no name */
			return line->kind = KM_TEXT_OTHER;
	}
	s.p = skip_blanks(s.p, s.end);
	while (s.p < s.end && (*s.p == '>' || *s.p == '|'))
		s.p = skip_blanks(s.p + 1, s.end);
	kind = s.p == s.end                 ? KM_TEXT_OTHER
	       : *s.p == 'C'                ? scan_lost(s, line)
	       : *s.p == '#' || *s.p == 'c' ? scan_header(s, line)
					    : KM_TEXT_OTHER;
	if (kind == KM_TEXT_OTHER)
		kind = scan_bare(s, line);
	return line->kind = kind;
}

/* --- call sites --- */

/* "+0x47/0x50 [module]" behind a name; the size is not needed. */
static bool read_place(struct span s, struct km_text_site *site)
{
	uint64_t size;

	if (s.p < s.end && *s.p == '+') {
		s.p++;
		if (!take_0x(&s) || !take_hex(&s, &site->offset))
			return false;
		if (s.p < s.end && *s.p == '/') {
			s.p++;
			if (!take_0x(&s) || !take_hex(&s, &size))
				return false;
		}
	}
	s.p = skip_blanks(s.p, s.end);
	if (s.p < s.end && *s.p == '[') {
		const char *start = ++s.p;

		while (s.p < s.end && *s.p != ']' && !is_blank(*s.p)) /* a build id may follow the name */
			s.p++;
		site->module = (struct km_text_slice){ start, (size_t)(s.p - start) };
	}
	return true;
}

static bool read_symbol(const char *text, size_t bytes, struct km_text_site *site)
{
	struct span s = { text, text + bytes };

	while (s.p < s.end && *s.p != '+' && *s.p != '[' && !is_blank(*s.p))
		s.p++;
	site->name = (struct km_text_slice){ text, (size_t)(s.p - text) };
	site->has_symbol = site->name.bytes && read_place(s, site);
	return site->has_symbol;
}

int km_text_site_parse(const char *text, size_t bytes, struct km_text_site *ret_site)
{
	struct km_text_site site = { 0 };
	const char *end = text + bytes;

	if (bytes && *text == '(') {
		const char *close = memchr(text, ')', bytes);
		const char *key = close ? memmem(close, (size_t)(end - close), "call_site=", 10) : NULL;

		if (!key || !read_symbol(text + 1, (size_t)(close - text - 1), &site))
			return 0;
		text = key + 10;
		bytes = (size_t)(end - text);
		site.has_address = read_address((struct km_text_slice){ text, bytes }, &site.address) > 0;
	} else if (!memchr(text, '+', bytes) && read_address((struct km_text_slice){ text, bytes }, &site.address)) {
		site.has_address = true;
	} else if (!read_symbol(text, bytes, &site)) {
		return 0;
	}
	*ret_site = site;
	return 1;
}
