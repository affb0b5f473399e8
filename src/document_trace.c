/* SPDX-License-Identifier: GPL-2.0-only */
/* What machines read beside the tables: trace, filters, overflow, health. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"

#define FREERS_SHOWN 20

void km_document_trace_fields(struct km_record *record, struct km_reader *reader, const struct km_buffer_info *buffer,
			      const struct km_buffer_stats *stats)
{
	const struct km_trace_info *info = km_reader_info(reader);
	bool ns = buffer->unit == KM_CLOCK_NS;
	uint64_t duration = stats->last_time - stats->first_time;
	enum km_type unit = ns ? KM_TYPE_DURATION : KM_TYPE_TICKS;

	km_record_text(record, "file", km_source_name(reader->source));
	km_record_text(record, "format", info->format);
	km_record_text(record, "kernel", info->kernel);
	km_record_text(record, "recorder", info->generator);
	km_record_text(record, "clock", buffer->clock[0] ? buffer->clock : NULL);
	km_record_flag(record, "clock_is_coherent", buffer->clock_is_coherent);
	km_record_number(record, "cpus_count", KM_TYPE_COUNT, buffer->cpus_count);
	if (!ns || !stats->has_events) {
		km_record_null(record, "start_ns", KM_TYPE_DURATION);
		km_record_null(record, "end_ns", KM_TYPE_DURATION);
		km_record_null(record, "duration_ns", KM_TYPE_DURATION);
	}
	if (stats->has_events) {
		km_record_number(record, ns ? "start_ns" : "start_ticks", unit, stats->first_time);
		km_record_number(record, ns ? "end_ns" : "end_ticks", unit, stats->last_time);
		km_record_number(record, ns ? "duration_ns" : "duration_ticks", unit, duration);
	}
	km_record_number(record, "events_count", KM_TYPE_COUNT, stats->events_count);
	km_record_text(record, "buffer", buffer->name);
	km_record_flag(record, "big_endian", info->big_endian);
	km_record_number(record, "word_bytes", KM_TYPE_COUNT, info->word_bytes);
	km_record_number(record, "page_bytes", KM_TYPE_COUNT, buffer->page_bytes);
}

/* --- filters, as they were asked for --- */

static void patterns_text(struct km_record *record, const char *name, const struct km_patterns *patterns)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream;

	if (!patterns->count)
		return;
	stream = open_memstream(&text, &bytes);
	if (!stream)
		return;
	for (size_t i = 0; i < patterns->count; i++)
		fprintf(stream, "%s%s%s", i ? "," : "", patterns->items[i].negated ? "!" : "", patterns->items[i].glob);
	fclose(stream);
	km_record_text(record, name, text);
	free(text);
}

static void ranges_text(struct km_record *record, const char *name, const struct km_ranges *ranges)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream;

	if (!ranges->count)
		return;
	stream = open_memstream(&text, &bytes);
	if (!stream)
		return;
	for (size_t i = 0; i < ranges->count; i++) {
		fprintf(stream, "%s%s%" PRId64, i ? "," : "", ranges->items[i].negated ? "!" : "",
			ranges->items[i].low);
		if (ranges->items[i].high != ranges->items[i].low)
			fprintf(stream, "-%" PRId64, ranges->items[i].high);
	}
	fclose(stream);
	km_record_text(record, name, text);
	free(text);
}

static void point_text(struct km_record *record, const char *name, const struct km_time_point *point)
{
	char text[300];

	switch (point->kind) {
	case KM_TIME_OPEN:
		km_record_null(record, name, KM_TYPE_STRING);
		return;
	case KM_TIME_CLOCK:
	case KM_TIME_RELATIVE:
		snprintf(text, sizeof(text), "%s%" PRIu64 ".%09" PRIu64, point->kind == KM_TIME_RELATIVE ? "+" : "",
			 point->value / 1000000000, point->value % 1000000000);
		break;
	case KM_TIME_PERCENT:
		snprintf(text, sizeof(text), "%g%%", (double)point->value / 10000);
		break;
	case KM_TIME_MARK:
		snprintf(text, sizeof(text), "@%s", point->text);
		break;
	}
	km_record_text(record, name, text);
}

