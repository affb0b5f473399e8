/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One pass over the text keeps an address and a pointer into the text for
 * each text symbol; what else a line says is read again when a look-up hits
 * it. So a large kallsyms costs one array of 16 bytes a symbol.
 *
 * /proc/kallsyms has the kernel's own symbols in order of address, then those
 * of the modules, module after module, in none. Only what follows the sorted
 * start is sorted, and then merged with it.
 */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

/* Nothing is that far into a function: what claims to be is in a gap. */
#define OFFSET_LIMIT       (UINT64_C(1) << 20)
#define DEFAULT_PAGE_BYTES 4096U
/* Of a name with its module; the kernel's KSYM_NAME_LEN is 512 with room for it. A look-up reads the name again. */
#define NAME_LIMIT 1024

struct entry {
	uint64_t address;
	const char *name; /* in the text, followed by the module if there is one */
};

struct km_symbols {
	char *text;
	size_t bytes;
	uint64_t page_mask; /* the bits of an address within its page */
	int parsed;
	enum km_symbols_state state;
	struct entry *entries; /* by address, one an address, once parsed */
	size_t count;
	size_t room;
	size_t text_count; /* before those of equal address went */
	size_t junk_count;
};

const char *km_symbols_state_name(enum km_symbols_state state)
{
	static const char *const names[] = {
		[KM_SYMBOLS_NONE] = "none", [KM_SYMBOLS_ZEROED] = "zeroed", [KM_SYMBOLS_USABLE] = "usable"
	};

	return names[state];
}

struct km_symbols *km_symbols_new(char *text, size_t bytes, uint32_t page_bytes)
{
	struct km_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols) {
		free(text);
		return NULL;
	}
	if (!page_bytes || (page_bytes & (page_bytes - 1)))
		page_bytes = DEFAULT_PAGE_BYTES;
	symbols->page_mask = page_bytes - 1;
	symbols->text = text;
	symbols->bytes = text ? bytes : 0;
	return symbols;
}

void km_symbols_free(struct km_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->entries);
	free(symbols->text);
	free(symbols);
}

static inline int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The value of a hex digit, 16 or more for any other byte. */
static inline unsigned hex_digit(char c)
{
	unsigned digit = (unsigned char)c - '0';

	if (digit < 10)
		return digit;
	digit = ((unsigned char)c | 0x20U) - 'a';
	return digit < 6 ? digit + 10 : 16;
}

static inline int is_letter(char c)
{
	return ((unsigned char)c | 0x20U) - 'a' < 26;
}

/* Splits "NAME" or "NAME\t[MODULE]", which ends before `end`. Returns 0 if it is neither. */
static inline int split_name(const char *p, const char *end, struct km_symbol *ret_symbol)
{
	const char *name = p;

	while (p < end && (unsigned char)*p > ' ' && *p != 0x7f)
		p++;
	if (p == name)
		return 0;
	ret_symbol->name = name;
	ret_symbol->name_bytes = (size_t)(p - name);
	ret_symbol->module = NULL;
	ret_symbol->module_bytes = 0;
	if (p == end)
		return 1;
	while (p < end && is_blank(*p))
		p++;
	if (end - p < 3 || *p != '[' || end[-1] != ']')
		return 0;
	ret_symbol->module = p + 1;
	ret_symbol->module_bytes = (size_t)(end - p) - 2;
	for (p++; p < end - 1; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return 0;
	}
	return 1;
}

/* The end of the line that p is in, without what ends it; *ret_next is where the next one starts. */
static inline const char *line_end(const char *p, const char *end, const char **ret_next)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));

	*ret_next = newline ? newline + 1 : end;
	if (newline)
		end = newline;
	return end > p && end[-1] == '\r' ? end - 1 : end;
}

static int append(struct km_symbols *symbols, uint64_t address, const char *name)
{
	if (symbols->count == symbols->room) {
		/* at first a guess: half of the lines, some 40 bytes each */
		size_t room = symbols->room ? symbols->room * 2 : symbols->bytes / 80 + 16;
		struct entry *entries = realloc(symbols->entries, room * sizeof(*entries));

		if (!entries)
			return 0;
		symbols->entries = entries;
		symbols->room = room;
	}
	symbols->entries[symbols->count].address = address;
	symbols->entries[symbols->count++].name = name;
	return 1;
}

/* Returns 0 when out of memory. */
static inline int parse_line(struct km_symbols *symbols, const char *p, const char *end)
{
	const char *first = p;
	struct km_symbol ignored;
	uint64_t address = 0;
	unsigned digit;
	char type;

	for (; p < end && (digit = hex_digit(*p)) < 16; p++)
		address = address << 4 | digit;
	if (p == first || p - first > 16 || end - p < 3 || end - p > NAME_LIMIT || !is_blank(p[0]) ||
	    !is_letter(p[1]) || !is_blank(p[2]) || !split_name(p + 3, end, &ignored)) {
		symbols->junk_count++;
		return 1;
	}
	type = p[1];
	if (type != 't' && type != 'T' && type != 'w' && type != 'W')
		return 1;
	return append(symbols, address, p + 3);
}

/* By address; of equal ones the first in the text comes first. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

/* Merges the sorted entries[0, middle) and entries[middle, count), from the top down. */
static int merge(struct entry *entries, size_t middle, size_t count)
{
	size_t tail_count = count - middle;
	struct entry *tail = malloc(tail_count * sizeof(*tail));

	if (!tail)
		return 0;
	memcpy(tail, entries + middle, tail_count * sizeof(*tail));
	while (tail_count && middle) {
		if (compare(&entries[middle - 1], &tail[tail_count - 1]) > 0)
			entries[--count] = entries[--middle];
		else
			entries[--count] = tail[--tail_count];
	}
	memcpy(entries, tail, tail_count * sizeof(*tail));
	free(tail);
	return 1;
}

