/* SPDX-License-Identifier: GPL-2.0-only */
#include "detail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "naming.h"
#include "read_back.h"
#include "testing.h"

#define FREER UINT64_C(0xffffffff81005010)
#define KEY   1U /* of a selected allocation */

struct setup {
	void *data;
	struct km_reader *reader;
	struct km_naming *naming;
	struct km_detail *detail;
};

static struct setup set_up(const char *cmdlines)
{
	struct tw *tw = tw_new(&(struct tw_options){ .cmdlines = cmdlines });
	struct setup s = { 0 };
	size_t bytes;

	tw_kmalloc(tw, TW_TOP, 0, 1000, 1, FREER, 0xffff888000001000, 8, 8, 0, -1);
	s.data = tw_finish(tw, &bytes);
	tw_free(tw);
	s.reader = km_read_back_open(s.data, bytes, NULL);
	ck_assert_int_eq(km_naming_new(s.reader, NULL, false, &s.naming, NULL), 0);
	s.detail = km_detail_new(s.reader, s.naming);
	ck_assert_ptr_nonnull(s.detail);
	return s;
}

static void tear_down(struct setup *s)
{
	km_detail_free(s->detail);
	km_naming_free(s->naming);
	km_reader_close(s->reader);
	free(s->data);
}

static void account_alloc(struct setup *s, uint32_t key, int32_t pid, uint64_t asked, uint64_t given,
			  enum km_outcome_kind kind)
{
	const struct km_event event = {
		.kind = KM_EVENT_KMALLOC, .pid = pid, .ptr = 0x1000, .bytes_req = asked, .bytes_alloc = given
	};
	const struct km_outcome outcome = { .kind = (uint8_t)kind };

	ck_assert_int_eq(km_detail_account(s->detail, &event, key, &outcome), 0);
}

static void account_free(struct setup *s, uint32_t key, uint64_t call_site, uint32_t given, enum km_outcome_kind kind)
{
	const struct km_event event = { .kind = KM_EVENT_KFREE, .ptr = 0x1000, .call_site = call_site };
	const struct km_outcome outcome = { .kind = (uint8_t)kind, .object = { .key = key, .bytes_alloc = given } };

	ck_assert_int_eq(km_detail_account(s->detail, &event, 0, &outcome), 0);
}

static void expect(struct setup *s, enum km_detail_kind kind, const struct km_tally *wanted, size_t count)
{
	size_t got;
	const struct km_tally *tallies = km_detail_tallies(s->detail, kind, &got);

	ck_assert_uint_eq(got, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(tallies[i].value, wanted[i].value);
		ck_assert_uint_eq(tallies[i].count, wanted[i].count);
		ck_assert_uint_eq(tallies[i].bytes, wanted[i].bytes);
	}
}

#define EXPECT(kind, ...)                                                       \
	do {                                                                    \
		const struct km_tally wanted[] = { __VA_ARGS__ };               \
		expect(&s, (kind), wanted, sizeof(wanted) / sizeof(wanted[0])); \
	} while (0)

START_TEST(nothing_is_told_of_nothing)
{
	struct setup s = set_up(NULL);

	for (enum km_detail_kind kind = 0; kind < KM_DETAIL_KINDS; kind++)
		expect(&s, kind, NULL, 0);
	tear_down(&s);
	km_detail_free(NULL);
}
END_TEST

START_TEST(sizes_are_those_asked_most_first)
{
	struct setup s = set_up(NULL);

	account_alloc(&s, KEY, 1, 100, 128, KM_OUTCOME_TRACKED);
	account_alloc(&s, KEY, 1, 60, 64, KM_OUTCOME_TRACKED);
	account_alloc(&s, KEY, 1, 60, 64, KM_OUTCOME_OVERFLOWED);
	account_alloc(&s, KEY, 1, 8, 8, KM_OUTCOME_TRACKED);
	account_alloc(&s, KEY, 1, 4, 8, KM_OUTCOME_TRACKED);
	/* Equal counts: by bytes, then by size. */
	EXPECT(KM_DETAIL_SIZES, { 60, 2, 128 }, { 100, 1, 128 }, { 4, 1, 8 }, { 8, 1, 8 });
	tear_down(&s);
}
END_TEST

START_TEST(only_the_selection_is_tallied)
{
	struct setup s = set_up(NULL);

	account_alloc(&s, 0, 1, 100, 128, KM_OUTCOME_TRACKED);
	account_alloc(&s, KM_KEY_LEFT_OUT | 1, 1, 100, 128, KM_OUTCOME_TRACKED);
	account_free(&s, 0, FREER, 64, KM_OUTCOME_MATCHED);
	account_free(&s, KM_KEY_LEFT_OUT | 1, FREER, 64, KM_OUTCOME_MATCHED);
	for (enum km_detail_kind kind = 0; kind < KM_DETAIL_KINDS; kind++)
		expect(&s, kind, NULL, 0);
	tear_down(&s);
}
END_TEST

START_TEST(a_failed_allocation_has_no_size)
{
	struct setup s = set_up(NULL);

	account_alloc(&s, KEY, 1, 100, 128, KM_OUTCOME_FAILED);
	expect(&s, KM_DETAIL_SIZES, NULL, 0);
	expect(&s, KM_DETAIL_COMMS, NULL, 0);
	tear_down(&s);
}
END_TEST

