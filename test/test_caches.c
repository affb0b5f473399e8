/* SPDX-License-Identifier: GPL-2.0-only */
#include "caches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_back.h"
#include "testing.h"
#include "trace_writer.h"

/* A reader of a small trace, for its names, its gfp flags and its kernel; and caches. */
struct setup {
	enum tw_kernel kernel;
	void *data;
	struct km_reader *reader;
	struct km_caches *caches;
};

/* Names that the reader numbers 1, 2, 3 where the kernel tells them. */
static const char *const names[] = { "dentry", "filp", "skbuff_head_cache" };

static struct setup set_up_as(const struct tw_options *options)
{
	struct setup s = { .kernel = options->kernel };
	struct tw *tw = tw_new(options);
	size_t bytes, count;

	for (unsigned i = 0; i < 3; i++)
		tw_cache_free(tw, TW_TOP, 0, 1000 + i, 1, 0x1234, 0xffff888000001000, names[i]);
	tw_kmalloc(tw, TW_TOP, 0, 2000, 1, 0x1234, 0xffff888000001000, 8, 8, 0, -1);
	s.data = tw_finish(tw, &bytes);
	tw_free(tw);
	s.reader = km_read_back_open(s.data, bytes, NULL);
	free(km_read_back_all(s.reader, 0, 16, &count));
	ck_assert_uint_eq(count, 4);
	s.caches = km_caches_new(s.reader);
	ck_assert_ptr_nonnull(s.caches);
	return s;
}

static struct setup set_up(enum tw_kernel kernel)
{
	return set_up_as(&(struct tw_options){ .kernel = kernel });
}

static void tear_down(struct setup *s)
{
	km_caches_free(s->caches);
	km_reader_close(s->reader);
	free(s->data);
}

static uint32_t kmalloc(const struct setup *s, uint64_t asked, uint64_t given, uint32_t gfp)
{
	const struct km_event e = { .kind = KM_EVENT_KMALLOC,
				    .ptr = 0xffff888000001000,
				    .call_site = 0x1234,
				    .bytes_req = asked,
				    .bytes_alloc = given,
				    .gfp = gfp };

	return km_caches_of(s->caches, &e);
}

static uint32_t cache_alloc(const struct setup *s, uint64_t site, uint64_t asked, uint64_t given, uint32_t cache)
{
	const struct km_event e = { .kind = KM_EVENT_CACHE_ALLOC,
				    .ptr = 0xffff888000001000,
				    .call_site = site,
				    .bytes_req = asked,
				    .bytes_alloc = given,
				    .cache = cache };

	return km_caches_of(s->caches, &e);
}

static const char *name_of(const struct setup *s, uint32_t node)
{
	ck_assert_uint_ne(node, KM_CACHES_NONE);
	return km_caches_name(s->caches, km_caches_root(s->caches, node));
}

static unsigned count_moves(const struct setup *s)
{
	uint32_t node, old_root;
	unsigned count = 0;

	while (km_caches_next_move(s->caches, &node, &old_root)) {
		ck_assert_uint_ne(km_caches_root(s->caches, node), old_root);
		count++;
	}
	return count;
}

/* --- kmalloc classes --- */

static const struct {
	uint64_t bytes;
	const char *name;
} classes[] = {
	{ 8, "8" },     { 16, "16" },   { 32, "32" },   { 64, "64" },   { 96, "96" },   { 128, "128" }, { 192, "192" },
	{ 256, "256" }, { 512, "512" }, { 1024, "1k" }, { 2048, "2k" }, { 4096, "4k" }, { 8192, "8k" },
};

