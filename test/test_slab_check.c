/* SPDX-License-Identifier: GPL-2.0-only */
#include "slab_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysed.h"
#include "fixture.h"
#include "testing.h"

#define SITE(i) (tw_function(8, i) + 0x1f)
#define OBJ(i)  (UINT64_C(0xffff888000000000) + (uint64_t)(i)*0x4000)

#define HEADER "slabinfo - version: 2.1\n"

struct setup {
	struct km_slabinfo before, after;
	struct km_slab_aliases *aliases;
	struct analysed *analysed;
	const struct km_slab_check *check;
};

static struct km_slabinfo load(const char *text)
{
	struct km_slabinfo info = { 0 };
	struct km_error error = { 0 };
	char *path = km_fixture_write_temporary(text, strlen(text));

	ck_assert_msg(!km_slabinfo_load(path, &info, &error), "%s", error.text);
	unlink(path);
	free(path);
	return info;
}

static struct km_slab_aliases *load_aliases(const char *text)
{
	struct km_slab_aliases *aliases = NULL;
	struct km_error error = { 0 };
	char *path = km_fixture_write_temporary(text, strlen(text));

	ck_assert_msg(!km_slab_aliases_load(path, &aliases, &error), "%s", error.text);
	unlink(path);
	free(path);
	return aliases;
}

/* NULL: not given. */
static struct setup *set_up(struct tw *tw, const char *before, const char *after, const char *aliases,
			    uint64_t objects_count)
{
	struct setup *s = calloc(1, sizeof(*s));
	struct km_analysis_options options = { .objects_count = objects_count };

	ck_assert_ptr_nonnull(s);
	s->before = load(before);
	options.slabinfo_before = &s->before;
	if (after) {
		s->after = load(after);
		options.slabinfo_after = &s->after;
	}
	if (aliases)
		options.aliases = s->aliases = load_aliases(aliases);
	s->analysed = analysed_run(tw, &options, NULL);
	s->check = &s->analysed->analysis->slab_check;
	return s;
}

static void tear_down(struct setup *s)
{
	analysed_free(s->analysed);
	km_slabinfo_release(&s->before);
	km_slabinfo_release(&s->after);
	km_slab_aliases_free(s->aliases);
	free(s);
}

static const struct km_slab_check_row *find(const struct setup *s, const char *name)
{
	for (size_t i = 0; i < s->check->rows_count; i++) {
		if (!strcmp(s->check->rows[i].name, name))
			return &s->check->rows[i];
	}
	ck_abort_msg("no row %s", name);
}

static void expect(const struct setup *s, const char *name, int64_t slabinfo, int64_t difference, uint64_t tolerance,
		   enum km_slab_cause cause)
{
	const struct km_slab_check_row *row = find(s, name);

	ck_assert_msg(row->cause == cause, "%s: %s: %s", name, km_slab_cause_name(row->cause), row->reason);
	ck_assert(row->is_compared && row->reason[0]);
	ck_assert_int_eq(row->slabinfo_change_count, slabinfo);
	ck_assert_int_eq(row->difference_count, difference);
	ck_assert_int_eq(slabinfo - km_balance_change(&row->trace), difference);
	ck_assert_uint_eq(row->tolerance_count, tolerance);
	ck_assert(row->agrees == (cause == KM_SLAB_EQUAL || cause == KM_SLAB_PER_CPU_SLABS));
}

static void expect_words(const struct setup *s, const char *name, const char *words)
{
	ck_assert_msg(strstr(find(s, name)->reason, words), "%s: %s", name, find(s, name)->reason);
}

static void expect_none(const struct setup *s, const char *name, enum km_slab_cause cause)
{
	ck_assert(!find(s, name)->is_compared && !find(s, name)->agrees);
	ck_assert_msg(find(s, name)->cause == cause, "%s: %s", name, find(s, name)->reason);
}

/* With an event of each kind, none of which does anything. */
static struct tw *new_trace(enum tw_kernel kernel)
{
	struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono", .kernel = kernel });

	tw_kmalloc(tw, TW_TOP, 0, 1, 1, SITE(90), 0, 64, 64, 0, -1);
	tw_cache_alloc(tw, TW_TOP, 0, 2, 1, SITE(91), 0, 64, 64, 0, -1, "none");
	tw_kfree(tw, TW_TOP, 0, 3, 1, SITE(92), 0);
	tw_cache_free(tw, TW_TOP, 0, 4, 1, SITE(93), 0, "none");
	return tw;
}

/* count objects from number `first` on; times follow the numbers. */
static void allocs(struct tw *tw, uint64_t time, unsigned first, unsigned count, uint64_t bytes, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		tw_cache_alloc(tw, TW_TOP, 0, time + i, 1, SITE(bytes / 8), OBJ(first + i), bytes, bytes, 0, -1, name);
}

