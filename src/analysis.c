/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pipeline. Events come in batches; a batch is cut into segments where
 * something has to happen between two events: a tie is put into order once
 * it is complete, a mark or --time's end is reached. Each segment goes
 * through keys, replay and counting as a whole.
 */
#include "analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "memory_limit.h"
#include "tie_order.h"

#define BATCH_EVENTS          1024
#define LOCAL_CLOCK_WINDOW_NS 1000000
#define LATE_FREE_WINDOW_NS   100000
#define SECOND_PASS_BYTES     (UINT64_C(64) << 20) /* of the file */

struct pipeline {
	struct km_analysis *analysis;
	struct km_tie_order *order;
	uint64_t until_time; /* where counting ends; UINT64_MAX: at the end of the trace */
	uint64_t mark_time;  /* of the mark at --time's end; only if --min-age is asked for too */
	bool has_cuts;       /* a mark or the end of --time may come between two events */
	bool until_is_met;
	bool stopped; /* visit() asked for it, or stops_at_until */
	int stop_code;
	struct km_event *tie; /* an unfinished tie */
	size_t tie_count, tie_room;
	struct km_event events[BATCH_EVENTS];
	uint32_t keys[BATCH_EVENTS];
	struct km_outcome outcomes[BATCH_EVENTS];
};

uint64_t km_analysis_default_max_memory(void)
{
	const uint64_t most = UINT64_C(4) << 30;
	uint64_t share = km_memory_limit() / 4;

	return share < most ? share : most;
}

/* --- segments --- */

static int visit_events(struct pipeline *p, const struct km_event *events, const uint32_t *keys,
			const struct km_outcome *outcomes, size_t count, struct km_error *error)
{
	struct km_analysis *an = p->analysis;

	for (size_t i = 0; i < count; i++) {
		int r = 0;

		if (!km_event_is_slab(&events[i]))
			continue;
		if (an->detail && !km_aggregate_is_finished(an->aggregate))
			r = km_detail_account(an->detail, &events[i], keys[i], &outcomes[i]);
		if (r)
			return km_error_set(error, r, "out of memory");
		if (!an->options.visit)
			continue;
		r = an->options.visit(an->options.visit_context, &events[i], keys[i], &outcomes[i], error);
		if (r) {
			p->stopped = true;
			p->stop_code = r < 0 ? r : 0;
			return p->stop_code;
		}
	}
	return 0;
}

static int account_selection(struct pipeline *p, const struct km_event *events, const uint32_t *keys,
			     const struct km_outcome *outcomes, size_t count, struct km_error *error)
{
	struct km_analysis *an = p->analysis;

	if (km_aggregate_is_finished(an->aggregate))
		return 0;
	if ((an->leaks && km_leaks_account(an->leaks, an->aggregate, events, keys, outcomes, count)) ||
	    (an->timeline && km_timeline_account(an->timeline, an->aggregate, events, keys, outcomes, count)))
		return km_error_set(error, -ENOMEM, "out of memory");
	return 0;
}

/* What is in the window of --time, of any allocation. */
static int account_balance(struct pipeline *p, const struct km_event *events, const uint32_t *keys,
			   const struct km_outcome *outcomes, size_t count, struct km_error *error)
{
	struct km_analysis *an = p->analysis;

	if (!an->balance || p->until_is_met || an->selection.waits_for_from)
		return 0;
	if (km_balance_account(an->balance, an->aggregate, an->mend, an->selection.from_time, events, keys, outcomes,
			       count))
		return km_error_set(error, -ENOMEM, "out of memory");
	return 0;
}

/* keys, outcomes: of events, in the pipeline's arrays. */
static int account(struct pipeline *p, const struct km_event *events, const uint32_t *keys, struct km_outcome *outcomes,
		   size_t count, struct km_error *error)
{
	struct km_analysis *an = p->analysis;
	int r = an->sizes ? km_sizes_run(an->sizes, events, outcomes, count, error) : 0;

	if (r)
		return r;
	if (an->mend && km_mend_run(an->mend, events, outcomes, count))
		return km_error_set(error, -ENOMEM, "out of memory");
	r = km_aggregate_account(an->aggregate, events, keys, outcomes, count, error);
	if (!r)
		r = account_balance(p, events, keys, outcomes, count, error);
	if (!r)
		r = account_selection(p, events, keys, outcomes, count, error);
	if (!r && (an->options.visit || an->detail))
		r = visit_events(p, events, keys, outcomes, count, error);
	return r;
}

