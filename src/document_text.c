/* SPDX-License-Identifier: GPL-2.0-only */
/* What people read beside the tables: the summary above them and the health below. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document_private.h"
#include "format.h"

#define LOST_CPUS_SHOWN 8 /* without --verbose */

/* Labelled lines: shape LINES of two columns. */
void km_document_line(struct km_record *record, const char *label, const char *text)
{
	km_record_text(record, "label", label);
	km_record_text(record, "text", text);
	km_record_end_row(record);
}

/* A time from the first event on, in the buffer's unit. */
const char *km_document_time_text(const struct km_buffer_info *buffer, uint64_t value, char *text)
{
	if (buffer->unit == KM_CLOCK_NS)
		return km_format_duration(text, value);
	snprintf(text, KM_FORMAT_BYTES, "%" PRIu64 " ticks", value);
	return text;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

const char *km_document_live_words(enum km_live_is is)
{
	static const char *const words[] = {
		[KM_LIVE_CONSISTENT] = "consistent: no evidence against it",
		[KM_LIVE_UPPER_BOUND] = "at most: not every free is traced",
		[KM_LIVE_AT_LEAST] = "at least: the table was full",
		[KM_LIVE_UNCERTAIN] = "uncertain: see health",
		[KM_LIVE_ESTIMATED] = "estimated from a sample",
	};

	return words[is];
}

static void trace_line(struct km_record *record, const struct km_analysis *an)
{
	const struct km_trace_info *info = an->info;
	char text[512];

	snprintf(text, sizeof(text), "%s: %s, %s, %zu CPU%s, clock %s%s%s", km_source_name(an->reader->source),
		 info->format, info->kernel ? info->kernel : "kernel not told", an->buffer->cpus_count,
		 an->buffer->cpus_count == 1 ? "" : "s", an->buffer->clock[0] ? an->buffer->clock : "not told",
		 an->buffer->name[0] ? ", buffer " : "", an->buffer->name);
	km_document_line(record, "trace", text);
}

static void events_line(struct km_record *record, const struct km_analysis *an)
{
	const struct km_replayed *r = km_aggregate_replayed(an->aggregate);
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES], d[KM_FORMAT_BYTES], text[256];

	snprintf(text, sizeof(text), "%s in %s, of them %s slab allocation%s and %s free%s",
		 km_format_count(a, an->stats->events_count),
		 km_document_time_text(an->buffer, an->stats->last_time - an->stats->first_time, b),
		 km_format_count(c, r->alloc_events_count), plural(r->alloc_events_count),
		 km_format_count(d, r->free_events_count), plural(r->free_events_count));
	km_document_line(record, "events", text);
}

static void filter_line(struct km_record *record, const struct km_analysis *an)
{
	const struct km_filter *f = an->selection.filter;

	if (km_filter_is_active(f))
		km_document_line(record, "filter", "live, peak and rows are of the selected allocations only");
}

static const char *error_text(char *text, const char *(*format)(char *, uint64_t), uint64_t value, bool is_unknown)
{
	return is_unknown ? "not known" : format(text, value);
}

static void live_lines(struct km_record *record, const struct km_analysis *an, const struct km_row *total)
{
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES], text[256];
	const struct km_sums *sums = &total->sums;
	size_t n;
	double waste = sums->total_allocated_bytes
			       ? (double)(sums->total_allocated_bytes - sums->total_requested_bytes) /
					 (double)sums->total_allocated_bytes
			       : 0;

	n = (size_t)snprintf(text, sizeof(text), "%s in %s object%s (%s", km_format_bytes(a, sums->live_bytes),
			     km_format_count(b, sums->live_count), plural(sums->live_count),
			     sums->allocs_count ? km_document_live_words(total->live_is) : "nothing is selected");
	if (total->is_estimate)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "; standard error %s in %s",
				      error_text(a, km_format_bytes, total->live_error_bytes, total->error_is_unknown),
				      error_text(b, km_format_count, total->live_error_count, total->error_is_unknown));
	snprintf(text + n, sizeof(text) - n, ")");
	km_document_line(record, "live", text);
	snprintf(text, sizeof(text), "%s%s in %s object%s, at +%s", total->is_estimate ? "some " : "",
		 km_format_bytes(a, total->level.peak_live_bytes), km_format_count(b, sums->at_peak_count),
		 plural(sums->at_peak_count),
		 km_document_time_text(an->buffer,
				       total->level.peak_live_bytes ? total->level.peak_time - an->start_time : 0, c));
	km_document_line(record, "peak", text);
	n = (size_t)snprintf(text, sizeof(text), "%s in %s allocations, %s of it waste",
			     km_format_bytes(a, sums->total_allocated_bytes),
			     km_format_count(b, sums->tracked_count + sums->overflowed_count + total->kept.out_count),
			     km_format_ratio(c, waste));
	if (sums->failed_count)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "; %s more failed",
				      km_format_count(a, sums->failed_count));
	if (sums->doubled_count)
		snprintf(text + n, sizeof(text) - n, "; %s told twice", km_format_count(a, sums->doubled_count));
	km_document_line(record, "allocated", text);
}