static void frees(struct tw *tw, uint64_t time, unsigned first, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		tw_cache_free(tw, TW_TOP, 0, time + i, 1, SITE(99), OBJ(first + i), name);
}

static void kmallocs(struct tw *tw, uint64_t time, unsigned first, unsigned count, uint64_t bytes)
{
	for (unsigned i = 0; i < count; i++)
		tw_kmalloc(tw, TW_TOP, 0, time + i, 1, SITE(98), OBJ(first + i), bytes, bytes, 0, -1);
}

/* Free objects on CPUs: those before can be gone, those behind can be new. */
START_TEST(tolerance)
{
	struct tw *tw = new_trace(TW_KERNEL_6_18);
	struct setup *s;

	allocs(tw, 1000, 0, 5, 1024, "same");
	allocs(tw, 2000, 100, 5, 1024, "more");
	allocs(tw, 3000, 200, 5, 1024, "fewer");
	allocs(tw, 4000, 300, 5, 1024, "too_many");
	allocs(tw, 5000, 400, 5, 1024, "too_few");
	s = set_up(tw,
		   HEADER "same 10 40 1024 32 8\nmore 10 40 1024 32 8\nfewer 10 40 1024 32 8\ntoo_many 10 40 1024 32 "
			  "8\ntoo_few 1000 2000 1024 32 8\nquiet 5 5 8 512 1\n",
		   HEADER "same 15 40 1024 32 8\nmore 30 40 1024 32 8\nfewer 8 40 1024 32 8\ntoo_many 400 440 1024 32 "
			  "8\ntoo_few 600 2000 1024 32 8\nquiet 5 5 8 512 1\n",
		   NULL, 0);
	/* One CPU: 32 * (1 + 48 / 32, rounded up) + 13 * 16 = 304, and no more than what was active. */
	expect(s, "same", 5, 0, 15, KM_SLAB_EQUAL);
	expect(s, "more", 20, 15, 30, KM_SLAB_PER_CPU_SLABS);
	expect(s, "fewer", -2, -7, 10, KM_SLAB_PER_CPU_SLABS);
	expect(s, "too_many", 390, 385, 304, KM_SLAB_UNEXPLAINED);
	expect(s, "too_few", -400, -405, 304, KM_SLAB_UNTRACED_FREES);
	expect_words(s, "too_few", "no free of its objects was traced");
	ck_assert_uint_eq(s->check->agree_count, 3);
	ck_assert_uint_eq(s->check->differ_count, 2);
	ck_assert_uint_eq(s->check->not_compared_count, 0);
	ck_assert_uint_eq(s->check->quiet_count, 1);
	ck_assert_str_eq(s->check->rows[0].name, "too_few");
	ck_assert_str_eq(s->check->rows[1].name, "too_many");
	ck_assert_str_eq(s->check->rows[4].name, "same");
	tear_down(s);
}
END_TEST

#define DEBUG "kmalloc-64 50 50 192 21 1\n"