static int halve(struct km_analysis *an, uint64_t time, struct km_error *error)
{
	km_aggregate_halve(an->aggregate, an->replay, time);
	if (an->detail)
		km_detail_set_weight(an->detail, UINT64_C(1) << km_replay_table(an->replay)->k);
	if (!an->timeline || km_aggregate_is_finished(an->aggregate))
		return 0;
	if (km_timeline_halve(an->timeline, an->aggregate, km_replay_table(an->replay), time))
		return km_error_set(error, -ENOMEM, "out of memory");
	return 0;
}

/* Events in their final order, at most BATCH_EVENTS. */
static int run_segment(struct pipeline *p, const struct km_event *events, size_t count, struct km_error *error)
{
	struct km_analysis *an = p->analysis;
	int r = km_aggregate_keys(an->aggregate, events, count, p->keys, error);

	if (an->page_frees && !km_aggregate_is_finished(an->aggregate))
		km_page_frees_account(an->page_frees, events, count);
	for (size_t at = 0, n; !r && at < count && !p->stopped; at += n) {
		n = km_replay_run(an->replay, events + at, p->keys + at, count - at, p->outcomes + at);
		r = account(p, events + at, p->keys + at, p->outcomes + at, n, error);
		if (!r && at + n < count && !p->stopped)
			r = halve(an, events[at + n].time, error);
	}
	return r;
}

/* The moment that the report is about. */
static int finish_counting(struct km_analysis *an, struct km_error *error)
{
	struct km_leaks_context context = { .aggregate = an->aggregate,
					    .table = km_replay_table(an->replay),
					    .naming = an->naming,
					    .page_frees = an->page_frees,
					    .end_time = an->end_time,
					    .aliases = an->options.aliases,
					    .units_per_second = an->buffer->unit == KM_CLOCK_NS ? 1000000000 : 0 };
	bool is_first = !km_aggregate_is_finished(an->aggregate);
	int r = km_aggregate_finish(an->aggregate, context.table, error);

	if (!r && an->sizes && is_first)
		r = km_sizes_finish(an->sizes, context.table, an->aggregate, error);
	if (!r && an->timeline && is_first && km_timeline_finish(an->timeline, an->end_time))
		r = km_error_set(error, -ENOMEM, "out of memory");
	if (r || !an->leaks || !is_first)
		return r;
	if (an->options.on_loss == KM_ON_LOSS_TAINT)
		context.has_loss = km_replay_last_loss(an->replay, &context.loss_time);
	r = km_leaks_survey(an->leaks, &context);
	return r ? km_error_set(error, r, "out of memory") : 0;
}

/* --time's end: the selection's numbers stay as they are now. */
static int reach_until(struct pipeline *p, uint64_t time, struct km_error *error)
{
	struct km_analysis *an = p->analysis;

	if (p->until_is_met)
		return 0;
	p->until_is_met = true;
	an->end_time = time;
	if (an->options.stops_at_until)
		p->stopped = true;
	return finish_counting(an, error);
}

static int reach_mark(struct pipeline *p, const struct km_event *mark, struct km_error *error)
{
	struct km_selection *selection = &p->analysis->selection;

	if (mark->bytes_req == 0) {
		selection->from_time = mark->time;
		selection->waits_for_from = false;
		return 0;
	}
	return reach_until(p, mark->time, error);
}

/* Events in their final order, any number: cut where something happens between them. */
static int run_ordered(struct pipeline *p, const struct km_event *events, size_t count, struct km_error *error)
{
	size_t at = 0;
	int r = 0;

	while (at < count && !r && !p->stopped) {
		size_t n = 0;

		if (!p->until_is_met && events[at].time >= p->until_time) {
			r = reach_until(p, p->until_time, error);
			continue;
		}
		if (events[at].kind == KM_EVENT_MARK) {
			r = reach_mark(p, &events[at++], error);
			continue;
		}
		if (p->has_cuts) {
			while (at + n < count && n < BATCH_EVENTS && events[at + n].kind != KM_EVENT_MARK &&
			       (p->until_is_met || events[at + n].time < p->until_time))
				n++;
		} else {
			n = count - at < BATCH_EVENTS ? count - at : BATCH_EVENTS;
		}
		r = run_segment(p, events + at, n, error);
		at += n;
	}
	return r;
}

