/* SPDX-License-Identifier: GPL-2.0-only */
/* Judging: the factors of leaks.h from what leaks.c gathered, and the verdict with its reason. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "leaks_private.h"
#include "reclaimable.h"

/* Every threshold of a verdict, and why it is what it is. */
static const struct {
	uint64_t old_lifetimes;     /* an object is old beyond this many p99 of the lifetimes */
	uint64_t old_trace_percent; /* and beyond this share of the trace */
	uint64_t least_frees, least_old;
	double least_kept; /* old_count / (old_count + freed_old_count) */
	double least_old_share;
	uint64_t many_old;
	double least_spread;
	double least_early; /* early_share / late_share */
	double least_traced;
	double few_frees; /* known frees / births */
	uint64_t least_births;
	double least_drift; /* growth / growth_error */
	uint64_t never_freed_seconds;
	uint64_t too_short_lifetimes; /* length of the trace / p99 */
	double startup_share;
	unsigned startup_windows;
	double reclaimable_share;
	uint64_t least_twins;
	double twin_difference;
} limits = {
	/* Four times p99 is far out even on the long tails that lifetimes have, and two octaves of the histogram. */
	.old_lifetimes = 4,
	/* What was born in the last hundredth of the trace was at work when the recording stopped. */
	.old_trace_percent = 1,
	/* Of fewer the p99 is only the largest of few. */
	.least_frees = 20,
	/* Two points are no trend. */
	.least_old = 3,
	/* Where more than a quarter of the objects that got old were freed after all, the others may be too. */
	.least_kept = .75,
	/* One lifetime in a hundred is beyond p99 anyway: a smaller share may be that tail, unless it is many. */
	.least_old_share = .01,
	.many_old = 64,
	/* Known leaks have .9 to 1; process tables, files and areas of long-lived tasks on a busy machine .2 to .5. */
	.least_spread = .6,
	/* A leak loses as many of the old as of the new; sampling noise of a few objects is allowed a factor of 2. */
	.least_early = .5,
	/* A site of bulk frees had .5 to .7 where addresses met again, kfree_rcu has 0, known leaks have 1. */
	.least_traced = .9,
	/* A site that frees one in ten frees by exception. */
	.few_frees = .1,
	/* One for each second bucket at least: fewer can not grow all along. */
	.least_births = 8,
	/* Three standard errors: one in a thousand by chance, and there are hundreds of sites. */
	.least_drift = 3,
	/* Processes and name spaces, whose objects go when they end, take seconds. */
	.never_freed_seconds = 10,
	/* A trace has to show some lifetimes to their end before what lives at its own end is odd. */
	.too_short_lifetimes = 10,
	/* Nearly all from the first eighth: caches that fill, tables that are set up. */
	.startup_share = .9,
	.startup_windows = KM_LEAKS_WINDOWS / 8,
	/* Sites and caches are sometimes shared with a few other objects. */
	.reclaimable_share = .9,
	/* Below, equal counts in every window are chance. */
	.least_twins = 32,
	/* One of a pair may be younger than the end of the trace, or be freed a little later. */
	.twin_difference = .01,
};

const char *km_verdict_name(enum km_verdict verdict)
{
	static const char *const names[KM_VERDICTS] = {
		[KM_VERDICT_LEAK] = "leak",
		[KM_VERDICT_NEVER_FREED] = "never_freed",
		[KM_VERDICT_UNCERTAIN] = "uncertain",
		[KM_VERDICT_STARTUP] = "startup",
		[KM_VERDICT_UNTRACED_FREES] = "untraced_frees",
		[KM_VERDICT_RECLAIMABLE] = "reclaimable",
		[KM_VERDICT_ALLOCATOR_INTERNAL] = "allocator_internal",
		[KM_VERDICT_TOO_SHORT] = "too_short",
	};

	return names[verdict];
}