/* With slab_debug numbers are exact: each cause. */
START_TEST(causes)
{
	struct tw *tw = new_trace(TW_KERNEL_6_12);
	struct setup *s;

	allocs(tw, 1000, 0, 4, 104, NULL); /* implied */
	allocs(tw, 1100, 0, 2, 104, NULL);
	frees(tw, 1200, 0, 1, "implied");
	frees(tw, 2000, 50, 3, "bulk");
	frees(tw, 2100, 60, 1, "few_bulk");
	allocs(tw, 3000, 100, 7, 200, NULL); /* never freed: unnamed */
	allocs(tw, 4000, 120, 3, 304, NULL);
	kmallocs(tw, 5000, 150, 4, 64);
	tw_kfree(tw, TW_TOP, 0, 5100, 1, SITE(97), OBJ(150));
	tw_kfree(tw, TW_TOP, 0, 5101, 1, SITE(97), OBJ(190));
	tw_kfree(tw, TW_TOP, 0, 5102, 1, SITE(97), OBJ(191));
	allocs(tw, 6000, 200, 5, 408, NULL);
	frees(tw, 6100, 200, 5, "balanced");
	allocs(tw, 6200, 210, 2, 504, NULL);
	frees(tw, 6300, 210, 2, "early");
	frees(tw, 6400, 212, 1, "early");
	s = set_up(tw,
		   HEADER DEBUG "implied 10 10 104 16 1\nbulk 10 10 64 16 1\nfew_bulk 10 10 64 16 1\nexactly 10 10 200 "
				"16 1\nsome 10 10 304 16 1\nbalanced 10 10 408 16 1\nearly 0 10 504 16 1\n",
		   HEADER "kmalloc-64 51 51 192 21 1\nimplied 10 10 104 16 1\nbulk 10 10 64 16 1\nfew_bulk 20 20 64 16 "
			  "1\nexactly 17 17 200 16 1\nsome 12 12 304 16 1\nbalanced 9 10 408 16 1\nearly 30 10 504 16 "
			  "1\nmade 4 10 72 16 1\n",
		   NULL, 0);
	ck_assert(s->check->is_debug);
	expect(s, "implied", 0, -3, 0, KM_SLAB_UNTRACED_FREES);
	expect_words(s, "implied", "2 objects of it went without an event");
	expect(s, "bulk", 0, 3, 0, KM_SLAB_UNTRACED_ALLOCS);
	expect(s, "few_bulk", 10, 11, 0, KM_SLAB_UNTRACED_ALLOCS);
	expect(s, "exactly", 7, 7, 0, KM_SLAB_UNNAMED_ALLOCS);
	expect_words(s, "exactly", "exactly what the trace has of 200-byte objects");
	expect(s, "some", 2, 2, 0, KM_SLAB_UNNAMED_ALLOCS);
	expect_words(s, "some", "3 allocations of 304-byte objects");
	expect(s, "kmalloc-64", 1, -2, 0, KM_SLAB_UNKNOWN_FREES);
	expect(s, "balanced", -1, -1, 0, KM_SLAB_UNEXPLAINED);
	expect(s, "early", 30, 31, 0, KM_SLAB_OTHER_TIME);
	expect(s, "made", 4, 4, 0, KM_SLAB_UNEXPLAINED);
	expect_none(s, "(unnamed:200)", KM_SLAB_UNNAMED);
	ck_assert_uint_eq(s->check->unknown_frees_count, 2);
	ck_assert_uint_eq(s->check->not_compared_count, 2);
	tear_down(s);
}
END_TEST

/* A recording without a kind of free. */
START_TEST(kind_missing)
{
	struct tw *tw = tw_new(&(struct tw_options){ .clock = "mono" });
	struct setup *s;

	allocs(tw, 1000, 0, 4, 104, "pid");
	s = set_up(tw, HEADER DEBUG "pid 10 10 104 16 1\n", HEADER DEBUG "pid 10 10 104 16 1\n", NULL, 0);
	expect(s, "pid", 0, -4, 0, KM_SLAB_EVENTS_LOST);
	expect_words(s, "pid", "a kind of free event is missing");
	tear_down(s);
}
END_TEST

START_TEST(loss_and_overflow)
{
	for (unsigned is_overflow = 0; is_overflow < 2; is_overflow++) {
		struct tw *tw = new_trace(TW_KERNEL_6_18);
		struct setup *s;

		allocs(tw, 1000, 0, 4, 104, "pid");
		if (!is_overflow)
			tw_lost(tw, TW_TOP, 0, 5);
		allocs(tw, 1100, 10, 4, 104, "pid");
		s = set_up(tw, HEADER DEBUG "pid 10 10 104 16 1\n", HEADER DEBUG "pid 10 10 104 16 1\n", NULL,
			   is_overflow ? 3 : 0);
		expect(s, "pid", 0, -8, 0, is_overflow ? KM_SLAB_OVERFLOW : KM_SLAB_EVENTS_LOST);
		tear_down(s);
	}
}
END_TEST

/* Classes of one size may be taken for one another; random and per-caller kmalloc caches are one class of the trace. */
START_TEST(kmalloc)
{
	struct tw *tw = new_trace(TW_KERNEL_6_18);
	struct setup *s;

	kmallocs(tw, 1000, 0, 6, 64);
	kmallocs(tw, 2000, 20, 6, 128);
	kmallocs(tw, 3000, 40, 1, 16384);
	s = set_up(tw,
		   HEADER DEBUG "kmalloc-cg-64 5 5 192 21 1\nkmalloc-128 1 1 256 21 1\nkmalloc-rnd-01-128 2 2 256 21 "
				"1\nkmalloc-rnd-15-128 3 3 256 21 1\nmemdup_user-128 4 4 256 21 1\nmsg_msg-128 5 5 "
				"256 21 1\nmsg_msg-banana 1 1 256 21 1\nkmalloc-rnd-x-128 1 1 256 21 1\n",
		   HEADER "kmalloc-64 52 52 192 21 1\nkmalloc-cg-64 9 9 192 21 1\nkmalloc-128 2 2 256 21 "
			  "1\nkmalloc-rnd-01-128 4 4 256 21 1\nkmalloc-rnd-15-128 3 3 256 21 1\nmemdup_user-128 6 6 "
			  "256 21 1\nmsg_msg-128 6 6 256 21 1\nmsg_msg-banana 1 1 256 21 1\nkmalloc-rnd-x-128 1 1 256 "
			  "21 1\n",
		   NULL, 0);
	expect(s, "kmalloc-128", 6, 0, 0, KM_SLAB_EQUAL);
	ck_assert_uint_eq(find(s, "kmalloc-128")->before_count, 15);
	expect(s, "kmalloc-64", 2, -4, 0, KM_SLAB_KMALLOC_CLASS);
	expect_words(s, "kmalloc-64", "kmalloc-cg-64 differs by +4");
	expect(s, "kmalloc-cg-64", 4, 4, 0, KM_SLAB_KMALLOC_CLASS);
	expect_none(s, "kmalloc-large", KM_SLAB_PAGES);
	ck_assert_uint_eq(s->check->quiet_count, 2);
	tear_down(s);
}
END_TEST