void km_document_add_filters(struct document_state *state, const struct km_filter *f)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	patterns_text(record, "cache", &f->cache);
	patterns_text(record, "site", &f->site);
	patterns_text(record, "function", &f->function);
	patterns_text(record, "module", &f->module);
	patterns_text(record, "comm", &f->comm);
	patterns_text(record, "gfp", &f->gfp);
	ranges_text(record, "pid", &f->pid);
	ranges_text(record, "cpu", &f->cpu);
	ranges_text(record, "node", &f->node);
	if (f->has_min_age)
		km_record_number(record, "min_age_ns", KM_TYPE_DURATION, f->min_age_ns);
	if (f->min_size_bytes)
		km_record_number(record, "min_size_bytes", KM_TYPE_BYTES, f->min_size_bytes);
	if (f->has_time) {
		point_text(record, "time_from", &f->from);
		point_text(record, "time_until", &f->until);
	}
	km_record_end_row(record);
	km_document_add(state, record, "filters", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

/* --- overflow --- */

/* What the sample is of, and what was left out of it. */
static void add_sampling(struct km_record *record, const struct km_analysis *an)
{
	const struct km_sampled *sampled = km_replay_sampled(an->replay);
	unsigned k = km_replay_table(an->replay)->k;

	km_record_real(record, "rate", KM_TYPE_RATIO, ldexp(1, -(int)k));
	km_record_number(record, "halvings_count", KM_TYPE_COUNT, k);
	km_document_time(record, an->buffer, "first_halving_ns", "first_halving_ticks",
			 sampled->first_time - an->start_time, !k);
	km_record_number(record, "sampled_out_count", KM_TYPE_COUNT, sampled->out_count);
	km_record_number(record, "sampled_out_bytes", KM_TYPE_BYTES, sampled->out_bytes);
	km_record_number(record, "sampled_out_frees_count", KM_TYPE_COUNT, sampled->out_frees_count);
	km_record_number(record, "purged_count", KM_TYPE_COUNT, sampled->purged_count);
	km_record_number(record, "purged_bytes", KM_TYPE_BYTES, sampled->purged_bytes);
}

void km_document_add_overflow(struct document_state *state, const struct km_analysis *an)
{
	const struct km_overflow *overflow = km_replay_overflow(an->replay);
	const struct km_replay_hash *table = km_replay_table(an->replay);
	struct km_record *record = km_document_record(state), *episodes;
	bool samples = km_replay_when_full(an->replay) == KM_WHEN_FULL_SAMPLE;

	if (!record)
		return;
	km_record_number(record, "capacity_count", KM_TYPE_COUNT, table->capacity);
	km_record_flag(record, "fixed", table->fixed);
	km_record_number(record, "memory_bytes", KM_TYPE_BYTES, km_replay_hash_bytes(table->capacity));
	km_record_number(record, "memory_peak_bytes", KM_TYPE_BYTES, table->peak_bytes);
	km_record_text(record, "when_full", samples ? "sample" : "drop");
	if (samples)
		add_sampling(record, an);
	km_record_number(record, "peak_count", KM_TYPE_COUNT, km_replay_peak_count(an->replay));
	km_record_number(record, "overflowed_count", KM_TYPE_COUNT, overflow->count);
	km_record_number(record, "overflowed_bytes", KM_TYPE_BYTES, overflow->bytes);
	km_document_time(record, an->buffer, "first_ns", "first_ticks", overflow->first_time - an->start_time,
			 !overflow->count);
	km_record_number(record, "episodes_count", KM_TYPE_COUNT, overflow->episodes_count);
	km_document_time(record, an->buffer, "longest_episode_ns", "longest_episode_ticks", overflow->longest_time,
			 !overflow->count);
	km_record_number(record, "estimated_peak_count", KM_TYPE_COUNT, km_replay_true_peak_count(an->replay));
	km_record_number(record, "recommended_count", KM_TYPE_COUNT, km_replay_recommended_count(an->replay));
	km_record_end_row(record);
	km_document_add(state, record, "overflow", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	episodes = km_document_record(state);
	if (!episodes)
		return;
	for (uint64_t i = 0; i < overflow->episodes_count && i < KM_REPLAY_EPISODES_LIMIT; i++) {
		const struct km_overflow_episode *e = &overflow->episodes[i];

		km_document_time(episodes, an->buffer, "start_ns", "start_ticks", e->start_time - an->start_time,
				 false);
		km_document_time(episodes, an->buffer, "duration_ns", "duration_ticks", e->end_time - e->start_time,
				 false);
		km_record_number(episodes, "overflowed_count", KM_TYPE_COUNT, e->count);
		km_record_end_row(episodes);
	}
	km_document_add(state, episodes, "overflow.episodes", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

/* --- health --- */

static void lost_count(struct km_record *record, uint64_t count, enum km_lost_is is)
{
	if (is == KM_LOST_UNKNOWN)
		km_record_null(record, "lost_events_count", KM_TYPE_COUNT);
	else
		km_record_number(record, "lost_events_count", KM_TYPE_COUNT, count);
	km_record_text(record, "lost_is", km_lost_is_name(is));
}

static void add_cpus(struct document_state *state, const struct km_health *health)
{
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	for (size_t i = 0; i < health->cpus_count; i++) {
		const struct km_cpu_health *cpu = &health->cpus[i];
		const struct km_cpu_loss *loss = cpu->loss;

		km_record_number(record, "cpu", KM_TYPE_COUNT, loss->cpu);
		km_record_number(record, "events_count", KM_TYPE_COUNT, loss->events_count);
		lost_count(record, cpu->lost_count, cpu->lost_is);
		km_record_flag(record, "start_lost", loss->start_lost);
		km_record_number(record, "holes_count", KM_TYPE_COUNT, loss->holes_count);
		km_record_flag(record, "tail_lost", cpu->tail_lost);
		km_record_number(record, "marked_lost_count", KM_TYPE_COUNT, loss->stored_count);
		km_record_number(record, "uncounted_gaps_count", KM_TYPE_COUNT, loss->uncounted_gaps_count);
		if (loss->has_statistics) {
			km_record_number(record, "overrun_count", KM_TYPE_COUNT, loss->overrun_count);
			km_record_number(record, "commit_overrun_count", KM_TYPE_COUNT, loss->commit_overrun_count);
			km_record_number(record, "dropped_count", KM_TYPE_COUNT, loss->dropped_count);
		} else {
			km_record_null(record, "overrun_count", KM_TYPE_COUNT);
			km_record_null(record, "commit_overrun_count", KM_TYPE_COUNT);
			km_record_null(record, "dropped_count", KM_TYPE_COUNT);
		}
		km_record_number(record, "damaged_count", KM_TYPE_COUNT, loss->damaged_count);
		km_record_end_row(record);
	}
	km_document_add(state, record, "health.cpus", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

static int compare_freers(const void *a, const void *b)
{
	const struct km_freer *x = a, *y = b;

	if (x->unmatched_count != y->unmatched_count)
		return x->unmatched_count > y->unmatched_count ? -1 : 1;
	return x->call_site < y->call_site ? -1 : x->call_site > y->call_site;
}

struct unmatched_cache {
	const char *name;
	uint64_t count;
};

static int compare_unmatched(const void *a, const void *b)
{
	const struct unmatched_cache *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* By cache, where the free names it; numbers of names have no order of their own. */
static void add_unmatched_caches(struct document_state *state, const struct km_analysis *an)
{
	uint32_t names = km_reader_cache_count(an->reader);
	struct unmatched_cache *caches = calloc(names + 1, sizeof(*caches));
	struct km_record *record = km_document_record(state);
	size_t count = 0;

	if (!record || !caches) {
		state->failed = true;
		free(caches);
		return;
	}
	for (uint32_t cache = 1; cache <= names; cache++) {
		uint64_t n = km_aggregate_unmatched_by_cache(an->aggregate, cache);

		if (n)
			caches[count++] = (struct unmatched_cache){ km_reader_cache_name(an->reader, cache), n };
	}
	qsort(caches, count, sizeof(*caches), compare_unmatched);
	for (size_t i = 0; i < count; i++) {
		km_record_text(record, "cache", caches[i].name);
		km_record_number(record, "unmatched_frees_count", KM_TYPE_COUNT, caches[i].count);
		km_record_end_row(record);
	}
	free(caches);
	km_document_add(state, record, "health.unmatched_caches", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
}

/* Where frees came from that matched nothing. */
static void add_unmatched(struct document_state *state, const struct km_analysis *an)
{
	struct km_record *record = km_document_record(state);
	size_t count;
	const struct km_freer *freers = km_aggregate_freers(an->aggregate, &count);
	struct km_freer *sorted = calloc(count ? count : 1, sizeof(*sorted));
	bool samples = km_replay_when_full(an->replay) == KM_WHEN_FULL_SAMPLE;

	if (!record || !sorted) {
		state->failed = true;
		free(sorted);
		return;
	}
	if (count)
		memcpy(sorted, freers, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_freers);
	for (size_t i = 0; i < count && i < FREERS_SHOWN && sorted[i].unmatched_count; i++) {
		km_record_text(record, "symbol", km_naming_site(an->naming, sorted[i].call_site).symbol);
		km_record_number(record, "unmatched_frees_count", KM_TYPE_COUNT, sorted[i].unmatched_count);
		km_record_number(record, "matched_frees_count", KM_TYPE_COUNT, sorted[i].matched_count);
		km_record_number(record, "null_frees_count", KM_TYPE_COUNT, sorted[i].null_count);
		if (samples)
			km_record_number(record, "sampled_out_frees_count", KM_TYPE_COUNT, sorted[i].sampled_out_count);
		km_record_end_row(record);
	}
	free(sorted);
	km_document_add(state, record, "health.unmatched_sites", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
	add_unmatched_caches(state, an);
}

/* The whole replay, whatever is selected. */
static void add_replayed(struct document_state *state, const struct km_analysis *an)
{
	const struct km_replayed *r = km_aggregate_replayed(an->aggregate);
	struct km_record *record = km_document_record(state);

	if (!record)
		return;
	for (unsigned kind = 0; kind < KM_EVENT_SLAB_KINDS; kind++) {
		static const char *const names[KM_EVENT_SLAB_KINDS] = {
			"kmalloc_count",
			"kmalloc_node_count",
			"kmem_cache_alloc_count",
			"kmem_cache_alloc_node_count",
			"kfree_count",
			"kmem_cache_free_count",
		};

		km_record_number(record, names[kind], KM_TYPE_COUNT, an->stats->slab_counts[kind]);
	}
	km_record_number(record, "tracked_count", KM_TYPE_COUNT, r->tracked_count);
	km_record_number(record, "overflowed_count", KM_TYPE_COUNT, r->overflowed_count);
	km_record_number(record, "failed_count", KM_TYPE_COUNT, r->failed_count);
	km_record_number(record, "doubled_count", KM_TYPE_COUNT, r->doubled_count);
	km_record_number(record, "matched_frees_count", KM_TYPE_COUNT, r->matched_frees_count);
	km_record_number(record, "implied_frees_count", KM_TYPE_COUNT, r->implied_frees_count);
	km_record_number(record, "null_frees_count", KM_TYPE_COUNT, r->null_frees_count);
	km_record_number(record, "unmatched_frees_count", KM_TYPE_COUNT, r->unmatched_frees_count);
	km_record_number(record, "reordered_count", KM_TYPE_COUNT, an->mend ? km_mend_count(an->mend) : 0);
	km_record_number(record, "reset_count", KM_TYPE_COUNT, r->reset_count);
	km_record_number(record, "skipped_count", KM_TYPE_COUNT, an->stats->skipped_count);
	if (km_replay_when_full(an->replay) == KM_WHEN_FULL_SAMPLE) {
		km_record_number(record, "sampled_out_count", KM_TYPE_COUNT, r->sampled_out_count);
		km_record_number(record, "sampled_out_frees_count", KM_TYPE_COUNT, r->sampled_out_frees_count);
		km_record_number(record, "purged_count", KM_TYPE_COUNT, r->purged_count);
	}
	km_record_end_row(record);
	km_document_add(state, record, "health.replay", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
}

void km_document_add_health(struct document_state *state, const struct km_analysis *an)
{
	const struct km_health *health = &an->health;
	struct km_record *record = km_document_record(state), *flags = km_document_record(state),
			 *warnings = km_document_record(state);

	if (!record || !flags || !warnings)
		return;
	km_record_text(record, "completeness", km_completeness_name(health->completeness));
	lost_count(record, health->lost_events_count, health->lost_is);
	km_record_text(record, "symbols", km_symbols_state_name(km_naming_state(an->naming)));
	km_record_end_row(record);
	km_document_add(state, record, "health", NULL, KM_SHAPE_RECORD, KM_FOR_MACHINES);
	for (unsigned i = 0; i < KM_COMPLETENESS_KINDS; i++) {
		if (health->flags[i]) {
			km_record_text(flags, "flag", km_completeness_name((enum km_completeness)i));
			km_record_end_row(flags);
		}
	}
	km_document_add(state, flags, "health.completeness_flags", NULL, KM_SHAPE_ITEMS, KM_FOR_MACHINES);
	add_cpus(state, health);
	for (size_t i = 0; i < health->warnings_count; i++) {
		km_record_text(warnings, "code", km_warning_name(health->warnings[i].code));
		km_record_text(warnings, "text", health->warnings[i].text);
		km_record_end_row(warnings);
	}
	km_document_add(state, warnings, "health.warnings", NULL, KM_SHAPE_ROWS, KM_FOR_MACHINES);
	add_replayed(state, an);
	add_unmatched(state, an);
}