uint64_t km_leaks_old_age(uint64_t lifetime_p99, uint64_t span)
{
	uint64_t least = span / 100 * limits.old_trace_percent, age;

	if (__builtin_mul_overflow(lifetime_p99, limits.old_lifetimes, &age))
		return UINT64_MAX;
	return age > least ? age : least;
}

/* --- factors --- */

/* Normalised entropy of the old ones over the buckets of the site's life. */
static double spread_of(const struct leak_site *site)
{
	const struct survivors *s = site->survivors;
	uint64_t buckets = 0, most;
	double h = 0;

	for (unsigned i = 0; i < KM_LEAKS_BUCKETS; i++) {
		double p = s->old_count ? (double)s->old_by_life[i] / (double)s->old_count : 0;

		buckets += site->births[i] > 0;
		if (p > 0)
			h -= p * log(p);
	}
	most = s->old_count < buckets ? s->old_count : buckets;
	return most > 1 ? h / log((double)most) : 0;
}

/* Shares of survivors among the births of the first and of the last half of the births. */
static void shares_of(const struct leak_site *site, double *ret_early, double *ret_late)
{
	const struct survivors *s = site->survivors;
	uint64_t births[2] = { 0 }, live[2] = { 0 }, before = 0, count = km_leak_births_count(site);

	for (unsigned i = 0; i < KM_LEAKS_BUCKETS; i++) {
		bool is_late = before + site->births[i] / 2 >= count / 2 && before > 0;

		before += site->births[i];
		births[is_late] += site->births[i];
		live[is_late] += s->by_life[i];
	}
	*ret_early = births[0] ? (double)live[0] / (double)births[0] : 0;
	*ret_late = births[1] ? (double)live[1] / (double)births[1] : *ret_early;
}

static uint64_t in_bin(const struct km_histogram *h, unsigned bin)
{
	return bin >= h->first && bin < (unsigned)h->first + h->length ? h->bins[bin - h->first] : 0;
}

/* The product limit at the greatest age. */
static double never_freed(const struct km_histogram *lifetimes, const struct km_histogram *reuse_times,
			  const struct km_histogram *ages)
{
	double at_risk = (double)lifetimes->count + (double)reuse_times->count + (double)ages->count, share = 1;

	for (unsigned bin = 0; bin < KM_HISTOGRAM_BINS && at_risk > 0; bin++) {
		double died = (double)in_bin(lifetimes, bin) + (double)in_bin(reuse_times, bin);
		double censored = (double)in_bin(ages, bin), exposed = at_risk - censored / 2;

		if (died > 0 && exposed > 0)
			share *= died < exposed ? 1 - died / exposed : 0;
		at_risk -= died + censored;
	}
	return share;
}

/* Freed objects that were old by then; those in the bin of the age itself are not counted. */
static uint64_t freed_old(const struct km_histogram *lifetimes, const struct km_histogram *reuse_times, uint64_t age)
{
	uint64_t count = 0;

	for (unsigned bin = km_histogram_bin(age) + 1; bin < KM_HISTOGRAM_BINS; bin++)
		count += in_bin(lifetimes, bin) + in_bin(reuse_times, bin);
	return count;
}

/* The drift of live bytes over the whole trace, and its standard error. */
static void growth_of(const struct km_leaks *leaks, const struct leak_site *site, double *ret_slope, double *ret_error)
{
	uint64_t span = leaks->context.end_time - leaks->start_time;
	double width = ldexp(1, (int)site->net_shift), sum = 0, squares = 0, m, mean;
	uint64_t buckets = (span >> site->net_shift) + 1;

	/* The last bucket is cut by the end: its time counts, not its width. */
	m = (double)span / width;
	for (unsigned i = 0; i < KM_LEAKS_BUCKETS && i < buckets; i++)
		sum += (double)site->net_bytes[i];
	*ret_slope = *ret_error = 0;
	if (m < 2)
		return;
	mean = sum / m;
	for (unsigned i = 0; i < KM_LEAKS_BUCKETS && i < buckets; i++) {
		double share = i + 1 < buckets ? 1 : m - (double)i, d = (double)site->net_bytes[i] - mean * share;

		squares += d * d;
	}
	width /= leaks->context.units_per_second ? (double)leaks->context.units_per_second : 1;
	*ret_slope = mean / width;
	*ret_error = sqrt(squares / (m - 1)) / (sqrt(m) * width);
}

