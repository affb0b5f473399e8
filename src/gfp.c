/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The scanner finds `__print_flags(` whose first argument speaks of gfp, and
 * reads `{ expression, "NAME" }` after `{ expression, "NAME" }`. Each entry's
 * end is found first, so one that can not be read costs nothing but itself.
 *
 * Expressions are evaluated in 32 bits, whatever their casts say: gfp_t has
 * 32, and with | & ~ << a bit never depends on a higher one.
 */
#include "gfp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Parentheses, casts and ~ within each other; real tables have about 15. */
#define DEPTH_LIMIT 64
/* The first argument of __print_flags() is looked for in no more than this. */
#define ARGUMENT_BYTES 256

struct scanner {
	const char *p;
	const char *end;
	unsigned depth;
};

static int is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_word(char c)
{
	unsigned letter = ((unsigned char)c | 0x20U) - 'a';

	return letter < 26 || is_digit(c) || c == '_';
}

static void skip_space(struct scanner *s)
{
	while (s->p < s->end && is_space(*s->p))
		s->p++;
}

/* Takes the token if it is next. */
static int take(struct scanner *s, const char *token)
{
	size_t bytes = strlen(token);

	skip_space(s);
	if ((size_t)(s->end - s->p) < bytes || memcmp(s->p, token, bytes))
		return 0;
	s->p += bytes;
	return 1;
}

static int word_is(const char *word, size_t bytes, const char *text)
{
	return bytes == strlen(text) && !memcmp(word, text, bytes);
}

/* Words of a type that has all 32 bits: a cast to it changes nothing. */
static int is_type_word(const char *word, size_t bytes)
{
	static const char *const words[] = { "unsigned", "long",  "int",   "gfp_t",    "__force", "u32",
					     "u64",      "__u32", "__u64", "uint32_t", "uint64_t" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (word_is(word, bytes, words[i]))
			return 1;
	}
	return 0;
}

/* After a "(": takes "TYPE)" if that is what follows. */
static int take_type(struct scanner *s)
{
	struct scanner ahead = *s;
	unsigned words = 0;

	for (;;) {
		const char *word;

		skip_space(&ahead);
		word = ahead.p;
		while (ahead.p < ahead.end && is_word(*ahead.p))
			ahead.p++;
		if (ahead.p == word)
			break;
		if (!is_type_word(word, (size_t)(ahead.p - word)))
			return 0;
		words++;
	}
	if (!words || !take(&ahead, ")"))
		return 0;
	*s = ahead;
	return 1;
}

/* A C integer constant: decimal, octal or hexadecimal, with any of the suffixes u, l, ul, ull. */
static int read_number(struct scanner *s, uint32_t *ret_value)
{
	unsigned base = 10, digits = 0;
	uint64_t value = 0;

	if (s->p == s->end || !is_digit(*s->p))
		return 0;
	if (*s->p == '0') {
		base = 8;
		if (s->end - s->p > 1 && (s->p[1] | 0x20) == 'x') {
			base = 16;
			s->p += 2;
		}
	}
	for (; s->p < s->end; s->p++, digits++) {
		unsigned digit = (unsigned char)*s->p - '0';

		if (digit > 9)
			digit = ((unsigned char)*s->p | 0x20U) - 'a' + 10;
		if (digit >= base || (digit >= 10 && !is_word(*s->p)))
			break;
		if (value >> 60)
			return 0;
		value = value * base + digit;
	}
	while (s->p < s->end && ((*s->p | 0x20) == 'u' || (*s->p | 0x20) == 'l'))
		s->p++;
	if (!digits || (s->p < s->end && is_word(*s->p)))
		return 0;
	*ret_value = (uint32_t)value;
	return 1;
}

static int read_or(struct scanner *s, uint32_t *ret_value);

/* A number, a parenthesis, or either behind casts and ~. */
static int read_unary(struct scanner *s, uint32_t *ret_value)
{
	int done;

	if (s->depth == DEPTH_LIMIT)
		return 0;
	s->depth++;
	if (take(s, "~")) {
		done = read_unary(s, ret_value);
		if (done)
			*ret_value = ~*ret_value;
	} else if (take(s, "(")) {
		done = take_type(s) ? read_unary(s, ret_value) : read_or(s, ret_value) && take(s, ")");
	} else {
		done = read_number(s, ret_value);
	}
	s->depth--;
	return done;
}

static int read_shift(struct scanner *s, uint32_t *ret_value)
{
	uint32_t count;

	if (!read_unary(s, ret_value))
		return 0;
	while (take(s, "<<")) {
		if (!read_unary(s, &count) || count >= 64)
			return 0;
		*ret_value = (uint32_t)((uint64_t)*ret_value << count);
	}
	return 1;
}

static int read_and(struct scanner *s, uint32_t *ret_value)
{
	uint32_t right;

	if (!read_shift(s, ret_value))
		return 0;
	while (take(s, "&")) {
		if (!read_shift(s, &right))
			return 0;
		*ret_value &= right;
	}
	return 1;
}

static int read_or(struct scanner *s, uint32_t *ret_value)
{
	uint32_t right;

	if (!read_and(s, ret_value))
		return 0;
	while (take(s, "|")) {
		if (!read_and(s, &right))
			return 0;
		*ret_value |= right;
	}
	return 1;
}