START_TEST(every_class_and_its_boundaries)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint64_t before = 0;

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		uint64_t bytes = classes[i].bytes, lowest = before + 1;
		char name[32];

		snprintf(name, sizeof(name), "kmalloc-%s", classes[i].name);
		ck_assert_str_eq(name_of(&s, kmalloc(&s, lowest, bytes, 0)), name);
		ck_assert_str_eq(name_of(&s, kmalloc(&s, bytes, bytes, 0)), name);
		ck_assert_uint_eq(km_caches_root(s.caches, kmalloc(&s, bytes, bytes, 0)),
				  km_caches_root(s.caches, kmalloc(&s, lowest, bytes, 0)));
		ck_assert_uint_eq(
			km_caches_object_bytes(s.caches, km_caches_root(s.caches, kmalloc(&s, bytes, bytes, 0))),
			bytes);
		before = bytes;
	}
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 8193, 12288, 0)), "kmalloc-large");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 1 << 20, 1 << 20, 0)), "kmalloc-large");
	tear_down(&s);
}
END_TEST

START_TEST(large_ones_are_one_cache_of_no_size)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t account = tw_gfp(s.kernel, "__GFP_ACCOUNT");
	uint32_t root = km_caches_root(s.caches, kmalloc(&s, 9000, 12288, 0));

	ck_assert_uint_eq(km_caches_root(s.caches, kmalloc(&s, 100000, 131072, account)), root);
	ck_assert_uint_eq(km_caches_object_bytes(s.caches, root), 0);
	tear_down(&s);
}
END_TEST

START_TEST(gfp_flags_choose_the_kind_of_cache)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t kernel = tw_gfp(s.kernel, "GFP_KERNEL"), account = tw_gfp(s.kernel, "GFP_KERNEL_ACCOUNT");
	uint32_t reclaimable = tw_gfp(s.kernel, "__GFP_RECLAIMABLE"), dma = tw_gfp(s.kernel, "GFP_DMA");

	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, kernel)), "kmalloc-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, account)), "kmalloc-cg-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, kernel | reclaimable)), "kmalloc-rcl-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, account | reclaimable)), "kmalloc-rcl-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, kernel | dma)), "dma-kmalloc-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, account | reclaimable | dma)), "dma-kmalloc-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 1000, 1024, account)), "kmalloc-cg-1k");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 9000, 12288, account | reclaimable)), "kmalloc-large");
	tear_down(&s);
}
END_TEST

START_TEST(accounted_ones_are_apart_from_5_14_on)
{
	struct setup old = set_up(TW_KERNEL_5_10);
	struct setup almost =
		set_up_as(&(struct tw_options){ .kernel = TW_KERNEL_5_12, .uname = "Linux box 5.13.19 x86_64" });
	struct setup young =
		set_up_as(&(struct tw_options){ .kernel = TW_KERNEL_5_12, .uname = "Linux box 5.14.0-rc1+ x86_64" });
	uint32_t account = tw_gfp(TW_KERNEL_5_10, "GFP_KERNEL_ACCOUNT");
	uint32_t reclaimable = account | tw_gfp(TW_KERNEL_5_10, "__GFP_RECLAIMABLE");

	ck_assert_str_eq(name_of(&old, kmalloc(&old, 100, 128, account)), "kmalloc-128");
	ck_assert_str_eq(name_of(&old, kmalloc(&old, 100, 128, reclaimable)), "kmalloc-rcl-128");
	ck_assert_str_eq(name_of(&almost, kmalloc(&almost, 100, 128, account)), "kmalloc-128");
	ck_assert_str_eq(name_of(&young, kmalloc(&young, 100, 128, account)), "kmalloc-cg-128");
	tear_down(&old);
	tear_down(&almost);
	tear_down(&young);
}
END_TEST

START_TEST(a_minimum_alignment_gives_a_larger_class)
{
	/* arm64: everything up to 128 bytes from kmalloc-128 */
	struct setup s = set_up_as(&(struct tw_options){ .kernel = TW_KERNEL_6_1, .uname = "Linux box 6.1.0 aarch64" });

	ck_assert_str_eq(name_of(&s, kmalloc(&s, 8, 128, 0)), "kmalloc-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 100, 128, 0)), "kmalloc-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 150, 256, 0)), "kmalloc-256"); /* no kmalloc-192 there */
	ck_assert_uint_eq(km_caches_root(s.caches, kmalloc(&s, 8, 128, 0)),
			  km_caches_root(s.caches, kmalloc(&s, 128, 128, 0)));
	ck_assert_uint_eq(count_moves(&s), 0);
	tear_down(&s);
}
END_TEST