/* --- caches --- */

/* Births of a cache from time 0 on. */
struct cache_births {
	unsigned shift;
	uint64_t births[KM_LEAKS_BUCKETS];
};

/* What a site holds of a cache: a key, or more where they differ in something else. */
struct holding {
	const char *cache;
	uint32_t site, key;
};

static int compare_holdings(const void *x, const void *y)
{
	const struct holding *a = x, *b = y;
	int order = strcmp(a->cache, b->cache);

	if (order)
		return order;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* A key's births into the cache's, whose buckets are at least as wide. */
static void add_births(struct cache_births *cache, const struct leak_key *key)
{
	unsigned wider;

	while (cache->shift < key->shift) {
		for (unsigned i = 0; i < KM_LEAKS_BUCKETS / 2; i++)
			cache->births[i] = cache->births[2 * i] + cache->births[2 * i + 1];
		memset(cache->births + KM_LEAKS_BUCKETS / 2, 0, sizeof(cache->births) / 2);
		cache->shift++;
	}
	wider = cache->shift - key->shift; /* in a long trace by more than an index has bits */
	for (unsigned i = 0; i < KM_LEAKS_BUCKETS; i++)
		cache->births[wider < 32 ? i >> wider : 0] += key->births[i];
}

static uint64_t births_behind(const struct cache_births *cache, uint64_t origin, uint64_t time)
{
	uint64_t sum = 0;

	for (unsigned i = km_frame_bucket(origin, cache->shift, time) + 1; i < KM_LEAKS_BUCKETS; i++)
		sum += cache->births[i];
	return sum;
}

/* --- verdicts --- */

/* A site being judged. */
struct judged {
	const struct leak_site *site;
	uint64_t cache_bytes, reclaimable_bytes; /* live: of the row's cache, of reclaimable ones */
	const char *function;
	bool has_overflow, is_estimate, is_reclaimable, is_internal;
};

__attribute__((format(printf, 3, 4))) static void decide(struct km_leak *row, enum km_verdict verdict,
							 const char *format, ...)
{
	va_list arguments;

	row->verdict = verdict;
	va_start(arguments, format);
	vsnprintf(row->reason, sizeof(row->reason), format, arguments);
	va_end(arguments);
}

static uint64_t first_windows(const struct km_leak *row)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < limits.startup_windows; i++)
		sum += row->factors.windows[i];
	return sum;
}

/* The last quarter of the trace. */
static uint64_t last_windows(const struct km_leak *row)
{
	uint64_t sum = 0;

	for (unsigned i = KM_LEAKS_WINDOWS - KM_LEAKS_WINDOWS / 4; i < KM_LEAKS_WINDOWS; i++)
		sum += row->factors.windows[i];
	return sum;
}

static bool is_startup(const struct km_leak *row)
{
	return (double)first_windows(row) >= limits.startup_share * (double)row->live_count;
}

static const char *time_text(const struct km_leaks *leaks, uint64_t time, char *text)
{
	if (leaks->context.units_per_second)
		return km_format_duration(text, time);
	snprintf(text, KM_FORMAT_BYTES, "%" PRIu64 " ticks", time);
	return text;
}

static void decide_startup(struct km_leak *row)
{
	decide(row, KM_VERDICT_STARTUP, "%" PRIu64 " of %" PRIu64 " were made in the first eighth of the trace",
	       first_windows(row), row->live_count);
}

static bool is_short(const struct km_leaks *leaks, uint64_t lifetime)
{
	return (leaks->context.end_time - leaks->start_time) / limits.too_short_lifetimes < lifetime;
}