/* Whatever allocated them. */
START_TEST(freers_are_those_of_matched_frees)
{
	struct setup s = set_up(NULL);

	account_free(&s, KEY, FREER, 64, KM_OUTCOME_MATCHED);
	account_free(&s, KEY + 1, FREER + 0x100, 8, KM_OUTCOME_MATCHED);
	account_free(&s, KEY + 2, FREER + 0x100, 32, KM_OUTCOME_MATCHED);
	account_free(&s, 0, FREER + 0x200, 0, KM_OUTCOME_UNMATCHED);
	account_free(&s, 0, FREER + 0x200, 0, KM_OUTCOME_NULL);
	EXPECT(KM_DETAIL_FREERS, { FREER + 0x100, 2, 40 }, { FREER, 1, 64 });
	expect(&s, KM_DETAIL_SIZES, NULL, 0);
	tear_down(&s);
}
END_TEST

static const char *comm_of(const struct km_tally *tally)
{
	return (const char *)(uintptr_t)tally->value;
}

/* Of a sample: allocations are all there, a free stands for several. */
START_TEST(frees_of_a_sample_count_for_more)
{
	struct setup s = set_up(NULL);

	account_alloc(&s, KEY, 1, 60, 64, KM_OUTCOME_TRACKED);
	account_free(&s, KEY, FREER, 64, KM_OUTCOME_MATCHED);
	km_detail_set_weight(s.detail, 4);
	account_alloc(&s, KEY, 1, 60, 64, KM_OUTCOME_SAMPLED_OUT);
	account_free(&s, KEY, FREER, 64, KM_OUTCOME_MATCHED);
	account_free(&s, 0, FREER, 0, KM_OUTCOME_SAMPLED_OUT);
	EXPECT(KM_DETAIL_SIZES, { 60, 2, 128 });
	EXPECT(KM_DETAIL_FREERS, { FREER, 5, 320 });
	tear_down(&s);
}
END_TEST

START_TEST(tasks_of_one_name_are_one)
{
	struct setup s = set_up("10 worker\n11 worker\n12 init\n");
	const struct km_tally *comms;
	size_t count;

	account_alloc(&s, KEY, 10, 8, 8, KM_OUTCOME_TRACKED);
	account_alloc(&s, KEY, 12, 8, 8, KM_OUTCOME_TRACKED);
	account_alloc(&s, KEY, 11, 8, 16, KM_OUTCOME_TRACKED);
	account_alloc(&s, KEY, 13, 100, 128, KM_OUTCOME_TRACKED); /* no name is known */
	comms = km_detail_tallies(s.detail, KM_DETAIL_COMMS, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(comm_of(&comms[0]), "worker");
	ck_assert_uint_eq(comms[0].count, 2);
	ck_assert_uint_eq(comms[0].bytes, 24);
	ck_assert_str_eq(comm_of(&comms[1]), "<...>");
	ck_assert_str_eq(comm_of(&comms[2]), "init");
	tear_down(&s);
}
END_TEST

/* The order must not hang on where the names happen to be in memory. */
START_TEST(tasks_that_tie_are_in_the_order_of_their_names)
{
	struct setup s;
	const struct km_tally *comms;
	char cmdlines[64 * 300], *at = cmdlines;
	size_t count;

	for (int pid = 1; pid <= 300; pid++)
		at += sprintf(at, "%d task-%03d\n", pid, pid);
	s = set_up(cmdlines);
	for (int pid = 300; pid >= 1; pid--)
		account_alloc(&s, KEY, pid, 8, 8, KM_OUTCOME_TRACKED);
	comms = km_detail_tallies(s.detail, KM_DETAIL_COMMS, &count);
	ck_assert_uint_eq(count, 300);
	for (size_t i = 1; i < count; i++)
		ck_assert_int_lt(strcmp(comm_of(&comms[i - 1]), comm_of(&comms[i])), 0);
	tear_down(&s);
}
END_TEST

START_TEST(many_values_are_kept_apart)
{
	struct setup s = set_up(NULL);
	const struct km_tally *tallies;
	size_t count;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned size = 1; size <= 1000; size++) {
			if (size % 3 >= round)
				account_alloc(&s, KEY, 1, size, size, KM_OUTCOME_TRACKED);
		}
	}
	tallies = km_detail_tallies(s.detail, KM_DETAIL_SIZES, &count);
	ck_assert_uint_eq(count, 1000);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(tallies[i].count, tallies[i].value % 3 + 1);
		ck_assert_uint_eq(tallies[i].bytes, tallies[i].count * tallies[i].value);
	}
	tear_down(&s);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { nothing_is_told_of_nothing,        sizes_are_those_asked_most_first,
				 only_the_selection_is_tallied,     a_failed_allocation_has_no_size,
				 freers_are_those_of_matched_frees, frees_of_a_sample_count_for_more,
				 tasks_of_one_name_are_one,         tasks_that_tie_are_in_the_order_of_their_names,
				 many_values_are_kept_apart,        NULL };

	return km_test_main("detail", tests, 10);
}
