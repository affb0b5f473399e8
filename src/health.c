/* SPDX-License-Identifier: GPL-2.0-only */
#include "health.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

const char *km_completeness_name(enum km_completeness completeness)
{
	static const char *const names[] = { [KM_HOLES] = "holes",
					     [KM_START_LOST] = "start_lost",
					     [KM_TAIL_LOST] = "tail_lost",
					     [KM_UNKNOWN] = "unknown",
					     [KM_COMPLETE] = "complete" };

	return names[completeness];
}

const char *km_lost_is_name(enum km_lost_is is)
{
	static const char *const names[] = {
		[KM_LOST_EXACT] = "exact", [KM_LOST_AT_LEAST] = "at_least", [KM_LOST_UNKNOWN] = "unknown"
	};

	return names[is];
}

const char *km_warning_name(enum km_warning_code code)
{
	static const char *const names[] = { [KM_WARN_CUT_SHORT] = "cut_short",
					     [KM_WARN_DAMAGED] = "damaged",
					     [KM_WARN_SKIPPED_EVENTS] = "skipped_events",
					     [KM_WARN_LOST_EVENTS] = "lost_events",
					     [KM_WARN_NO_STATISTICS] = "no_statistics",
					     [KM_WARN_CLOCK_BACKWARDS] = "clock_backwards",
					     [KM_WARN_CLOCK_NOT_COHERENT] = "clock_not_coherent",
					     [KM_WARN_CLOCK_NOT_NS] = "clock_not_ns",
					     [KM_WARN_EVENT_KINDS_MISSING] = "event_kinds_missing",
					     [KM_WARN_OVERFLOW] = "overflow",
					     [KM_WARN_SAMPLED] = "sampled",
					     [KM_WARN_UNTRACED_FREES] = "untraced_frees",
					     [KM_WARN_FREED_PAGES] = "freed_pages",
					     [KM_WARN_CACHE_NAMES_AMBIGUOUS] = "cache_names_ambiguous",
					     [KM_WARN_CACHE_NAMES_MISSING] = "cache_names_missing",
					     [KM_WARN_SYMBOLS_MISSING] = "symbols_missing",
					     [KM_WARN_SYMBOLS_ZEROED] = "symbols_zeroed",
					     [KM_WARN_UNKNOWN_OPTIONS] = "unknown_options",
					     [KM_WARN_PER_TASK] = "per_task",
					     [KM_WARN_CPUS_LEFT_OUT] = "cpus_left_out",
					     [KM_WARN_CPUS_UNKNOWN] = "cpus_unknown",
					     [KM_WARN_HASHED_POINTERS] = "hashed_pointers",
					     [KM_WARN_THROTTLED] = "throttled",
					     [KM_WARN_ORDER_FORCED] = "order_forced",
					     [KM_WARN_SYMBOLS_FOREIGN] = "symbols_foreign",
					     [KM_WARN_NOTHING_SELECTED] = "nothing_selected",
					     [KM_WARN_ALIASES_UNMATCHED] = "aliases_unmatched",
					     [KM_WARN_SLABINFO_SIZES] = "slabinfo_sizes" };

	return names[code];
}