/* What it frees, it frees soon; does what it keeps look like leaked? */
static void judge_freeing(const struct km_leaks *leaks, struct km_leak *row)
{
	const struct km_leak_factors *f = &row->factors;
	char a[KM_FORMAT_BYTES], b[KM_FORMAT_BYTES];

	time_text(leaks, f->lifetime_p99, a);
	time_text(leaks, f->old_age, b);
	if (is_short(leaks, f->lifetime_p99))
		decide(row, KM_VERDICT_TOO_SHORT,
		       "99 %% of what it freed lived up to %s, and the trace is not %" PRIu64 " times as long", a,
		       limits.too_short_lifetimes);
	else if (f->old_count < limits.least_old)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "only %" PRIu64 " of %" PRIu64 " are older than %s; what it freed lived up to %s", f->old_count,
		       row->live_count, b, a);
	else if (is_startup(row))
		decide_startup(row);
	else if ((double)f->old_count < limits.least_kept * (double)(f->old_count + f->freed_old_count))
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%" PRIu64 " are older than %s, but %" PRIu64 " as old as that were freed in the end",
		       f->old_count, b, f->freed_old_count);
	else if (f->old_count < limits.many_old &&
		 (double)f->old_count < limits.least_old_share * (double)f->tracked_count)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%" PRIu64 " old ones of %" PRIu64 ": the tail of its lifetimes, up to %s", f->old_count,
		       f->tracked_count, a);
	else if (f->spread < limits.least_spread)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%" PRIu64 " old ones, but born close together (spread %.0f %%): held, or set up once",
		       f->old_count, f->spread * 100);
	else if (f->early_share < limits.least_early * f->late_share)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%.3g %% of its older half lives, but %.3g %% of the newer: they are freed late",
		       f->early_share * 100, f->late_share * 100);
	else
		decide(row, KM_VERDICT_LEAK,
		       "%" PRIu64 " are older than %s and born all along its life, while 99 %% of the %" PRIu64
		       " freed lived up to %s",
		       f->old_count, b, f->lifetimes_count, a);
}

/* Nothing to compare it with but the cache and the rest of the trace. */
static void judge_never_freed(const struct km_leaks *leaks, struct km_leak *row)
{
	const struct km_leak_factors *f = &row->factors;

	if (f->tracked_count < limits.least_births)
		decide(row, KM_VERDICT_UNCERTAIN, "only %" PRIu64 " allocation%s", f->tracked_count,
		       f->tracked_count == 1 ? "" : "s");
	else if (f->has_cache_traced_share && f->cache_traced_share < limits.least_traced)
		decide(row, KM_VERDICT_UNTRACED_FREES,
		       "no free of it was seen, but of %s only %.0f %% of the frees have an event", row->cache,
		       f->cache_traced_share * 100);
	else if (!leaks->context.units_per_second)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%" PRIu64 " of %" PRIu64 " freed, but the clock does not tell how long the trace is",
		       f->matched_frees_count, f->tracked_count);
	else if ((leaks->context.end_time - leaks->start_time) / limits.never_freed_seconds <
		 leaks->context.units_per_second)
		decide(row, KM_VERDICT_TOO_SHORT,
		       "%" PRIu64 " of %" PRIu64 " freed, in a trace shorter than %" PRIu64 "s", f->matched_frees_count,
		       f->tracked_count, limits.never_freed_seconds);
	else if (is_startup(row))
		decide_startup(row);
	else if (f->growth < limits.least_drift * f->growth_error || f->growth <= 0)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%" PRIu64 " of %" PRIu64 " freed, but born at few times (growth %.1f x its error): set up "
		       "once, or freed without an event, "
		       "of which %" PRIu64 " later allocations from its cache show nothing",
		       f->matched_frees_count, f->tracked_count, f->growth_error > 0 ? f->growth / f->growth_error : 0,
		       f->chances_count);
	else if (!last_windows(row))
		decide(row, KM_VERDICT_UNCERTAIN,
		       "%" PRIu64 " of %" PRIu64 " freed, but none that lives was made in the last quarter of the "
		       "trace: it does not grow any more",
		       f->matched_frees_count, f->tracked_count);
	else
		decide(row, KM_VERDICT_NEVER_FREED,
		       "%" PRIu64 " of %" PRIu64
		       " freed, and it grows all along: leaked, or freed late or without an event",
		       f->matched_frees_count, f->tracked_count);
}

