/* SPDX-License-Identifier: GPL-2.0-only */
#include "perfdata_ahead.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "testing.h"

/* Bundles of `bundle_events` events each, their times counting up. */
struct maker {
	struct km_perfdata_order *order;
	uint64_t time;
	size_t bundle_events, bundles_count, made;
	bool fails;
};

static int make(void *context, struct km_perfdata_bundle **ret_bundle, struct km_error *error)
{
	struct maker *m = context;

	if (m->made == m->bundles_count)
		return m->fails ? km_error_set(error, -EBADMSG, "no more") : 0;
	m->made++;
	for (size_t i = 0; i < m->bundle_events; i++) {
		const struct km_event event = { .time = m->time++, .cpu = (uint16_t)(i % 3) };

		if (km_perfdata_order_add(m->order, &event) < 0)
			ck_abort_msg("out of memory");
	}
	if (km_perfdata_order_finish(m->order) || km_perfdata_order_take(m->order, ret_bundle))
		return km_error_set(error, -ENOMEM, "out of memory");
	return *ret_bundle != NULL;
}

static struct maker maker_of(size_t bundles_count, size_t bundle_events)
{
	struct maker m = { .order = km_perfdata_order_new(1 << 24),
			   .bundles_count = bundles_count,
			   .bundle_events = bundle_events };

	ck_assert_ptr_nonnull(m.order);
	return m;
}

/* Reads bundles until there are no more, or so many; times go on from *time. Returns what the last call said. */
static int read_some(struct km_perfdata_ahead *ahead, size_t most, uint64_t *time, struct km_error *error)
{
	struct km_event events[100];
	int r = 1;

	for (size_t i = 0; i < most; i++) {
		struct km_perfdata_bundle *bundle;
		int n;

		r = km_perfdata_ahead_next(ahead, &bundle, error);
		if (r <= 0) {
			ck_assert_ptr_null(bundle);
			break;
		}
		while ((n = km_perfdata_bundle_read(bundle, events, 100, NULL)) > 0) {
			for (int k = 0; k < n; k++) {
				if (events[k].time != (*time)++)
					ck_abort_msg("event %d has time %ju", k, (uintmax_t)events[k].time);
			}
		}
		km_perfdata_bundle_free(bundle);
	}
	return r;
}

static void check_all(size_t bundles_count, size_t bundle_events)
{
	struct maker m = maker_of(bundles_count, bundle_events);
	struct km_perfdata_ahead *ahead = km_perfdata_ahead_new(make, &m);
	uint64_t time = 0;

	ck_assert_int_eq(read_some(ahead, SIZE_MAX, &time, NULL), 0);
	ck_assert_uint_eq(time, bundles_count * bundle_events);
	/* The end stays the end. */
	ck_assert_int_eq(read_some(ahead, SIZE_MAX, &time, NULL), 0);
	km_perfdata_ahead_free(ahead);
	km_perfdata_order_free(m.order);
}

START_TEST(bundles_come_in_their_order)
{
	check_all(0, 10);
	check_all(1, 1);
	check_all(1000, 7);   /* more than may be ready at once */
	check_all(4, 400000); /* each a large part of what may be ahead */
}
END_TEST

START_TEST(an_error_comes_behind_what_was_made)
{
	struct maker m = maker_of(3, 10);
	struct km_perfdata_ahead *ahead;
	struct km_error error = { 0 };
	uint64_t time = 0;

	m.fails = true;
	ahead = km_perfdata_ahead_new(make, &m);
	ck_assert_int_eq(read_some(ahead, SIZE_MAX, &time, &error), -EBADMSG);
	ck_assert_str_eq(error.text, "no more");
	ck_assert_uint_eq(time, 30);
	km_perfdata_ahead_free(ahead);
	km_perfdata_order_free(m.order);
}
END_TEST

/* Whenever it is stopped, nothing is lost, and the rest is made when it is asked for. */
START_TEST(stopped_it_goes_on_by_itself)
{
	for (unsigned delay = 0; delay < 20; delay++) {
		struct maker m = maker_of(200, 500);
		struct km_perfdata_ahead *ahead = km_perfdata_ahead_new(make, &m);
		uint64_t time = 0;
		size_t made;

		ck_assert_int_eq(read_some(ahead, delay, &time, NULL), 1);
		usleep(delay * 50);
		km_perfdata_ahead_stop(ahead);
		km_perfdata_ahead_stop(ahead);
		made = m.made;
		ck_assert_int_eq(read_some(ahead, SIZE_MAX, &time, NULL), 0);
		ck_assert_uint_ge(m.made, made);
		ck_assert_uint_eq(time, 200 * 500);
		km_perfdata_ahead_free(ahead);
		km_perfdata_order_free(m.order);
	}
}
END_TEST

START_TEST(what_nobody_reads_is_freed)
{
	struct maker m = maker_of(SIZE_MAX, 500);
	struct km_perfdata_ahead *ahead = km_perfdata_ahead_new(make, &m);
	uint64_t time = 0;

	ck_assert_int_eq(read_some(ahead, 2, &time, NULL), 1);
	usleep(1000);
	km_perfdata_ahead_free(ahead);
	km_perfdata_ahead_free(NULL);
	km_perfdata_bundle_free(NULL);
	km_perfdata_order_free(m.order);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { bundles_come_in_their_order, an_error_comes_behind_what_was_made,
				       stopped_it_goes_on_by_itself, what_nobody_reads_is_freed, NULL };

	return km_test_main("perfdata_ahead", tests, 60);
}
