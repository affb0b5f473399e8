/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols: names for kernel text addresses, from a kallsyms text.
 *
 * It holds the text and parses it at the first look-up, not before. It does
 * not read files and does not know KASLR: a kallsyms text belongs to one
 * boot. Format: /proc/kallsyms, `ADDRESS TYPE NAME[\t[MODULE]]` a line,
 * kernel/kallsyms.c s_show().
 *
 * Only text symbols (types t T w W) name an address, and no guess is made
 * across a gap: where the next symbol belongs to another module (or there is
 * none), a symbol reaches only to the end of its own page. A call site is a
 * return address, so one that equals a symbol's first byte belongs to the
 * function before it, whose last instruction was the call.
 */
#ifndef KM_SYMBOLS_H
#define KM_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct km_symbols;

enum km_symbols_state {
	KM_SYMBOLS_NONE,   /* no kallsyms text, or one without a text symbol */
	KM_SYMBOLS_ZEROED, /* every address is 0: recorded under kptr_restrict */
	KM_SYMBOLS_USABLE,
};

const char *km_symbols_state_name(enum km_symbols_state state); /* "none", "zeroed", "usable" */

struct km_symbol {
	const char *name; /* borrowed from the symbols, not NUL-terminated */
	size_t name_bytes;
	const char *module; /* NULL for the kernel itself; without brackets, not NUL-terminated */
	size_t module_bytes;
	uint64_t offset; /* address less the symbol's own */
};

/*
 * Takes over text (malloc'd, may be NULL with 0 bytes), also on failure.
 * page_bytes: the kernel's page size, for the rule above.
 * Returns NULL when out of memory.
 */
struct km_symbols *km_symbols_new(char *text, size_t bytes, uint32_t page_bytes);
void km_symbols_free(struct km_symbols *symbols);

/* Parses on the first call. Out of memory shows as KM_SYMBOLS_NONE. */
enum km_symbols_state km_symbols_state(struct km_symbols *symbols);
/* How many text symbols there are. */
size_t km_symbols_count(struct km_symbols *symbols);
/* Lines that are not of the format, or whose address is not a number: skipped. */
size_t km_symbols_junk_count(struct km_symbols *symbols);

/* 1: found, *ret_symbol is set. 0: no symbol covers the address, nothing is touched. */
int km_symbols_find(struct km_symbols *symbols, uint64_t call_site, struct km_symbol *ret_symbol);

/*
 * The length of `name` without what GCC appended to a copy of a function:
 * .isra.N, .constprop.N, .part.N, .cold, .cold.N, in any number and order.
 */
size_t km_symbols_plain_bytes(const char *name, size_t bytes);

#endif