static bool is_hardly_freed(const struct km_leak_factors *f)
{
	uint64_t known = f->matched_frees_count + f->implied_frees_count + f->page_freed_count;

	return (double)known <= limits.few_frees * (double)f->tracked_count;
}

static void decide_untraced(struct km_leak *row)
{
	const struct km_leak_factors *f = &row->factors;
	uint64_t untraced = f->implied_frees_count + f->page_freed_count;

	if (f->page_freed_count)
		decide(row, KM_VERDICT_UNTRACED_FREES,
		       "%" PRIu64 " of its %" PRIu64 " known frees had no event, and of %" PRIu64
		       " that seem live the page was freed since",
		       untraced, untraced + f->matched_frees_count, f->page_freed_count);
	else
		decide(row, KM_VERDICT_UNTRACED_FREES,
		       "%" PRIu64 " of its %" PRIu64 " known frees had no event: what lives may be freed too", untraced,
		       untraced + f->matched_frees_count);
}

static void judge(const struct km_leaks *leaks, const struct judged *judged, const char *doubt, struct km_leak *row)
{
	const struct km_leak_factors *f = &row->factors;

	if (judged->is_internal)
		decide(row, KM_VERDICT_ALLOCATOR_INTERNAL, "%s works for the slab allocator or for the tracer",
		       judged->function);
	else if (judged->is_reclaimable)
		decide(row, KM_VERDICT_RECLAIMABLE, "the kernel frees objects of %s when it needs memory", row->cache);
	else if (row->twin)
		decide(row, KM_VERDICT_RECLAIMABLE, "one for each object of %s, window by window: they go together",
		       row->twin);
	else if (judged->is_estimate)
		decide(row, KM_VERDICT_UNCERTAIN, "the table was full: only a sample of its objects was tracked");
	else if (judged->has_overflow)
		decide(row, KM_VERDICT_UNCERTAIN, "the table was full: some of its objects were not tracked");
	else if (doubt)
		decide(row, KM_VERDICT_UNCERTAIN, "%s", doubt);
	else if (f->has_traced_share && f->traced_share < limits.least_traced)
		decide_untraced(row);
	else if (f->before_loss_count == row->live_count)
		decide(row, KM_VERDICT_UNCERTAIN,
		       "events were lost while all of them lived: their frees may be among them");
	else if (is_hardly_freed(f))
		judge_never_freed(leaks, row);
	else if (f->lifetimes_count < limits.least_frees)
		decide(row, KM_VERDICT_UNCERTAIN, "only %" PRIu64 " frees to compare with", f->lifetimes_count);
	else
		judge_freeing(leaks, row);
}

/* --- twins --- */

struct twin {
	const char *name;
	uint64_t tracked_count;
	uint64_t windows[KM_LEAKS_WINDOWS];
};

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether as many were born, and what survived agrees window by window. */
static bool are_twins(const struct km_leak *row, const struct twin *twin)
{
	uint64_t difference = 0, tracked = row->factors.tracked_count;

	if ((double)distance(tracked, twin->tracked_count) > limits.twin_difference * (double)tracked)
		return false;

	for (unsigned i = 0; i < KM_LEAKS_WINDOWS; i++)
		difference += distance(row->factors.windows[i], twin->windows[i]);
	return (double)difference <= limits.twin_difference * (double)row->live_count;
}

static void add_twin(struct twin *twin, const struct km_leak *row)
{
	twin->tracked_count += row->factors.tracked_count;
	for (unsigned w = 0; w < KM_LEAKS_WINDOWS; w++)
		twin->windows[w] += row->factors.windows[w];
}