/* A free is charged with its allocation: with a filter only frees of the selection's objects count. */
static void frees_line(struct km_record *record, const struct km_analysis *an, const struct km_row *total)
{
	const struct km_sums *sums = &total->sums;
	const struct km_replayed *r = km_aggregate_replayed(an->aggregate);
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], text[256];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%s%s matched, %s implied", total->is_estimate ? "some " : "",
			     km_format_count(a, sums->matched_frees_count),
			     km_format_count(b, sums->implied_frees_count));
	if (!km_filter_is_active(an->selection.filter))
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s unmatched, %s of NULL",
				      km_format_count(a, r->unmatched_frees_estimate),
				      km_format_count(b, r->null_frees_count));
	if (an->mend && km_mend_count(an->mend))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "; %s pairs mended",
				      km_format_count(a, km_mend_count(an->mend)));
	if (sums->reset_count)
		snprintf(text + n, sizeof(text) - n, "; %s forgotten at a loss", km_format_count(a, sums->reset_count));
	km_document_line(record, "frees", text);
}

static void table_line(struct km_record *record, const struct km_analysis *an)
{
	const struct km_replay_hash *table = km_replay_table(an->replay);
	const struct km_overflow *overflow = km_replay_overflow(an->replay);
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES], d[KM_FORMAT_BYTES], text[320];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%s objects (%s), %s, %s at most in use",
			     km_format_count(a, table->capacity),
			     km_format_bytes(b, km_replay_hash_bytes(table->capacity)),
			     table->fixed                                  ? "fixed"
			     : table->capacity > KM_REPLAY_HASH_AUTO_START ? "enlarged to that"
									   : "enlarged as needed",
			     km_format_count(c, km_replay_peak_count(an->replay)));
	if (overflow->count)
		snprintf(text + n, sizeof(text) - n, "; OVERFLOW: %s objects (%s) not tracked in %" PRIu64 " episode%s",
			 km_format_count(c, overflow->count), km_format_bytes(d, overflow->bytes),
			 overflow->episodes_count, overflow->episodes_count == 1 ? "" : "s");
	else if (table->k)
		snprintf(text + n, sizeof(text) - n, "; SAMPLE: one of %" PRIu64 " addresses, %s objects purged",
			 UINT64_C(1) << table->k, km_format_count(c, km_replay_sampled(an->replay)->purged_count));
	km_document_line(record, "table", text);
}

static void size_line(struct km_record *record, const struct km_analysis *an)
{
	uint64_t peak = km_replay_true_peak_count(an->replay), count = km_replay_recommended_count(an->replay);
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES], c[KM_FORMAT_BYTES], text[256];

	snprintf(text, sizeof(text), "--objects %" PRIu64 " (%s) would do: at most %s live at once, %s headroom", count,
		 km_format_bytes(a, km_replay_hash_bytes(count)), km_format_count(b, peak),
		 km_format_ratio(c, peak ? (double)(count - peak) / (double)peak : 0));
	km_document_line(record, "size", text);
}

void km_document_add_summary(struct document_state *state, const struct km_analysis *an)
{
	struct km_record *record = km_document_record(state);
	struct km_row total;

	if (!record || km_aggregate_total(an->aggregate, &total)) {
		state->failed = true;
		return;
	}
	trace_line(record, an);
	events_line(record, an);
	filter_line(record, an);
	live_lines(record, an, &total);
	frees_line(record, an, &total);
	if (an->sizes)
		size_line(record, an);
	else
		table_line(record, an);
	km_row_release(&total);
	km_document_add(state, record, "summary", NULL, KM_SHAPE_LINES, KM_FOR_PEOPLE);
}