/* --- ties --- */

static int keep_tied(struct pipeline *p, const struct km_event *events, size_t count, struct km_error *error)
{
	if (p->tie_count + count > p->tie_room) {
		size_t room = p->tie_room ? p->tie_room : 256;
		struct km_event *tie;

		while (room < p->tie_count + count)
			room *= 2;
		tie = reallocarray(p->tie, room, sizeof(*tie));
		if (!tie)
			return km_error_set(error, -ENOMEM, "out of memory for %zu events of one time", room);
		p->tie = tie;
		p->tie_room = room;
	}
	memcpy(p->tie + p->tie_count, events, count * sizeof(*events));
	p->tie_count += count;
	return 0;
}

static int run_tie(struct pipeline *p, struct km_error *error)
{
	size_t count = p->tie_count;
	int r;

	p->tie_count = 0;
	if (!count)
		return 0;
	r = km_tie_order_resolve(p->order, p->analysis->replay, p->tie, count, error);
	return r ? r : run_ordered(p, p->tie, count, error);
}

static int run_batch(struct pipeline *p, size_t count, struct km_error *error)
{
	const struct km_event *events = p->events;
	bool keeps_order = p->analysis->info->keeps_order;
	size_t at = 0;
	int r = 0;

	while (at < count && !r && !p->stopped) {
		bool tied = (events[at].flags & KM_EVENT_TIED) && !keeps_order;
		size_t n = 1;

		if (p->tie_count && (!tied || events[at].time != p->tie[0].time)) {
			r = run_tie(p, error);
			continue;
		}
		if (tied) {
			while (at + n < count && (events[at + n].flags & KM_EVENT_TIED) &&
			       events[at + n].time == events[at].time)
				n++;
			r = keep_tied(p, events + at, n, error);
		} else {
			while (at + n < count && (keeps_order || !(events[at + n].flags & KM_EVENT_TIED)))
				n++;
			r = run_ordered(p, events + at, n, error);
		}
		at += n;
	}
	return r;
}

/* --- times --- */

