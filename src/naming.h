/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * naming: what a call site is called: symbol+offset [module], function,
 * module. It keeps the strings it made, so names are borrowed for as long as
 * it lives, and equal names are equal pointers.
 */
#ifndef KM_NAMING_H
#define KM_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "reader.h"

struct km_site_name {
	const char *symbol;   /* "fn.isra.0+0x1f [module]"; "0xffffffff81234567" where nothing covers it */
	const char *function; /* "fn", without what GCC appended; the address where there is none */
	const char *module;   /* "" for the kernel itself, and where it is not known */
	bool is_made_up;      /* the recording has only the name: the call site's number is no address */
};

struct km_naming;

/*
 * kallsyms: a file to use instead of the recording's own symbols, or NULL.
 * raw_ip: symbols are addresses (functions and modules stay names).
 * The reader is borrowed. Errors: reading the file, -ENOMEM.
 */
int km_naming_new(struct km_reader *reader, const char *kallsyms, bool raw_ip, struct km_naming **ret_naming,
		  struct km_error *error);
void km_naming_free(struct km_naming *naming);

struct km_site_name km_naming_site(struct km_naming *naming, uint64_t call_site);
/* The text, interned: the same pointer for the same text. "" when out of memory. */
const char *km_naming_keep(struct km_naming *naming, const char *text);
/* Of the symbols in use; parses them if nobody has yet. */
enum km_symbols_state km_naming_state(struct km_naming *naming);
/* NULL and error set if they can not be read. */
struct km_symbols *km_naming_symbols(struct km_naming *naming, struct km_error *error);

#endif