static int sort(struct km_symbols *symbols)
{
	struct entry *entries = symbols->entries;
	size_t middle = 1, kept = 1;

	while (middle < symbols->count && entries[middle - 1].address <= entries[middle].address)
		middle++;
	if (middle < symbols->count) {
		qsort(entries + middle, symbols->count - middle, sizeof(*entries), compare);
		if (entries[middle].address < entries[middle - 1].address && !merge(entries, middle, symbols->count))
			return 0;
	}
	for (size_t i = 1; i < symbols->count; i++) {
		if (entries[i].address != entries[kept - 1].address)
			entries[kept++] = entries[i];
	}
	symbols->count = kept;
	return 1;
}

/* Returns 0 when out of memory. */
static int parse_text(struct km_symbols *symbols)
{
	const char *p = symbols->text, *end = p + symbols->bytes, *next;
	uint64_t any_bit = 0;

	for (; p < end; p = next) {
		const char *stop = line_end(p, end, &next);

		if (stop > p && !parse_line(symbols, p, stop))
			return 0;
	}
	symbols->text_count = symbols->count;
	if (!symbols->count)
		return 1;
	for (size_t i = 0; i < symbols->count; i++)
		any_bit |= symbols->entries[i].address;
	if (!any_bit) {
		symbols->state = KM_SYMBOLS_ZEROED;
		return 1;
	}
	if (!sort(symbols))
		return 0;
	symbols->state = KM_SYMBOLS_USABLE;
	return 1;
}

static void parse(struct km_symbols *symbols)
{
	if (symbols->parsed)
		return;
	symbols->parsed = 1;
	if (symbols->bytes && !parse_text(symbols))
		symbols->text_count = 0;
}

enum km_symbols_state km_symbols_state(struct km_symbols *symbols)
{
	parse(symbols);
	return symbols->state;
}

size_t km_symbols_count(struct km_symbols *symbols)
{
	parse(symbols);
	return symbols->text_count;
}

size_t km_symbols_junk_count(struct km_symbols *symbols)
{
	parse(symbols);
	return symbols->junk_count;
}

/* What the line of an entry says; it was found to be good when the text was parsed. */
static void read_entry(const struct km_symbols *symbols, const struct entry *entry, struct km_symbol *ret_symbol)
{
	const char *next;

	split_name(entry->name, line_end(entry->name, symbols->text + symbols->bytes, &next), ret_symbol);
}

static int same_module(const struct km_symbols *symbols, const struct entry *a, const struct entry *b)
{
	struct km_symbol x, y;

	read_entry(symbols, a, &x);
	read_entry(symbols, b, &y);
	if (!x.module || !y.module)
		return x.module == y.module;
	return x.module_bytes == y.module_bytes && !memcmp(x.module, y.module, x.module_bytes);
}

/* The number of symbols below the address: the index of the first one that is not. */
static size_t count_below(const struct km_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether an address above entry i and below entry i + 1 is in entry i. */
static int covers(const struct km_symbols *symbols, size_t i, uint64_t address)
{
	const struct entry *entry = &symbols->entries[i];

	if (i + 1 < symbols->count && same_module(symbols, entry, entry + 1))
		return 1;
	return address <= (entry->address | symbols->page_mask);
}

int km_symbols_find(struct km_symbols *symbols, uint64_t call_site, struct km_symbol *ret_symbol)
{
	const struct entry *entry;
	struct km_symbol symbol;
	size_t i;
	int is_first_byte;

	if (km_symbols_state(symbols) != KM_SYMBOLS_USABLE)
		return 0;
	i = count_below(symbols, call_site);
	is_first_byte = i < symbols->count && symbols->entries[i].address == call_site;
	/* At a symbol's first byte, what counts is where the call before it was. */
	if (i && call_site - symbols->entries[i - 1].address <= OFFSET_LIMIT &&
	    covers(symbols, i - 1, is_first_byte ? call_site - 1 : call_site))
		entry = &symbols->entries[i - 1];
	else if (is_first_byte)
		entry = &symbols->entries[i];
	else
		return 0;
	read_entry(symbols, entry, &symbol);
	symbol.offset = call_site - entry->address;
	*ret_symbol = symbol;
	return 1;
}

static int ends_with(const char *text, size_t bytes, const char *suffix)
{
	size_t suffix_bytes = strlen(suffix);

	return bytes >= suffix_bytes && !memcmp(text + bytes - suffix_bytes, suffix, suffix_bytes);
}

/* The length of name without its last suffix; bytes if it has none. */
static size_t strip_suffix(const char *name, size_t bytes)
{
	static const char *const numbered[] = { ".isra", ".constprop", ".part", ".cold" };
	size_t end = bytes;

	if (ends_with(name, bytes, ".cold"))
		return bytes - strlen(".cold");
	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end == bytes || !end || name[end - 1] != '.')
		return bytes;
	end--;
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++) {
		if (ends_with(name, end, numbered[i]))
			return end - strlen(numbered[i]);
	}
	return bytes;
}

size_t km_symbols_plain_bytes(const char *name, size_t bytes)
{
	for (;;) {
		size_t plain = strip_suffix(name, bytes);

		if (plain == bytes || !plain) /* a name is never nothing but suffixes */
			return bytes;
		bytes = plain;
	}
}
