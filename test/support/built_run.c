/* SPDX-License-Identifier: GPL-2.0-only */
#include "built_run.h"

#include <stdlib.h>
#include <string.h>

#include "analysed.h"
#include "testing.h"

#define START UINT64_C(1000000000)
#define PTR   UINT64_C(0xffff888001000000)

struct builder {
	struct tw *tw;
	uint64_t time, ptr;
};

static void alloc(struct builder *b, const struct built_site *site, uint64_t ptr)
{
	uint64_t address = tw_function(8, site->function) + (site->offset ? site->offset : 0x10);
	unsigned bytes = site->bytes ? site->bytes : 64;

	if (site->cache)
		tw_cache_alloc(b->tw, TW_TOP, 0, b->time++, 1, address, ptr, bytes, bytes, 0, -1, site->cache);
	else
		tw_kmalloc(b->tw, TW_TOP, 0, b->time++, 1, address, ptr, bytes, bytes, 0, -1);
}

static void play(struct builder *b, const struct built_site *site)
{
	for (unsigned i = 0; i < site->live + site->freed + site->untraced; i++) {
		uint64_t ptr = b->ptr;

		b->ptr += 0x10000;
		alloc(b, site, ptr);
		if (i >= site->live + site->freed) /* its free is not traced: the next object is at its address */
			b->ptr = ptr;
		else if (i >= site->live && site->cache)
			tw_cache_free(b->tw, TW_TOP, 0, b->time++, 1, tw_function(8, 40), ptr, site->cache);
		else if (i >= site->live)
			tw_kfree(b->tw, TW_TOP, 0, b->time++, 1, tw_function(8, 40), ptr);
	}
	if (site->untraced) { /* and that one is freed */
		alloc(b, site, b->ptr);
		tw_kfree(b->tw, TW_TOP, 0, b->time++, 1, tw_function(8, 40), b->ptr);
		b->ptr += 0x10000;
	}
}

static struct tw *write_trace(const struct built_trace *trace)
{
	struct builder b = { .time = START + 1, .ptr = PTR };

	b.tw = tw_new(&(struct tw_options){
		.clock = "mono", .cmdlines = "1 one\n", .uname = trace->uname, .kallsyms = trace->kallsyms });
	tw_cpustat(b.tw, TW_TOP, 0, (trace->lost > 0 ? (uint64_t)trace->lost : 0) + (trace->start_lost ? 5 : 0), 0, 0);
	if (trace->start_lost)
		tw_lost(b.tw, TW_TOP, 0, 5);
	tw_other(b.tw, TW_TOP, 0, START, 1);
	for (size_t i = 0; i < trace->sites_count; i++) {
		unsigned times = trace->times && (!trace->times_site || trace->times_site == i + 1) ? trace->times : 1;

		for (unsigned t = 0; t < times; t++)
			play(&b, &trace->sites[i]);
	}
	if (trace->lost)
		tw_lost(b.tw, TW_TOP, 0, trace->lost);
	tw_other(b.tw, TW_TOP, 0, START + (trace->duration_ns ? trace->duration_ns : 1000000000), 1);
	return b.tw;
}

struct km_run *built_run(const struct built_trace *trace)
{
	struct km_analysis_options options = { .objects_count = trace->objects };
	struct km_filter filter = { .has_time = false };
	struct km_error error = { 0 };
	struct analysed *analysed;
	struct km_run *run;

	if (trace->cache)
		ck_assert_int_eq(km_patterns_parse(&filter.cache, trace->cache, NULL), 0);
	if (trace->by)
		ck_assert_int_eq(km_by_parse(trace->by, &options.by, NULL), 0);
	analysed = analysed_try(write_trace(trace), &options, trace->time, &filter);
	ck_assert_msg(analysed->analysis, "%s", analysed->error.text);
	ck_assert_msg(!km_run_from_analysis(analysed->analysis, &run, &error), "%s", error.text);
	analysed_free(analysed);
	return run;
}

const struct km_run_row *built_row(const struct km_run *run, enum km_run_axis axis, const char *name)
{
	for (size_t i = 0; i < run->axes[axis].count; i++) {
		const struct km_run_row *row = run->axes[axis].rows[i];
		const char *names[] = { row->symbol, row->function, row->module, row->cache };

		for (size_t k = 0; k < 4; k++) {
			if (names[k] && !strcmp(names[k], name))
				return row;
		}
	}
	ck_abort_msg("no row %s", name);
	return NULL;
}