/* The selection's lifetimes, an octave a line with a bar. */
void km_document_add_lifetimes(struct document_state *state, const struct km_analysis *an)
{
	struct km_record *record = km_document_record(state), *machine = km_document_record(state);
	size_t sites = km_aggregate_rows_count(an->aggregate, KM_AXIS_SITE);
	struct km_histogram all = { 0 };
	uint64_t octaves[64] = { 0 }, most = 0;

	if (!record || !machine)
		return;
	for (size_t i = 0; i < sites; i++) {
		struct km_row row;

		if (km_aggregate_row(an->aggregate, KM_AXIS_SITE, i, true, &row)) {
			state->failed = true;
			break;
		}
		if (km_histogram_merge(&all, &row.lifetimes))
			state->failed = true;
		km_row_release(&row);
	}
	for (unsigned i = 0; i < all.length; i++) {
		uint64_t low = km_histogram_bin_low(all.first + i);
		unsigned octave = low ? 63U - (unsigned)__builtin_clzll(low) : 0;

		octaves[octave] += all.bins[i];
		if (octaves[octave] > most)
			most = octaves[octave];
	}
	for (unsigned i = 0; i < 64; i++) {
		static const char bar[] = "########################################";
		char low[KM_FORMAT_BYTES];

		if (!octaves[i])
			continue;
		km_record_text(record, "from", km_document_time_text(an->buffer, i ? UINT64_C(1) << i : 0, low));
		km_record_title(record, "from", 0);
		km_record_number(record, "count", KM_TYPE_COUNT, octaves[i]);
		km_record_title(record, "freed", 0);
		low[0] = '\0';
		km_record_text(record, "bar",
			       bar + (sizeof(bar) - 1) - (size_t)((__uint128_t)octaves[i] * (sizeof(bar) - 1) / most));
		km_record_title(record, "", 0);
		km_record_end_row(record);
	}
	km_document_add(state, record, "lifetimes", "Lifetimes of what was freed", KM_SHAPE_ROWS, KM_FOR_PEOPLE);
	km_record_number(machine, "count", KM_TYPE_COUNT, all.count);
	km_record_histogram(machine, "histogram", &all);
	km_record_end_row(machine);
	km_document_add(state, machine,
			an->buffer->unit == KM_CLOCK_NS ? "detail.lifetime_ns" : "detail.lifetime_ticks", NULL,
			KM_SHAPE_RECORD, KM_FOR_MACHINES);
	km_histogram_release(&all);
}

/* Hundreds of CPUs lose events for one reason: some lines tell it. */
static void lost_cpu_lines(struct km_record *record, const struct km_health *health, unsigned verbose)
{
	size_t left_out = 0, shown = 0;
	char more[64];

	for (size_t i = 0; i < health->cpus_count; i++) {
		const struct km_cpu_health *cpu = &health->cpus[i];
		const struct km_cpu_loss *loss = cpu->loss;
		char a[KM_FORMAT_BYTES], text[256];
		size_t n;

		if (!cpu->lost_count && !loss->uncounted_gaps_count && !cpu->tail_lost)
			continue;
		if (shown == LOST_CPUS_SHOWN && !verbose) {
			left_out++;
			continue;
		}
		shown++;
		if (cpu->lost_count)
			n = (size_t)snprintf(text, sizeof(text), "CPU %u lost %s%s events", loss->cpu,
					     cpu->lost_is == KM_LOST_EXACT ? "" : "at least ",
					     km_format_count(a, cpu->lost_count));
		else
			n = (size_t)snprintf(text, sizeof(text), "CPU %u lost an unknown number of events", loss->cpu);
		if (loss->dropped_count)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "; %s dropped, the buffer was full",
					      km_format_count(a, loss->dropped_count));
		if (loss->holes_count)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "; %" PRIu64 " hole%s", loss->holes_count,
					      loss->holes_count == 1 ? "" : "s");
		snprintf(text + n, sizeof(text) - n, "%s%s", loss->start_lost ? "; start lost" : "",
			 cpu->tail_lost ? "; tail lost" : "");
		km_document_line(record, "", text);
	}
	if (left_out) {
		snprintf(more, sizeof(more), "and %zu more CPU%s; -v lists them", left_out, left_out == 1 ? "" : "s");
		km_document_line(record, "", more);
	}
}

void km_document_add_health_text(struct document_state *state, const struct km_analysis *an, unsigned verbose)
{
	const struct km_health *health = &an->health;
	struct km_record *record = km_document_record(state);
	char text[256];
	size_t n = 0;

	if (!record)
		return;
	for (unsigned i = 0; i < KM_COMPLETENESS_KINDS; i++) {
		static const char *const words[] = { "it has holes", "its start is lost", "its tail is lost",
						     "whether anything was lost at the end is not known",
						     "nothing was lost" };

		if (health->flags[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? "; " : "", words[i]);
	}
	km_document_line(record, "recording", text);
	lost_cpu_lines(record, health, verbose);
	for (size_t i = 0; i < health->warnings_count; i++) {
		/* What every recording of such a kernel has is told once, to those who ask for more. */
		if (health->warnings[i].code == KM_WARN_UNKNOWN_OPTIONS && !verbose)
			continue;
		km_document_line(record, km_warning_name(health->warnings[i].code), health->warnings[i].text);
	}
	km_document_add(state, record, "health", "Health", KM_SHAPE_LINES, KM_FOR_PEOPLE);
}