/* As far as times go, and no further. */
static uint64_t add_times(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The clock's time of one end of --time. */
static uint64_t resolve_point(const struct km_analysis *an, const struct km_time_point *point, uint64_t last_time,
			      uint64_t open)
{
	bool ticks = an->buffer->unit != KM_CLOCK_NS;
	uint64_t value = ticks ? point->value / 1000000000 : point->value;
	uint64_t span = last_time - an->start_time;
	int64_t offset = an->info->time_offset_ns;

	switch (point->kind) {
	case KM_TIME_CLOCK: /* as `trace-cmd report` prints it, its offset added */
		if (offset > 0)
			return value > (uint64_t)offset ? value - (uint64_t)offset : 0;
		return add_times(value, -(uint64_t)offset);
	case KM_TIME_RELATIVE:
		return add_times(an->start_time, value);
	case KM_TIME_PERCENT:
		return an->start_time + (uint64_t)((unsigned __int128)span * point->value / 1000000);
	case KM_TIME_OPEN:
	case KM_TIME_MARK:
		break;
	}
	return open;
}

static int refuse_mark(const struct km_time_point *point, struct km_error *error)
{
	return km_error_set(error, -EINVAL, "--time: no trace_marker text of the trace contains \"%s\"", point->text);
}

static bool wants_range(const struct km_filter *f)
{
	return f->has_min_age || (f->has_time && (f->from.kind == KM_TIME_PERCENT || f->until.kind == KM_TIME_PERCENT));
}

/* When the mark at --time's end is met: --min-age counts to it, and has to know it from the beginning. */
static int find_mark(struct pipeline *p, size_t buffer, struct km_error *error)
{
	const struct km_filter *f = p->analysis->selection.filter;
	struct km_reader *reader = p->analysis->reader;
	int n = km_reader_start(reader, buffer, error);

	if (n < 0)
		return n;
	while ((n = km_reader_read(reader, p->events, BATCH_EVENTS, error)) > 0) {
		for (int i = 0; i < n; i++) {
			if (p->events[i].kind != KM_EVENT_MARK || p->events[i].bytes_req == 0)
				continue;
			p->mark_time = p->events[i].time;
			return 0;
		}
	}
	return n < 0 ? n : refuse_mark(&f->until, error);
}

/* Behind the first read, when time 0 is known. last_time: only if wants_range(). */
static void resolve_times(struct pipeline *p, uint64_t last_time)
{
	struct km_analysis *an = p->analysis;
	struct km_selection *selection = &an->selection;
	const struct km_filter *f = selection->filter;

	km_reader_first_time(an->reader, &an->start_time);
	p->until_time = UINT64_MAX;
	selection->from_time = 0;
	selection->until_time = UINT64_MAX;
	if (f->has_time) {
		selection->from_time = resolve_point(an, &f->from, last_time, 0);
		selection->waits_for_from = f->from.kind == KM_TIME_MARK;
		p->until_time = resolve_point(an, &f->until, last_time, UINT64_MAX);
		selection->until_time = p->until_time;
	}
	p->has_cuts = f->has_time;
	if (f->has_min_age) {
		uint64_t until = f->has_time && f->until.kind == KM_TIME_MARK ? p->mark_time : p->until_time;
		uint64_t end = until < last_time ? until : last_time;
		uint64_t youngest = end > f->min_age_ns ? end - f->min_age_ns + 1 : 0;

		if (youngest < selection->until_time)
			selection->until_time = youngest;
	}
}

/* --- running --- */

/*
 * How far two CPUs may disagree: 1 ms for the local clock, nothing for the
 * others; before 5.16 a kmem_cache_free is traced after the free, so that an
 * allocation on another CPU can overtake it.
 */
static int start_mending(struct km_analysis *an, struct km_error *error)
{
	struct km_mend_options options = { 0 };

	if (an->options.has_reorder_window) {
		options.window = options.cache_free_window = an->options.reorder_window_ns;
	} else if (an->buffer->unit == KM_CLOCK_NS && !an->info->keeps_order) {
		options.window = !strcmp(an->buffer->clock, "local") ? LOCAL_CLOCK_WINDOW_NS : 0;
		options.cache_free_window = an->info->frees_are_late ? LATE_FREE_WINDOW_NS : 0;
	}
	an->reorder_window = options.window;
	an->reorder_cache_free_window =
		options.cache_free_window > options.window ? options.cache_free_window : options.window;
	if (!an->reorder_cache_free_window)
		return 0;
	an->mend = km_mend_new(&options);
	if (!an->mend)
		return km_error_set(error, -ENOMEM, "out of memory");
	km_aggregate_use_mend(an->aggregate, an->mend);
	return 0;
}

static int start_timeline(struct km_analysis *an, struct km_error *error)
{
	struct km_timeline_options options = { .points_limit = an->options.points_limit,
					       .axis = an->selection.by.count ? KM_AXIS_GROUP : KM_AXIS_SITE,
					       .cpu_limit = an->buffer->cpu_limit,
					       .start_time = an->start_time,
					       .selection = &an->selection };

	if (!options.points_limit)
		return 0;
	an->timeline = km_timeline_new(&options);
	return an->timeline ? 0 : km_error_set(error, -ENOMEM, "out of memory");
}

static int start_counting(struct pipeline *p, uint64_t last_time, struct km_error *error)
{
	struct km_analysis *an = p->analysis;
	struct km_replay_options options = { .objects_count = an->options.objects_count,
					     .max_memory_bytes = an->options.max_memory_bytes,
					     .cpu_limit = an->buffer->cpu_limit,
					     .resets_on_loss = an->options.on_loss == KM_ON_LOSS_RESET,
					     .when_full = an->options.when_full };
	int r;

	resolve_times(p, last_time);
	if (an->options.has_sizes) {
		/* Two tables of every live object. */
		options.max_memory_bytes /= 2;
		r = km_sizes_new(KM_SIZES_FIRST, options.max_memory_bytes, &an->sizes, error);
		if (r)
			return r;
	}
	r = km_aggregate_new(&an->selection, an->buffer->cpu_limit, &an->aggregate, error);
	if (!r)
		r = km_replay_new(&options, &an->replay, error);
	if (!r && an->options.when_full == KM_WHEN_FULL_SAMPLE)
		km_aggregate_use_sample(an->aggregate);
	if (!r && an->options.on_loss == KM_ON_LOSS_KEEP)
		km_aggregate_keep_on_loss(an->aggregate);
	if (!r)
		r = start_mending(an, error);
	if (!r && an->options.slabinfo_before) {
		an->balance = km_balance_new();
		if (!an->balance)
			r = km_error_set(error, -ENOMEM, "out of memory");
	}
	if (!r && an->options.has_leaks) {
		an->leaks = km_leaks_new(an->reader, an->start_time, an->buffer->cpu_limit);
		if (!an->leaks)
			r = km_error_set(error, -ENOMEM, "out of memory");
	}
	if (!r && an->options.has_page_frees) {
		an->page_frees = km_page_frees_new(an->buffer->cpu_limit, an->reorder_cache_free_window);
		if (!an->page_frees)
			r = km_error_set(error, -ENOMEM, "out of memory");
		km_aggregate_use_page_frees(an->aggregate, an->page_frees);
	}
	return r ? r : start_timeline(an, error);
}

/* Read the buffer through. */
static int run_pass(struct pipeline *p, size_t buffer, struct km_error *error)
{
	struct km_analysis *an = p->analysis;
	const struct km_filter *f = an->selection.filter;
	uint64_t first = 0, last = 0;
	int r = 0, n;

	if (wants_range(f))
		r = km_reader_time_range(an->reader, buffer, &first, &last, error);
	if (r >= 0 && f->has_min_age && f->has_time && f->until.kind == KM_TIME_MARK)
		r = find_mark(p, buffer, error);
	if (r >= 0)
		r = km_reader_start(an->reader, buffer, error);
	if (r < 0)
		return r;
	n = km_reader_read(an->reader, p->events, BATCH_EVENTS, error);
	if (n < 0)
		return n;
	r = start_counting(p, last, error);
	while (!r && n > 0 && !p->stopped) {
		r = run_batch(p, (size_t)n, error);
		if (r || p->stopped)
			break;
		n = km_reader_read(an->reader, p->events, BATCH_EVENTS, error);
		r = n < 0 ? n : 0;
	}
	if (!r && !p->stopped)
		r = run_tie(p, error);
	if (r)
		return r;
	an->stats = km_reader_stats(an->reader);
	an->has_slab_events = false;
	for (unsigned kind = 0; kind < KM_EVENT_SLAB_KINDS; kind++)
		an->has_slab_events |= an->stats->slab_counts[kind] > 0;
	if (p->stopped && !p->until_is_met)
		return 0;
	if (f->has_time && an->selection.waits_for_from)
		return refuse_mark(&f->from, error);
	if (f->has_time && f->until.kind == KM_TIME_MARK && !p->until_is_met)
		return refuse_mark(&f->until, error);
	if (!p->until_is_met)
		an->end_time = an->stats->last_time;
	return finish_counting(an, error);
}

/* Ready for another pass; what was learnt of caches is kept. */
static void forget_pass(struct pipeline *p)
{
	struct km_analysis *an = p->analysis;

	km_caches_settle(an->caches);
	km_aggregate_free(an->aggregate);
	km_replay_free(an->replay);
	km_mend_free(an->mend);
	km_leaks_free(an->leaks);
	km_sizes_free(an->sizes);
	km_timeline_free(an->timeline);
	km_page_frees_free(an->page_frees);
	an->page_frees = NULL;
	an->timeline = NULL;
	km_balance_free(an->balance);
	an->balance = NULL;
	an->sizes = NULL;
	an->aggregate = NULL;
	an->replay = NULL;
	an->mend = NULL;
	an->leaks = NULL;
	p->until_is_met = false;
	p->stopped = false;
	p->tie_count = 0;
}

/* Read the trace once for the names of caches alone. */
static int learn_names(struct pipeline *p, size_t buffer, struct km_error *error)
{
	static const struct km_filter no_filter;
	struct km_analysis *an = p->analysis;
	struct km_selection selection = an->selection;
	struct km_analysis_options options = an->options;
	int r;

	an->selection.filter = &no_filter;
	an->selection.by.count = 0;
	an->options.visit = NULL;
	an->options.has_leaks = false;
	an->options.points_limit = 0;
	an->options.slabinfo_before = NULL;
	an->options.stops_at_until = false;
	r = run_pass(p, buffer, error);
	forget_pass(p);
	an->selection = selection;
	an->options = options;
	return r;
}

static int make_detail(struct km_analysis *an, struct km_error *error)
{
	if (!an->options.has_detail)
		return 0;
	km_detail_free(an->detail);
	an->detail = km_detail_new(an->reader, an->naming);
	return an->detail ? 0 : km_error_set(error, -ENOMEM, "out of memory");
}

/*
 * The pass, and a second one where names were learnt too late for some peak
 * and a second reading costs little: then every peak is exact.
 */
static int run_passes(struct pipeline *p, size_t buffer, struct km_error *error)
{
	struct km_analysis *an = p->analysis;
	int r = make_detail(an, error);

	if (!r)
		r = run_pass(p, buffer, error);
	if (r || an->options.visit || an->options.has_sizes || !km_aggregate_is_finished(an->aggregate) ||
	    !km_aggregate_has_inexact_peaks(an->aggregate) || km_source_bytes(an->reader->source) > SECOND_PASS_BYTES)
		return r;
	forget_pass(p);
	r = make_detail(an, error);
	return r ? r : run_pass(p, buffer, error);
}

/* Why what looks alive may not be, at any site; NULL: for no such reason. */
static const char *find_doubt(const struct km_analysis *an, bool until_is_met)
{
	static const struct {
		enum km_warning_code code;
		const char *doubt;
	} doubts[] = {
		{ KM_WARN_EVENT_KINDS_MISSING, "a kind of free event is missing in the recording" },
		{ KM_WARN_PER_TASK, "only some tasks were recorded, and others may have freed them" },
		{ KM_WARN_CPUS_LEFT_OUT, "only some CPUs were recorded, and others may have freed them" },
		{ KM_WARN_SKIPPED_EVENTS, "events could not be read, and may be its frees" },
	};

	if (an->health.live_is_doubtful && an->options.on_loss != KM_ON_LOSS_KEEP && !until_is_met)
		return "events were lost, nobody knows when, and may be its frees";
	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		for (size_t k = 0; k < an->health.warnings_count; k++) {
			if (an->health.warnings[k].code == doubts[i].code)
				return doubts[i].doubt;
		}
	}
	return NULL;
}