/* What rows may be twins of: each reclaimable row, and all inodes, if they are mostly reclaimable ones. */
static size_t list_twins(struct km_leaks *leaks, const struct judged *judged, struct twin *twins)
{
	struct twin inodes = { .name = "all inode caches" };
	uint64_t inodes_count = 0, reclaimable_count = 0;
	size_t count = 0;

	for (size_t i = 0; i < leaks->rows_count; i++) {
		const struct km_leak *row = &leaks->rows[i];

		if (judged[i].is_reclaimable) {
			twins[count] = (struct twin){ .name = judged[i].function };
			add_twin(&twins[count++], row);
		}
		if (km_reclaimable_is_inode_cache(row->cache)) {
			add_twin(&inodes, row);
			inodes_count += row->live_count;
			reclaimable_count += judged[i].is_reclaimable ? row->live_count : 0;
		}
	}
	inodes.tracked_count = leaks->inode_births_count;
	if ((double)reclaimable_count >= limits.reclaimable_share * (double)inodes_count)
		twins[count++] = inodes;
	return count;
}

static int find_twins(struct km_leaks *leaks, const struct judged *judged)
{
	struct twin *twins = calloc(leaks->rows_count + 1, sizeof(*twins));
	size_t count;

	if (!twins)
		return -ENOMEM;
	count = list_twins(leaks, judged, twins);
	for (size_t i = 0; i < leaks->rows_count; i++) {
		struct km_leak *row = &leaks->rows[i];

		if (judged[i].is_reclaimable || row->live_count < limits.least_twins)
			continue;
		for (size_t k = 0; k < count && !row->twin; k++) {
			if (are_twins(row, &twins[k]))
				row->twin = twins[k].name;
		}
	}
	free(twins);
	return 0;
}

/* --- rows --- */

/* "0-1,4" */
static void list_cpus(const struct km_leaks *leaks, const uint64_t *bits, char *text, size_t bytes)
{
	unsigned limit = leaks->cpu_words * 64;
	size_t n = 0;

	text[0] = '\0';
	for (unsigned cpu = 0; cpu < limit; cpu++) {
		unsigned last = cpu;
		char item[32];
		size_t length;

		if (!(bits[cpu / 64] >> (cpu % 64) & 1))
			continue;
		while (last + 1 < limit && bits[(last + 1) / 64] >> ((last + 1) % 64) & 1)
			last++;
		if (last > cpu)
			snprintf(item, sizeof(item), "%s%u-%u", n ? "," : "", cpu, last);
		else
			snprintf(item, sizeof(item), "%s%u", n ? "," : "", cpu);
		length = strlen(item);
		if (n + length + 5 > bytes) {
			memcpy(text + n, ",...", 5);
			return;
		}
		memcpy(text + n, item, length + 1);
		n += length;
		cpu = last;
	}
}

static void fill_factors(struct km_leaks *leaks, const struct leak_site *site, const struct km_row *r,
			 struct km_leak_factors *f)
{
	const struct survivors *s = site->survivors;
	uint64_t known = r->sums.matched_frees_count + r->sums.implied_frees_count + s->page_freed_count;

	f->tracked_count = r->sums.tracked_count;
	f->matched_frees_count = r->sums.matched_frees_count;
	f->implied_frees_count = r->sums.implied_frees_count;
	f->page_freed_count = s->page_freed_count;
	f->lifetimes_count = r->lifetimes.count;
	f->lifetime_p99 = r->lifetimes.count ? km_histogram_quantile(&r->lifetimes, 0.99) : 0;
	f->old_age = site->old_age;
	f->old_count = s->old_count;
	f->old_bytes = s->old_bytes;
	f->before_loss_count = s->before_loss_count;
	f->has_traced_share = known > 0;
	f->traced_share = known ? (double)r->sums.matched_frees_count / (double)known : 0;
	f->spread = spread_of(site);
	shares_of(site, &f->early_share, &f->late_share);
	f->never_freed_share = never_freed(&r->lifetimes, &site->reuse_times, &s->ages);
	f->freed_old_count = freed_old(&r->lifetimes, &site->reuse_times, site->old_age);
	growth_of(leaks, site, &f->growth, &f->growth_error);
	f->score = (double)s->old_bytes * f->spread * (known ? f->traced_share : 1);
	memcpy(f->windows, s->windows, sizeof(f->windows));
}