START_TEST(large_pages_have_larger_classes)
{
	struct setup s = set_up_as(&(struct tw_options){
		.kernel = TW_KERNEL_6_1, .page_bytes = 65536, .uname = "Linux box 6.1.0 ppc64le" });
	/* Sub-buffers of 64 KiB on a kernel with pages of 4 */
	struct setup small = set_up_as(&(struct tw_options){
		.kernel = TW_KERNEL_6_1, .page_bytes = 65536, .uname = "Linux box 6.8.0 x86_64" });

	ck_assert_str_eq(name_of(&s, kmalloc(&s, 9000, 16384, 0)), "kmalloc-16k");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 131072, 131072, 0)), "kmalloc-128k");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 131073, 196608, 0)), "kmalloc-large");
	ck_assert_str_eq(name_of(&small, kmalloc(&small, 9000, 12288, 0)), "kmalloc-large");
	tear_down(&s);
	tear_down(&small);
}
END_TEST

/* --- slab_debug --- */

START_TEST(padding_seen_before_explains_a_class)
{
	struct setup s = set_up(TW_KERNEL_6_12);

	/* 320 is no class: 128 bytes of red zones and tracks behind 192. So 256 may be 128 with the like. */
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 192, 320, 0)), "kmalloc-192");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 128, 256, 0)), "kmalloc-128");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 256, 512, 0)), "kmalloc-256");
	ck_assert_uint_eq(count_moves(&s), 0);
	tear_down(&s);
}
END_TEST

START_TEST(padding_seen_later_explains_a_class)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t node = kmalloc(&s, 128, 256, 0), moved = 0, old_root = 0, root = km_caches_root(s.caches, node);

	ck_assert_str_eq(name_of(&s, node), "kmalloc-256");
	kmalloc(&s, 192, 320, 0);
	ck_assert_str_eq(name_of(&s, node), "kmalloc-128");
	ck_assert_int_eq(km_caches_next_move(s.caches, &moved, &old_root), 1);
	ck_assert_uint_eq(moved, node);
	ck_assert_uint_eq(old_root, root);
	ck_assert_int_eq(km_caches_next_move(s.caches, &moved, &old_root), 0);
	tear_down(&s);
}
END_TEST

/* Slabs of kmalloc-192 are aligned to 64 bytes, not to 192: 64 more make 256. */
START_TEST(padding_is_rounded_to_the_alignment_of_the_class)
{
	struct setup s = set_up(TW_KERNEL_6_12);

	kmalloc(&s, 256, 320, 0);
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 192, 256, 0)), "kmalloc-192");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 64, 128, 0)), "kmalloc-64");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 64, 256, 0)), "kmalloc-256");
	tear_down(&s);
}
END_TEST

/* Padding of 128 bytes says nothing of an object that got 8 times its class. */
START_TEST(padding_does_not_explain_everything)
{
	struct setup s = set_up(TW_KERNEL_6_12);

	kmalloc(&s, 192, 320, 0);
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 8, 1024, 0)), "kmalloc-1k");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 64, 4096, 0)), "kmalloc-4k");
	tear_down(&s);
}
END_TEST

/* A failed allocation has its bytes_alloc all the same; it is of the class asked, whatever was seen. */
START_TEST(a_failed_one_is_of_the_class_asked)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	const struct km_event failed = { .kind = KM_EVENT_KMALLOC, .bytes_req = 192, .bytes_alloc = 320 };

	ck_assert_str_eq(name_of(&s, km_caches_of(s.caches, &failed)), "kmalloc-192");
	ck_assert_str_eq(name_of(&s, kmalloc(&s, 128, 256, 0)), "kmalloc-256"); /* no padding was learnt */
	tear_down(&s);
}
END_TEST

/* --- names --- */