/*
 * Caches are asked about as events come, and this kernel's events name them
 * only at the free. What is compared with slabinfo wants those names too
 * that are told behind --time's end.
 */
static bool wants_names_first(const struct km_analysis *an)
{
	const struct km_filter *f = an->selection.filter;
	bool wants = f->cache.count > 0;

	for (unsigned i = 0; i < an->selection.by.count && an->options.points_limit; i++)
		wants |= an->selection.by.fields[i] == KM_BY_CACHE;
	wants |= an->options.slabinfo_before && f->has_time && !km_source_is_stream(an->reader->source);
	return wants && (an->info->features & KM_TRACE_FREE_NAMES) && !(an->info->features & KM_TRACE_ALLOC_NAMES);
}

static enum km_slab_era find_slab_era(const struct km_analysis *an)
{
	if (an->info->frees_are_late)
		return KM_SLAB_ERA_OLD;
	return an->info->features & KM_TRACE_ALLOC_NAMES ? KM_SLAB_ERA_6_18 : KM_SLAB_ERA_5_16;
}

/* Beside slabinfo, and what aliases and slabinfo tell of each other's machine. */
static int check_slabs(struct km_analysis *an, bool until_is_met, struct km_error *error)
{
	struct km_slab_check_input input = { .before = an->options.slabinfo_before,
					     .after = an->options.slabinfo_after,
					     .balance = an->balance,
					     .aliases = an->options.aliases,
					     .era = find_slab_era(an) };
	size_t cpus = an->stats->cpus_count;
	int r = 0;

	if (an->balance) {
		cpus = an->buffer->cpus_count > cpus ? an->buffer->cpus_count : cpus;
		input.cpus_count = an->info->cpus_count > cpus ? an->info->cpus_count : (unsigned)cpus;
		input.doubt = find_doubt(an, until_is_met);
		if (km_balance_holes_count(an->balance) ||
		    (an->health.flags[KM_START_LOST] && !an->selection.from_time))
			input.doubt = "events were lost, and may be its allocations or frees";
		r = km_balance_finish(an->balance, an->caches, an->reader);
		r = r ? km_error_set(error, r, "out of memory") : km_slab_check_make(&input, &an->slab_check, error);
	}
	if (!r)
		km_health_add_slabs(&an->health, an->balance ? &an->slab_check : NULL, an->options.aliases,
				    an->aggregate);
	return r;
}

