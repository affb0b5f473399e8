/* SPDX-License-Identifier: GPL-2.0-only */
#include "naming.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

#define KALLSYMS_BYTES_LIMIT (UINT64_C(1) << 30)

struct km_naming {
	struct km_reader *reader;
	struct km_symbols *own; /* of a file; NULL: the recording's are used */
	struct km_intern *strings;
	bool raw_ip;
};

/* /proc/kallsyms and its like tell no size: read until the end. */
static int load_file(const char *path, char **ret_text, size_t *ret_bytes, struct km_error *error)
{
	FILE *file = fopen(path, "re");
	size_t bytes = 0, room = 1 << 20;
	char *text = NULL;
	int r = -errno;

	if (!file)
		return km_error_set(error, r, "%s: %s", path, strerror(-r));
	for (;;) {
		char *larger = realloc(text, room);

		r = -ENOMEM;
		if (!larger || room > KALLSYMS_BYTES_LIMIT) {
			text = larger ? larger : text;
			km_error_set(error, r, "%s: too large for a kallsyms file", path);
			goto fail;
		}
		text = larger;
		bytes += fread(text + bytes, 1, room - bytes, file);
		if (bytes < room)
			break;
		room *= 2;
	}
	r = ferror(file) ? -errno : 0;
	if (r) {
		km_error_set(error, r, "%s: %s", path, strerror(-r));
		goto fail;
	}
	fclose(file);
	*ret_text = text;
	*ret_bytes = bytes;
	return 0;
fail:
	fclose(file);
	free(text);
	return r;
}

int km_naming_new(struct km_reader *reader, const char *kallsyms, bool raw_ip, struct km_naming **ret_naming,
		  struct km_error *error)
{
	struct km_naming *naming = calloc(1, sizeof(*naming));
	size_t bytes = 0;
	char *text = NULL;
	int r = -ENOMEM;

	if (!naming)
		return km_error_set(error, r, "out of memory");
	naming->reader = reader;
	naming->raw_ip = raw_ip;
	naming->strings = km_intern_new();
	if (!naming->strings) {
		km_error_set(error, r, "out of memory");
		goto fail;
	}
	if (kallsyms) {
		r = load_file(kallsyms, &text, &bytes, error);
		if (r)
			goto fail;
		naming->own = km_symbols_new(text, bytes, km_reader_info(reader)->page_bytes);
		if (!naming->own) {
			r = km_error_set(error, -ENOMEM, "out of memory");
			goto fail;
		}
		if (km_symbols_state(naming->own) == KM_SYMBOLS_NONE) {
			r = km_error_set(
				error, -EBADMSG,
				"%s: no text symbol in it; a copy of the recorded kernel's /proc/kallsyms is wanted",
				kallsyms);
			goto fail;
		}
	}
	*ret_naming = naming;
	return 0;
fail:
	km_naming_free(naming);
	return r;
}

void km_naming_free(struct km_naming *naming)
{
	if (!naming)
		return;
	km_symbols_free(naming->own);
	km_intern_free(naming->strings);
	free(naming);
}

struct km_symbols *km_naming_symbols(struct km_naming *naming, struct km_error *error)
{
	return naming->own ? naming->own : km_reader_symbols(naming->reader, error);
}

enum km_symbols_state km_naming_state(struct km_naming *naming)
{
	struct km_symbols *symbols = km_naming_symbols(naming, NULL);

	if (!naming->own && km_reader_info(naming->reader)->has_site_names)
		return KM_SYMBOLS_USABLE;
	return symbols ? km_symbols_state(symbols) : KM_SYMBOLS_NONE;
}

static const char *keep(struct km_naming *naming, const char *text, size_t bytes)
{
	return km_intern_get(naming->strings, km_intern_add(naming->strings, text, bytes));
}

const char *km_naming_keep(struct km_naming *naming, const char *text)
{
	return keep(naming, text, strlen(text));
}

/* 1: found, in what the recording itself names or in symbols. 0: there is only the address. */
static int find_symbol(struct km_naming *naming, uint64_t call_site, struct km_symbol *ret_symbol, bool *ret_is_made_up)
{
	struct km_symbols *symbols;

	*ret_is_made_up = km_reader_site_name(naming->reader, call_site, ret_symbol) > 0;
	if (*ret_is_made_up)
		return 1;
	symbols = km_naming_symbols(naming, NULL);
	return symbols && km_symbols_state(symbols) == KM_SYMBOLS_USABLE &&
	       km_symbols_find(symbols, call_site, ret_symbol);
}

struct km_site_name km_naming_site(struct km_naming *naming, uint64_t call_site)
{
	struct km_site_name name = { .module = "" };
	struct km_symbol symbol;
	char address[24];
	char where[160]; /* "+0x1f [module]" */
	char text[KM_INTERN_STRING_BYTES + 1];
	size_t most;
	int n;

	n = snprintf(address, sizeof(address), "0x%" PRIx64, call_site);
	name.symbol = keep(naming, address, (size_t)n);
	if (!find_symbol(naming, call_site, &symbol, &name.is_made_up)) {
		name.function = name.symbol;
		return name;
	}
	name.function = keep(naming, symbol.name, km_symbols_plain_bytes(symbol.name, symbol.name_bytes));
	if (symbol.module)
		name.module = keep(naming, symbol.module, symbol.module_bytes);
	if (naming->raw_ip && !name.is_made_up) /* such an address says nothing */
		return name;
	/* A string is kept up to a limit: the name gives way, so that two offsets of it stay two. */
	n = snprintf(where, sizeof(where), "+0x%" PRIx64 "%s%.*s%s", symbol.offset, symbol.module ? " [" : "",
		     symbol.module ? (int)(symbol.module_bytes < 128 ? symbol.module_bytes : 128) : 0,
		     symbol.module ? symbol.module : "", symbol.module ? "]" : "");
	most = KM_INTERN_STRING_BYTES - (size_t)n;
	n = snprintf(text, sizeof(text), "%.*s%s", (int)(symbol.name_bytes < most ? symbol.name_bytes : most),
		     symbol.name, where);
	name.symbol = keep(naming, text, (size_t)n);
	return name;
}