static int fill_row(struct km_leaks *leaks, uint32_t index, struct km_leak *row, struct judged *judged)
{
	const struct leak_site *site = &leaks->sites[index];
	const struct survivors *s = site->survivors;
	uint64_t end = leaks->context.end_time;
	struct km_row r;

	if (km_aggregate_row(leaks->context.aggregate, KM_AXIS_SITE, index, true, &r))
		return -ENOMEM;
	row->site_index = index;
	row->call_site = km_aggregate_site(leaks->context.aggregate, index);
	row->cache = "";
	row->live_count = s->count;
	row->live_bytes = s->bytes;
	row->age_min = end > s->newest ? end - s->newest : 0;
	row->age_max = end > s->oldest ? end - s->oldest : 0;
	row->age_mean = (uint64_t)((((unsigned __int128)s->age_sum_high << 64) | s->age_sum_low) / s->count);
	row->pid_min = s->pid_min;
	row->pid_max = s->pid_max;
	list_cpus(leaks, s->cpus, row->cpus, sizeof(row->cpus));
	fill_factors(leaks, site, &r, &row->factors);
	judged->site = site;
	judged->has_overflow = r.sums.overflowed_count > 0;
	judged->is_estimate = r.is_estimate;
	judged->function = km_naming_site(leaks->context.naming, row->call_site).function;
	judged->is_internal = km_allocator_internal_function(judged->function);
	km_row_release(&r);
	return 0;
}

static int make_rows(struct km_leaks *leaks, struct judged **ret_judged, uint32_t **ret_row_of)
{
	uint32_t *row_of = calloc((size_t)leaks->sites_room + 1, sizeof(*row_of));
	struct judged *judged;
	size_t count = 0;

	for (uint32_t i = 0; i < leaks->sites_room; i++)
		count += leaks->sites[i].survivors != NULL;
	judged = calloc(count + 1, sizeof(*judged));
	leaks->rows = calloc(count + 1, sizeof(*leaks->rows));
	*ret_judged = judged;
	*ret_row_of = row_of;
	if (!row_of || !judged || !leaks->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < leaks->sites_room; i++) {
		if (!leaks->sites[i].survivors)
			continue;
		row_of[i] = (uint32_t)leaks->rows_count;
		if (fill_row(leaks, i, &leaks->rows[leaks->rows_count], &judged[leaks->rows_count]))
			return -ENOMEM;
		leaks->rows_count++;
	}
	return 0;
}

/* A cache's holdings, [0, count), by site: which of the sites it is the main cache of. */
static void settle_cache(struct km_leaks *leaks, const struct holding *holdings, size_t count, const uint32_t *row_of,
			 struct judged *judged)
{
	struct cache_births births = { 0 };
	bool is_reclaimable = km_reclaimable_cache(holdings[0].cache, leaks->context.aliases);
	bool is_unnamed = !strncmp(holdings[0].cache, "(unnamed:", 9);
	uint64_t matched = 0, known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct leak_key *key = &leaks->keys[holdings[i].key];