/* Moves past the first `wanted` outside of strings; 0 if there is none. */
static int skip_past(struct scanner *s, char wanted)
{
	int in_string = 0;

	for (; s->p < s->end; s->p++) {
		if (in_string && *s->p == '\\' && s->end - s->p > 1)
			s->p++;
		else if (*s->p == '"')
			in_string = !in_string;
		else if (!in_string && *s->p == wanted) {
			s->p++;
			return 1;
		}
	}
	return 0;
}

/* What is between the braces of one entry. */
static void read_entry(struct scanner *s, struct km_gfp *gfp)
{
	const char *name;
	uint32_t mask;
	size_t bytes;

	if (gfp->count == KM_GFP_FLAGS_LIMIT || !read_or(s, &mask) || !take(s, ",") || !take(s, "\""))
		return;
	name = s->p;
	while (s->p < s->end && is_word(*s->p))
		s->p++;
	bytes = (size_t)(s->p - name);
	/* A mask of 0 is a flag this kernel was built without. */
	if (!mask || !bytes || bytes >= KM_GFP_NAME_BYTES || !take(s, "\""))
		return;
	skip_space(s);
	if (s->p != s->end)
		return;
	gfp->flags[gfp->count].mask = mask;
	memcpy(gfp->flags[gfp->count].name, name, bytes);
	gfp->flags[gfp->count].name[bytes] = '\0';
	gfp->count++;
}

/* From behind `__print_flags(` on; s is left where the search for a next one can go on. */
static void read_table(struct scanner *s, struct km_gfp *gfp)
{
	struct scanner argument = *s;

	if (s->end - s->p > ARGUMENT_BYTES)
		argument.end = s->p + ARGUMENT_BYTES;
	if (!skip_past(&argument, ',') || !memmem(s->p, (size_t)(argument.p - s->p), "gfp", 3))
		return;
	s->p = argument.p;
	if (!take(s, "\"|\""))
		return;
	while (take(s, ",") && take(s, "{")) {
		struct scanner entry = { .p = s->p };

		if (!skip_past(s, '}'))
			return;
		entry.end = s->p - 1;
		read_entry(&entry, gfp);
	}
}

static int is_single(uint32_t mask)
{
	return mask && !(mask & (mask - 1));
}

/* The mask of the single flag of that name, with or without "__" before it; else 0. */
static uint32_t find_single(const struct km_gfp *gfp, const char *name)
{
	const char *plain = strncmp(name, "__", 2) ? name : name + 2;

	for (size_t i = 0; i < gfp->count; i++) {
		const char *candidate = gfp->flags[i].name;

		if (!strncmp(candidate, "__", 2))
			candidate += 2;
		if (!strcmp(candidate, plain) && is_single(gfp->flags[i].mask))
			return gfp->flags[i].mask;
	}
	return 0;
}

size_t km_gfp_parse(const char *format, size_t bytes, struct km_gfp *ret_gfp)
{
	static const char start[] = "__print_flags";
	struct scanner s = { .p = format, .end = bytes ? format + bytes : format };

	memset(ret_gfp, 0, sizeof(*ret_gfp));
	while (!ret_gfp->count && s.p < s.end) {
		s.p = memmem(s.p, (size_t)(s.end - s.p), start, sizeof(start) - 1);
		if (!s.p)
			break;
		s.p += sizeof(start) - 1;
		if (take(&s, "("))
			read_table(&s, ret_gfp);
	}
	ret_gfp->account = find_single(ret_gfp, "__GFP_ACCOUNT");
	ret_gfp->reclaimable = find_single(ret_gfp, "__GFP_RECLAIMABLE");
	ret_gfp->dma = find_single(ret_gfp, "__GFP_DMA");
	ret_gfp->zero = find_single(ret_gfp, "__GFP_ZERO");
	return ret_gfp->count;
}

/* Appends text to what buffer[0, *used) holds, as far as it fits; *used counts on. */
static void append(char *buffer, size_t bytes, size_t *used, const char *text)
{
	size_t length = strlen(text);

	if (*used < bytes) {
		size_t room = bytes - *used - 1, part = length < room ? length : room;

		memcpy(buffer + *used, text, part);
		buffer[*used + part] = '\0';
	}
	*used += length;
}

size_t km_gfp_print(const struct km_gfp *gfp, uint32_t value, char *buffer, size_t bytes)
{
	size_t used = 0;
	char hex[16];

	if (!value) {
		append(buffer, bytes, &used, "none");
		return used;
	}
	for (size_t i = 0; i < gfp->count && value; i++) {
		if ((value & gfp->flags[i].mask) != gfp->flags[i].mask)
			continue;
		if (used)
			append(buffer, bytes, &used, "|");
		append(buffer, bytes, &used, gfp->flags[i].name);
		value &= ~gfp->flags[i].mask;
	}
	if (value) {
		snprintf(hex, sizeof(hex), "%s0x%" PRIx32, used ? "|" : "", value);
		append(buffer, bytes, &used, hex);
	}
	return used;
}

int km_gfp_find(const struct km_gfp *gfp, const char *name, uint32_t *ret_mask)
{
	uint32_t single;

	for (size_t i = 0; i < gfp->count; i++) {
		if (!strcmp(gfp->flags[i].name, name)) {
			*ret_mask = gfp->flags[i].mask;
			return 1;
		}
	}
	/* Kernels differ in whether a single flag is shown with "__"; people don't remember which is which. */
	single = find_single(gfp, name);
	if (!single)
		return 0;
	*ret_mask = single;
	return 1;
}