START_TEST(allocations_that_name_their_cache)
{
	struct setup s = set_up(TW_KERNEL_6_18);
	uint32_t dentry = cache_alloc(&s, 0x100, 192, 192, 1), other_site = cache_alloc(&s, 0x200, 192, 192, 1);

	ck_assert_str_eq(name_of(&s, dentry), "dentry");
	ck_assert_uint_eq(km_caches_root(s.caches, dentry), km_caches_root(s.caches, other_site));
	ck_assert_str_eq(name_of(&s, cache_alloc(&s, 0x100, 192, 192, 2)), "filp");
	ck_assert(!km_caches_wants_name(s.caches, dentry));
	ck_assert_uint_eq(km_caches_named(s.caches, 1), km_caches_root(s.caches, dentry));
	ck_assert_uint_eq(km_caches_named(s.caches, 3), KM_CACHES_NONE);
	ck_assert_uint_eq(km_caches_object_bytes(s.caches, km_caches_root(s.caches, dentry)), 192);
	tear_down(&s);
}
END_TEST

START_TEST(one_name_with_two_sizes_has_none)
{
	struct setup s = set_up(TW_KERNEL_6_18);
	uint32_t node = cache_alloc(&s, 0x100, 192, 192, 1);

	cache_alloc(&s, 0x100, 192, 256, 1);
	ck_assert_uint_eq(km_caches_object_bytes(s.caches, km_caches_root(s.caches, node)), 0);
	tear_down(&s);
}
END_TEST

START_TEST(before_5_12_a_cache_is_its_size)
{
	struct setup s = set_up(TW_KERNEL_5_10);
	uint32_t node = cache_alloc(&s, 0x100, 190, 192, 0);

	ck_assert_str_eq(name_of(&s, node), "(unnamed:192)");
	ck_assert(!km_caches_wants_name(s.caches, node));
	ck_assert_uint_eq(km_caches_root(s.caches, cache_alloc(&s, 0x200, 180, 192, 0)),
			  km_caches_root(s.caches, node));
	ck_assert_uint_ne(km_caches_root(s.caches, cache_alloc(&s, 0x100, 190, 256, 0)),
			  km_caches_root(s.caches, node));
	ck_assert_uint_eq(km_caches_object_bytes(s.caches, km_caches_root(s.caches, node)), 192);
	tear_down(&s);
}
END_TEST

START_TEST(a_free_teaches_the_name_of_its_kind)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t node = cache_alloc(&s, 0x100, 192, 192, 0), other_site = cache_alloc(&s, 0x200, 192, 192, 0);
	uint32_t other_size = cache_alloc(&s, 0x100, 190, 192, 0), moved, old_root, before;

	ck_assert_str_eq(name_of(&s, node), "(unnamed:192)");
	ck_assert(km_caches_wants_name(s.caches, node));
	before = km_caches_root(s.caches, node);
	km_caches_learn(s.caches, node, 1);
	ck_assert_int_eq(km_caches_next_move(s.caches, &moved, &old_root), 1);
	ck_assert_uint_eq(moved, node);
	ck_assert_uint_eq(old_root, before);
	ck_assert_uint_eq(count_moves(&s), 0);
	ck_assert_str_eq(name_of(&s, node), "dentry");
	ck_assert_uint_eq(cache_alloc(&s, 0x100, 192, 192, 0), node); /* and of those to come */
	ck_assert_str_eq(name_of(&s, other_site), "(unnamed:192)");
	ck_assert_str_eq(name_of(&s, other_size), "(unnamed:192)");
	km_caches_learn(s.caches, node, 1); /* nothing new */
	ck_assert_uint_eq(count_moves(&s), 0);
	km_caches_learn(s.caches, other_site, 1);
	ck_assert_uint_eq(count_moves(&s), 1);
	ck_assert_uint_eq(km_caches_root(s.caches, other_site), km_caches_root(s.caches, node));
	ck_assert_uint_eq(km_caches_object_bytes(s.caches, km_caches_root(s.caches, node)), 192);
	ck_assert_uint_eq(km_caches_ambiguous_count(s.caches), 0);
	tear_down(&s);
}
END_TEST

START_TEST(the_first_of_two_names_stays)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t node = cache_alloc(&s, 0x100, 192, 192, 0);

	km_caches_learn(s.caches, node, 2);
	count_moves(&s);
	km_caches_learn(s.caches, node, 1);
	km_caches_learn(s.caches, node, 3);
	ck_assert_str_eq(name_of(&s, node), "filp");
	ck_assert_uint_eq(count_moves(&s), 0);
	ck_assert_uint_eq(km_caches_ambiguous_count(s.caches), 1); /* kinds, not names */
	tear_down(&s);
}
END_TEST