static __attribute__((format(printf, 3, 4))) void warn(struct km_health *health, enum km_warning_code code,
						       const char *format, ...)
{
	struct km_warning *warning = &health->warnings[health->warnings_count++];
	va_list arguments;

	warning->code = code;
	va_start(arguments, format);
	vsnprintf(warning->text, sizeof(warning->text), format, arguments);
	va_end(arguments);
	km_format_one_line(warning->text);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * overrun counts every event that was overwritten, also behind the last mark
 * (the tail); a mark's number only those before it. Dropped events and
 * commit overruns are neither marked nor in overrun.
 */
static void judge_cpu(struct km_cpu_health *cpu, const struct km_cpu_loss *loss)
{
	cpu->loss = loss;
	if (loss->has_statistics) {
		cpu->lost_count = larger(loss->overrun_count, loss->stored_count) + loss->commit_overrun_count +
				  loss->dropped_count;
		cpu->lost_is = loss->damaged_count || loss->is_cut ||
					       (loss->uncounted_gaps_count && loss->overrun_count <= loss->stored_count)
				       ? KM_LOST_AT_LEAST
				       : KM_LOST_EXACT;
		cpu->tail_lost = loss->overrun_count > loss->stored_count && !loss->uncounted_gaps_count;
	} else {
		cpu->lost_count = loss->stored_count;
		cpu->lost_is = loss->stored_count || loss->uncounted_gaps_count ? KM_LOST_AT_LEAST : KM_LOST_UNKNOWN;
	}
	cpu->tail_lost |= loss->is_cut;
}

static void judge_completeness(struct km_health *health, bool is_cut_short)
{
	uint64_t unknown = 0;

	health->lost_is = KM_LOST_EXACT;
	for (size_t i = 0; i < health->cpus_count; i++) {
		const struct km_cpu_health *cpu = &health->cpus[i];
		const struct km_cpu_loss *loss = cpu->loss;

		if (loss->holes_count || loss->dropped_count || loss->commit_overrun_count)
			health->flags[KM_HOLES] = true;
		if (loss->start_lost)
			health->flags[KM_START_LOST] = true;
		if (cpu->tail_lost)
			health->flags[KM_TAIL_LOST] = true;
		if (!loss->has_statistics)
			health->flags[KM_UNKNOWN] = true;
		if (loss->dropped_count || loss->commit_overrun_count || cpu->tail_lost)
			health->live_is_doubtful = true;
		if (cpu->lost_is == KM_LOST_UNKNOWN)
			unknown++;
		else
			health->lost_events_count += cpu->lost_count;
		if (cpu->lost_is != KM_LOST_EXACT)
			health->lost_is = KM_LOST_AT_LEAST;
	}
	if (is_cut_short) {
		health->flags[KM_TAIL_LOST] = true;
		health->live_is_doubtful = true;
		health->lost_is = KM_LOST_AT_LEAST;
	}
	if (unknown == health->cpus_count)
		health->lost_is = KM_LOST_UNKNOWN;
	for (health->completeness = KM_HOLES; health->completeness < KM_COMPLETE; health->completeness++) {
		if (health->flags[health->completeness])
			return;
	}
	health->flags[KM_COMPLETE] = true;
}

static void warn_of_reading(struct km_health *health, const struct km_trace_info *info,
			    const struct km_buffer_stats *stats)
{
	uint64_t damaged = 0, cut = 0;

	for (size_t i = 0; i < stats->cpus_count; i++) {
		damaged += stats->cpus[i].damaged_count;
		cut += stats->cpus[i].is_cut;
	}
	if (info->is_cut_short && !cut)
		warn(health, KM_WARN_CUT_SHORT,
		     "the file is cut short: events are missing at its end; what is there was read");
	else if (cut)
		warn(health, KM_WARN_CUT_SHORT,
		     "the file is cut short: events are missing at the end of %" PRIu64
		     " CPU%s; what is there was read",
		     cut, cut == 1 ? "" : "s");
	if (damaged)
		warn(health, KM_WARN_DAMAGED, "%" PRIu64 " damaged page%s or chunk%s left out, first %s", damaged,
		     damaged == 1 ? "" : "s", damaged == 1 ? "" : "s", stats->first_damage ? stats->first_damage : "");
	if (stats->skipped_count)
		warn(health, KM_WARN_SKIPPED_EVENTS, "%" PRIu64 " slab event%s left out, first %s",
		     stats->skipped_count, stats->skipped_count == 1 ? "" : "s",
		     stats->first_skipped ? stats->first_skipped : "");
}

static void warn_of_loss(struct km_health *health)
{
	const char *but = health->lost_is == KM_LOST_AT_LEAST ? "at least " : "";
	char number[KM_FORMAT_BYTES], what[160] = "";
	size_t n = 0;

	for (unsigned i = KM_HOLES; i <= KM_TAIL_LOST; i++) {
		static const char *const words[] = { "holes", "the start is lost", "the tail is lost" };

		if (health->flags[i])
			n += (size_t)snprintf(what + n, sizeof(what) - n, "%s%s", n ? ", " : "", words[i]);
	}
	if (!health->lost_events_count)
		snprintf(number, sizeof(number), "an unknown number of");
	else
		km_format_count(number, health->lost_events_count);
	if (n)
		warn(health, KM_WARN_LOST_EVENTS, "%s%s events were lost (%s)%s", health->lost_events_count ? but : "",
		     number, what,
		     health->completeness == KM_START_LOST
			     ? ": what was allocated before is not known"
			     : "; record with a larger buffer (trace-cmd record -b, perf record -m)");
	if (health->flags[KM_UNKNOWN])
		warn(health, KM_WARN_NO_STATISTICS,
		     "the recorder left no statistics: events may have been lost at the end without a trace");
}

static void warn_of_clock(struct km_health *health, const struct km_trace_info *info,
			  const struct km_buffer_info *buffer, const struct km_buffer_stats *stats)
{
	char number[KM_FORMAT_BYTES];

	if (stats->backwards_count)
		warn(health, KM_WARN_CLOCK_BACKWARDS,
		     "%s events are earlier than the one before them on their CPU: taken as of the same time",
		     km_format_count(number, stats->backwards_count));
	if (!buffer->clock_is_coherent && buffer->cpus_count > 1 && !info->keeps_order)
		warn(health, KM_WARN_CLOCK_NOT_COHERENT,
		     "clock %s%s%s may differ between CPUs: record with -C mono to be sure of the order",
		     buffer->clock[0] ? "\"" : "", buffer->clock[0] ? buffer->clock : "(not told by the file)",
		     buffer->clock[0] ? "\"" : "");
	if (buffer->unit != KM_CLOCK_NS)
		warn(health, KM_WARN_CLOCK_NOT_NS, "clock \"%s\" does not count ns: times are given in its ticks",
		     buffer->clock);
}

static void warn_of_kinds(struct km_health *health, const struct km_buffer_stats *stats)
{
	const uint64_t *n = stats->slab_counts;
	uint64_t kmallocs = n[KM_EVENT_KMALLOC] + n[KM_EVENT_KMALLOC_NODE];
	uint64_t cache_allocs = n[KM_EVENT_CACHE_ALLOC] + n[KM_EVENT_CACHE_ALLOC_NODE];
	const char *text = NULL;

	if (!kmallocs && !cache_allocs)
		text = "only frees: were the allocation events recorded?";
	else if (!n[KM_EVENT_KFREE] && !n[KM_EVENT_CACHE_FREE])
		text = "only allocations: were kfree and kmem_cache_free recorded?";
	else if (kmallocs && !n[KM_EVENT_KFREE])
		text = "kmalloc without any kfree: what is live of it is not known";
	else if (cache_allocs && !n[KM_EVENT_CACHE_FREE])
		text = "kmem_cache_alloc without any kmem_cache_free: what is live of it is not known";
	if (text)
		warn(health, KM_WARN_EVENT_KINDS_MISSING, "%s", text);
}

/* What was recorded, as far as it keeps allocations and frees apart. */
static void warn_of_recording(struct km_health *health, const struct km_trace_info *info,
			      const struct km_buffer_stats *stats)
{
	if (info->is_per_task)
		warn(health, KM_WARN_PER_TASK,
		     "recorded per task: what other tasks free (RCU, softirqs, kworkers) seems to live on; record all "
		     "of "
		     "them (perf record -a) for live numbers");
	if (info->leaves_out_cpus)
		warn(health, KM_WARN_CPUS_LEFT_OUT,
		     "recorded on some CPUs only: what others free seems to live on; record all of them (perf record "
		     "-a)");
	if (info->cpus_are_unknown)
		warn(health, KM_WARN_CPUS_UNKNOWN, "the events do not tell their CPU: all are shown on CPU 0");
	if (info->pointers_are_hashed)
		warn(health, KM_WARN_HASHED_POINTERS,
		     "the pointers are hashed: they pair within one boot, and are no addresses");
	if (stats->throttled_count)
		warn(health, KM_WARN_THROTTLED,
		     "the kernel paused events %" PRIu64 " time%s for being too frequent: some are missing",
		     stats->throttled_count, stats->throttled_count == 1 ? "" : "s");
	if (stats->forced_count)
		warn(health, KM_WARN_ORDER_FORCED,
		     "events had to be handed out %" PRIu64
		     " time%s before all CPUs' were in: their order may be wrong",
		     stats->forced_count, stats->forced_count == 1 ? "" : "s");
}

int km_health_init(struct km_health *health, const struct km_trace_info *info, const struct km_buffer_info *buffer,
		   const struct km_buffer_stats *stats, struct km_error *error)
{
	memset(health, 0, sizeof(*health));
	health->cpus = calloc(stats->cpus_count ? stats->cpus_count : 1, sizeof(*health->cpus));
	if (!health->cpus)
		return km_error_set(error, -ENOMEM, "out of memory");
	health->cpus_count = stats->cpus_count;
	for (size_t i = 0; i < stats->cpus_count; i++)
		judge_cpu(&health->cpus[i], &stats->cpus[i]);
	judge_completeness(health, info->is_cut_short);
	warn_of_recording(health, info, stats);
	warn_of_reading(health, info, stats);
	warn_of_loss(health);
	warn_of_clock(health, info, buffer, stats);
	if (info->unknown_options_count)
		warn(health, KM_WARN_UNKNOWN_OPTIONS, "%" PRIu64 " option%s of the file not known here, passed over",
		     info->unknown_options_count, info->unknown_options_count == 1 ? "" : "s");
	return 0;
}

static void warn_of_overflow(struct km_health *health, const struct km_replay *replay)
{
	const struct km_overflow *overflow = km_replay_overflow(replay);
	const struct km_replay_hash *table = km_replay_table(replay);
	char capacity[KM_FORMAT_BYTES], count[KM_FORMAT_BYTES];

	if (!overflow->count)
		return;
	warn(health, KM_WARN_OVERFLOW,
	     "the table of %s objects was full: %s allocations were not tracked, live numbers are at least; %s%" PRIu64
	     " would do",
	     km_format_count(capacity, table->capacity), km_format_count(count, overflow->count),
	     table->fixed ? "--objects " : "a larger --max-memory is needed, a table for ",
	     km_replay_recommended_count(replay));
}

static void warn_of_sampling(struct km_health *health, const struct km_replay *replay)
{
	const struct km_replay_hash *table = km_replay_table(replay);
	char capacity[KM_FORMAT_BYTES];

	if (!table->k)
		return;
	warn(health, KM_WARN_SAMPLED,
	     "the table of %s objects was full: live numbers, peaks, frees and lifetimes are estimated from one of "
	     "%" PRIu64 " addresses; %s%" PRIu64 " would do without",
	     km_format_count(capacity, table->capacity), UINT64_C(1) << table->k,
	     table->fixed ? "--objects " : "a larger --max-memory is needed, a table for ",
	     km_replay_recommended_count(replay));
}

/* Symbols of another boot: hardly a call site has a name. */
static void warn_of_foreign_symbols(struct km_health *health, const struct km_aggregate *aggregate,
				    struct km_naming *naming)
{
	size_t sites = km_aggregate_rows_count(aggregate, KM_AXIS_SITE), named = 0;

	for (size_t i = 0; i < sites; i++)
		named += strncmp(km_naming_site(naming, km_aggregate_site(aggregate, i)).function, "0x", 2) != 0;
	if (sites >= 8 && named < sites / 4)
		warn(health, KM_WARN_SYMBOLS_FOREIGN,
		     "the kernel symbols cover only %zu of %zu call sites: they seem to be of another boot or kernel",
		     named, sites);
}

void km_health_add_replay(struct km_health *health, const struct km_trace_info *info,
			  const struct km_buffer_stats *stats, const struct km_replay *replay,
			  const struct km_aggregate *aggregate, const struct km_caches *caches,
			  struct km_naming *naming)
{
	const struct km_replayed *replayed = km_aggregate_replayed(aggregate);
	uint64_t page_freed;
	enum km_symbols_state state = km_naming_state(naming);
	struct km_error fault = { 0 };
	char number[KM_FORMAT_BYTES];

	if (!km_aggregate_rows_count(aggregate, KM_AXIS_SITE) && replayed->alloc_events_count)
		warn(health, KM_WARN_NOTHING_SELECTED, "the filter selects none of the %s allocations",
		     km_format_count(number, replayed->alloc_events_count));
	if (state == KM_SYMBOLS_USABLE)
		warn_of_foreign_symbols(health, aggregate, naming);
	warn_of_kinds(health, stats);
	warn_of_overflow(health, replay);
	warn_of_sampling(health, replay);
	if (replayed->implied_frees_count)
		warn(health, KM_WARN_UNTRACED_FREES,
		     "%s objects were freed without an event (kfree_rcu, bulk frees or loss), known only because "
		     "their address was handed out again: live numbers of such sites are upper bounds",
		     km_format_count(number, replayed->implied_frees_count));
	page_freed = km_aggregate_page_freed_count(aggregate);
	if (page_freed)
		warn(health, KM_WARN_FREED_PAGES,
		     "%s objects that seem live are in pages that were freed since, so they were freed without an "
		     "event: "
		     "live numbers of such sites are upper bounds",
		     km_format_count(number, page_freed));
	if (km_caches_ambiguous_count(caches))
		warn(health, KM_WARN_CACHE_NAMES_AMBIGUOUS,
		     "%" PRIu64 " kinds of objects were freed to more than one cache: the first name met is shown",
		     km_caches_ambiguous_count(caches));
	if (!(info->features & (KM_TRACE_ALLOC_NAMES | KM_TRACE_FREE_NAMES)) &&
	    stats->slab_counts[KM_EVENT_CACHE_ALLOC] + stats->slab_counts[KM_EVENT_CACHE_ALLOC_NODE])
		warn(health, KM_WARN_CACHE_NAMES_MISSING,
		     "this kernel's events do not name caches (5.12 and later do): (unnamed:N) is by size");
	if (state == KM_SYMBOLS_ZEROED)
		warn(health, KM_WARN_SYMBOLS_ZEROED,
		     "the kernel symbols in the file are all zero (recorded under kptr_restrict): addresses are shown; "
		     "--kallsyms takes a copy of the recorded boot's /proc/kallsyms");
	else if (state == KM_SYMBOLS_NONE && !km_naming_symbols(naming, &fault))
		warn(health, KM_WARN_SYMBOLS_MISSING,
		     "the kernel symbols in the file can not be read (%s): addresses are shown; --kallsyms takes a "
		     "copy of "
		     "the recorded boot's /proc/kallsyms",
		     fault.text);
	else if (state == KM_SYMBOLS_NONE)
		warn(health, KM_WARN_SYMBOLS_MISSING,
		     "no kernel symbols in the file: addresses are shown; --kallsyms takes a copy of the recorded "
		     "boot's "
		     "/proc/kallsyms");
}

/* kmalloc classes have the same names on every machine. */
static void warn_of_aliases(struct km_health *health, const struct km_slab_aliases *aliases,
			    const struct km_aggregate *aggregate)
{
	size_t count = km_aggregate_rows_count(aggregate, KM_AXIS_CACHE), named = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = km_aggregate_cache(aggregate, i);

		if (strstr(name, "kmalloc-"))
			continue;
		if (km_slab_aliases_has(aliases, name))
			return;
		named++;
	}
	if (named)
		warn(health, KM_WARN_ALIASES_UNMATCHED,
		     "none of the %zu caches is in the listing of --slab-aliases, which has %zu names: it seems to be "
		     "of "
		     "another machine or boot",
		     named, km_slab_aliases_count(aliases));
}

void km_health_add_slabs(struct km_health *health, const struct km_slab_check *check,
			 const struct km_slab_aliases *aliases, const struct km_aggregate *aggregate)
{
	if (aliases)
		warn_of_aliases(health, aliases, aggregate);
	if (check && check->wrong_size_count) {
		const struct km_slab_check_row *row = &check->rows[check->wrong_size_row];

		warn(health, KM_WARN_SLABINFO_SIZES,
		     "objects of %zu caches have another size in slabinfo (%.60s: %" PRIu64 " bytes, %" PRIu64
		     " in the trace): it seems to be of another kernel, or of a boot with another slab_debug",
		     check->wrong_size_count, row->name, row->listed_object_bytes, row->trace.object_bytes);
	}
}

void km_health_release(struct km_health *health)
{
	free(health->cpus);
	memset(health, 0, sizeof(*health));
}