/* Another boot may have merged them under another name. */
START_TEST(aliases)
{
	for (unsigned with = 0; with < 2; with++) {
		struct tw *tw = new_trace(TW_KERNEL_6_18);
		struct setup *s;

		allocs(tw, 1000, 0, 4, 104, "pid");
		allocs(tw, 2000, 10, 4, 104, "lost");
		s = set_up(tw, HEADER DEBUG "cred 10 10 104 16 1\n", HEADER DEBUG "cred 14 14 104 16 1\n",
			   with ? "pid -> :0000104\ncred -> :0000104\nlost\n" : NULL, 0);
		expect_none(s, "lost", KM_SLAB_NOT_LISTED);
		if (with) {
			expect(s, "pid", 4, 0, 0, KM_SLAB_EQUAL);
			ck_assert_str_eq(find(s, "pid")->listed_name, "cred");
		} else {
			expect_none(s, "pid", KM_SLAB_NOT_LISTED);
			expect_words(s, "pid", "--slab-aliases");
			expect(s, "cred", 4, 4, 0, KM_SLAB_UNEXPLAINED);
		}
		tear_down(s);
	}
}
END_TEST

/* The cause that health warns of. */
static bool warns(const struct setup *s, enum km_warning_code code)
{
	const struct km_health *health = &s->analysed->analysis->health;

	for (size_t i = 0; i < health->warnings_count; i++) {
		if (health->warnings[i].code == code)
			return true;
	}
	return false;
}

START_TEST(sizes)
{
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		struct tw *tw = new_trace(TW_KERNEL_6_18);
		struct setup *s;

		allocs(tw, 1000, 0, 4, 104, "pid");
		allocs(tw, 2000, 10, 4, 96, "cred");
		s = set_up(tw, HEADER "cred 10 10 96 16 1\npid 1 1 104 16 1\n",
			   wrong ? HEADER "cred 14 14 96 16 1\npid 5 5 112 16 1\n"
				 : HEADER "cred 14 14 96 16 1\npid 5 5 104 16 1\n",
			   NULL, 0);
		ck_assert_uint_eq(s->check->wrong_size_count, wrong);
		ck_assert(warns(s, KM_WARN_SLABINFO_SIZES) == wrong);
		tear_down(s);
	}
}
END_TEST

/* Only the copy from the begin: what is expected at the end. */
START_TEST(before_only)
{
	struct tw *tw = new_trace(TW_KERNEL_6_18);
	struct setup *s;

	allocs(tw, 1000, 0, 4, 104, "pid");
	s = set_up(tw, HEADER "pid 10 10 104 16 1\ncred 1 1 104 16 1\n", NULL, NULL, 0);
	ck_assert(!s->check->has_after);
	expect_none(s, "pid", KM_SLAB_NO_AFTER);
	ck_assert_uint_eq(find(s, "pid")->before_count, 10);
	ck_assert_uint_eq(s->check->rows_count, 1);
	ck_assert_uint_eq(s->check->quiet_count, 1);
	tear_down(s);
}
END_TEST

START_TEST(listing_of_another_machine)
{
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		struct tw *tw = new_trace(TW_KERNEL_6_18);
		struct setup *s;

		allocs(tw, 1000, 0, 4, 104, "pid");
		kmallocs(tw, 2000, 10, 1, 64);
		s = set_up(tw, HEADER "pid 10 10 104 16 1\n", NULL, wrong ? "kmalloc-64\ncred\n" : "pid\n", 0);
		ck_assert(warns(s, KM_WARN_ALIASES_UNMATCHED) == wrong);
		tear_down(s);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { tolerance, causes, kind_missing, loss_and_overflow,          kmalloc,
				       aliases,   sizes,  before_only,  listing_of_another_machine, NULL };

	return km_test_main("slab_check", tests, 60);
}