int km_analysis_run(struct km_reader *reader, size_t buffer, const struct km_analysis_options *options,
		    struct km_analysis **ret_analysis, struct km_error *error)
{
	static const struct km_filter no_filter;
	struct km_analysis *an = calloc(1, sizeof(*an));
	struct pipeline *p = calloc(1, sizeof(*p));
	int r = -ENOMEM;

	if (!an || !p)
		goto no_memory;
	p->analysis = an;
	p->order = km_tie_order_new();
	an->reader = reader;
	an->info = km_reader_info(reader);
	an->buffer = &an->info->buffers[buffer];
	an->options = *options;
	an->caches = km_caches_new(reader);
	if (!p->order || !an->caches)
		goto no_memory;
	r = km_naming_new(reader, options->kallsyms, options->raw_ip, &an->naming, error);
	if (r)
		goto fail;
	an->selection = (struct km_selection){ .filter = options->filter ? options->filter : &no_filter,
					       .by = options->by,
					       .reader = reader,
					       .naming = an->naming,
					       .caches = an->caches,
					       .until_time = UINT64_MAX };
	if (wants_names_first(an))
		r = learn_names(p, buffer, error);
	if (r)
		goto fail;
	if (options->ret_running)
		*options->ret_running = an;
	r = run_passes(p, buffer, error);
	if (!r)
		r = km_health_init(&an->health, an->info, an->buffer, an->stats, error);
	if (r)
		goto fail;
	if (an->health.live_is_doubtful && !p->until_is_met && an->options.on_loss != KM_ON_LOSS_KEEP)
		km_aggregate_set_loss(an->aggregate);
	km_health_add_replay(&an->health, an->info, an->stats, an->replay, an->aggregate, an->caches, an->naming);
	r = check_slabs(an, p->until_is_met, error);
	if (r)
		goto fail;
	if (an->leaks && km_aggregate_is_finished(an->aggregate) &&
	    km_leaks_judge(an->leaks, find_doubt(an, p->until_is_met))) {
		r = -ENOMEM;
		goto no_memory;
	}
	km_tie_order_free(p->order);
	free(p->tie);
	free(p);
	*ret_analysis = an;
	return 0;
no_memory:
	km_error_set(error, r, "out of memory");
fail:
	if (p) {
		km_tie_order_free(p->order);
		free(p->tie);
	}
	free(p);
	km_analysis_free(an);
	return r;
}

void km_analysis_free(struct km_analysis *an)
{
	if (!an)
		return;
	km_health_release(&an->health);
	km_detail_free(an->detail);
	km_sizes_free(an->sizes);
	km_slab_check_release(&an->slab_check);
	km_balance_free(an->balance);
	km_timeline_free(an->timeline);
	km_page_frees_free(an->page_frees);
	km_leaks_free(an->leaks);
	km_aggregate_free(an->aggregate);
	km_replay_free(an->replay);
	km_mend_free(an->mend);
	km_caches_free(an->caches);
	km_naming_free(an->naming);
	free(an);
}

int km_analysis_has_slab(struct km_reader *reader, size_t buffer, struct km_error *error)
{
	struct km_event events[64];
	int r = km_reader_start(reader, buffer, error);

	while (!r) {
		int n = km_reader_read(reader, events, sizeof(events) / sizeof(events[0]), error);

		if (n <= 0)
			return n;
		for (int i = 0; i < n; i++) {
			if (km_event_is_slab(&events[i]))
				return 1;
		}
	}
	return r;
}