START_TEST(a_kmalloc_learns_no_name)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t node = kmalloc(&s, 100, 128, 0);

	ck_assert(!km_caches_wants_name(s.caches, node));
	km_caches_learn(s.caches, node, 1);
	ck_assert_str_eq(name_of(&s, node), "kmalloc-128");
	ck_assert_uint_eq(count_moves(&s), 0);
	ck_assert_uint_eq(km_caches_ambiguous_count(s.caches), 0);
	tear_down(&s);
}
END_TEST

START_TEST(settled_all_unnamed_ones_of_a_size_are_one)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t a = cache_alloc(&s, 0x100, 192, 192, 0), b = cache_alloc(&s, 0x200, 190, 192, 0);
	uint32_t named = cache_alloc(&s, 0x300, 192, 192, 0), other = cache_alloc(&s, 0x100, 64, 64, 0);

	ck_assert_uint_ne(km_caches_root(s.caches, a), km_caches_root(s.caches, b));
	km_caches_learn(s.caches, named, 1);
	km_caches_settle(s.caches);
	ck_assert_uint_eq(km_caches_root(s.caches, a), km_caches_root(s.caches, b));
	ck_assert_str_eq(name_of(&s, a), "(unnamed:192)");
	ck_assert_str_eq(name_of(&s, named), "dentry");
	ck_assert_str_eq(name_of(&s, other), "(unnamed:64)");
	ck_assert_uint_eq(count_moves(&s), 4);
	tear_down(&s);
}
END_TEST

/* A node that moved twice is told once, from where it was when last asked for. */
START_TEST(moves_add_up)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t node = cache_alloc(&s, 0x100, 192, 192, 0), moved, old_root, before = km_caches_root(s.caches, node);

	km_caches_settle(s.caches);
	km_caches_learn(s.caches, node, 1);
	ck_assert_int_eq(km_caches_next_move(s.caches, &moved, &old_root), 1);
	ck_assert_uint_eq(moved, node);
	ck_assert_uint_eq(old_root, before);
	ck_assert_int_eq(km_caches_next_move(s.caches, &moved, &old_root), 0);
	tear_down(&s);
}
END_TEST

START_TEST(many_kinds)
{
	struct setup s = set_up(TW_KERNEL_6_12);
	uint32_t first = cache_alloc(&s, 1, 64, 64, 0);

	for (uint64_t site = 2; site <= 5000; site++) {
		if (cache_alloc(&s, site, 64, 64, 0) != first + site - 1)
			ck_abort_msg("site %" PRIu64, site);
	}
	ck_assert_uint_eq(cache_alloc(&s, 2500, 64, 64, 0), first + 2499);
	ck_assert_uint_ge(km_caches_count(s.caches), 5000);
	ck_assert_str_eq(name_of(&s, first + 4999), "(unnamed:64)");
	tear_down(&s);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		every_class_and_its_boundaries,
		large_ones_are_one_cache_of_no_size,
		gfp_flags_choose_the_kind_of_cache,
		accounted_ones_are_apart_from_5_14_on,
		a_minimum_alignment_gives_a_larger_class,
		large_pages_have_larger_classes,
		padding_seen_before_explains_a_class,
		padding_seen_later_explains_a_class,
		padding_is_rounded_to_the_alignment_of_the_class,
		padding_does_not_explain_everything,
		a_failed_one_is_of_the_class_asked,
		allocations_that_name_their_cache,
		one_name_with_two_sizes_has_none,
		before_5_12_a_cache_is_its_size,
		a_free_teaches_the_name_of_its_kind,
		the_first_of_two_names_stays,
		a_kmalloc_learns_no_name,
		settled_all_unnamed_ones_of_a_size_are_one,
		moves_add_up,
		many_kinds,
		NULL,
	};

	return km_test_main("caches", tests, 60);
}