		add_births(&births, key);
		matched += key->matched_count;
		known += key->matched_count + key->implied_count;
	}
	for (unsigned i = 0; i < KM_LEAKS_BUCKETS && km_reclaimable_is_inode_cache(holdings[0].cache); i++)
		leaks->inode_births_count += births.births[i];
	for (size_t i = 0; i < count;) {
		const struct leak_site *site = &leaks->sites[holdings[i].site];
		struct judged *j = &judged[row_of[holdings[i].site]];
		struct km_leak *row = &leaks->rows[row_of[holdings[i].site]];
		uint64_t bytes = 0;
		size_t n = i;

		for (; n < count && holdings[n].site == holdings[i].site; n++)
			bytes += leaks->keys[holdings[n].key].live_bytes;
		i = n;
		if (!site->survivors || !bytes)
			continue;
		if (is_reclaimable || (is_unnamed && km_reclaimable_function(j->function)))
			j->reclaimable_bytes += bytes;
		if (bytes <= j->cache_bytes)
			continue;
		j->cache_bytes = bytes;
		row->cache = holdings[n - 1].cache;
		row->factors.has_cache_traced_share = known > 0;
		row->factors.cache_traced_share = known ? (double)matched / (double)known : 0;
		row->factors.chances_count =
			births_behind(&births, leaks->start_time, leaks->context.end_time - row->age_mean);
	}
}

static int find_caches(struct km_leaks *leaks, const uint32_t *row_of, struct judged *judged)
{
	struct holding *holdings = calloc((size_t)leaks->keys_room + 1, sizeof(*holdings));
	size_t count = 0;

	if (!holdings)
		return -ENOMEM;
	for (uint32_t key = 1; key < leaks->keys_room; key++) {
		uint64_t call_site;

		if (!km_aggregate_key(leaks->context.aggregate, key, &call_site, &holdings[count].cache))
			continue;
		holdings[count].key = key;
		holdings[count++].site = km_aggregate_key_site(leaks->context.aggregate, key);
	}
	qsort(holdings, count, sizeof(*holdings), compare_holdings);
	for (size_t i = 0, n; i < count; i = n) {
		for (n = i + 1; n < count && !strcmp(holdings[n].cache, holdings[i].cache);)
			n++;
		settle_cache(leaks, holdings + i, n - i, row_of, judged);
	}
	free(holdings);
	for (size_t i = 0; i < leaks->rows_count; i++) {
		const struct leak_site *site = judged[i].site;

		judged[i].is_reclaimable = (double)judged[i].reclaimable_bytes >=
						   limits.reclaimable_share * (double)leaks->rows[i].live_bytes ||
					   (double)site->reclaimable_count >=
						   limits.reclaimable_share * (double)km_leak_births_count(site);
	}
	return 0;
}

static int compare_leaks(const void *x, const void *y)
{
	const struct km_leak *a = x, *b = y;

	if (a->verdict != b->verdict)
		return a->verdict < b->verdict ? -1 : 1;
	if (a->verdict == KM_VERDICT_LEAK && a->factors.score != b->factors.score)
		return a->factors.score > b->factors.score ? -1 : 1;
	if (a->live_bytes != b->live_bytes)
		return a->live_bytes > b->live_bytes ? -1 : 1;
	if (a->live_count != b->live_count)
		return a->live_count > b->live_count ? -1 : 1;
	return a->call_site < b->call_site ? -1 : a->call_site > b->call_site;
}

static int index_rows(struct km_leaks *leaks)
{
	leaks->row_of_site = calloc(leaks->sites_room ? leaks->sites_room : 1, sizeof(*leaks->row_of_site));
	if (!leaks->row_of_site)
		return -ENOMEM;
	for (size_t i = 0; i < leaks->rows_count; i++)
		leaks->row_of_site[leaks->rows[i].site_index] = (uint32_t)i + 1;
	return 0;
}

int km_leaks_judge(struct km_leaks *leaks, const char *doubt)
{
	struct judged *judged = NULL;
	uint32_t *row_of = NULL;
	int r = make_rows(leaks, &judged, &row_of);

	if (!r)
		r = find_caches(leaks, row_of, judged);
	if (!r)
		r = find_twins(leaks, judged);
	for (size_t i = 0; !r && i < leaks->rows_count; i++)
		judge(leaks, &judged[i], doubt, &leaks->rows[i]);
	if (!r && leaks->rows_count)
		qsort(leaks->rows, leaks->rows_count, sizeof(*leaks->rows), compare_leaks);
	free(judged);
	free(row_of);
	return r ? r : index_rows(leaks);
}
