/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the fixtures that no recording gives: `make_fixtures DIRECTORY`
 * writes them there. What it writes is in the tree; it is built only when
 * asked for (target make_fixtures).
 */
#include <stdio.h>
#include <stdlib.h>

#include "trace_writer.h"

#define MS UINT64_C(1000000)

static uint64_t site(unsigned i)
{
	return tw_function(8, i) + 0x1f;
}

static uint64_t object(unsigned i)
{
	return 0xffff888000000000 + (uint64_t)i * 0x1000;
}

static void save(struct tw *tw, const char *directory, const char *name)
{
	char path[4096];
	size_t bytes;
	void *data = tw_finish(tw, &bytes);
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file)) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	free(data);
	tw_free(tw);
}

/* Equal pointers in two buffers, comms that are no plain text, a marker. */
static void two_slab_buffers(const char *directory)
{
	uint32_t gfp = tw_gfp(TW_KERNEL_6_18, "GFP_KERNEL");
	struct tw *tw = tw_new(&(struct tw_options){
		.cpus = 2,
		.clock = "mono",
		.cmdlines = "1 init\n42 work\n43 wo\033[31mrk\n44 caf\303\251\n45 bad\377\200\n",
	});
	unsigned one = tw_add_buffer(tw, "one", 0, NULL, 0);
	unsigned two = tw_add_buffer(tw, "two", 0, NULL, 0);

	tw_other(tw, TW_TOP, 0, 1000 * MS, 42);
	tw_kmalloc(tw, one, 0, 1000 * MS, 42, site(0), object(1), 100, 128, gfp, -1);
	tw_kmalloc(tw, one, 0, 1001 * MS, 43, site(1), object(2), 500, 512, gfp, -1);
	tw_print(tw, one, 0, 1002 * MS, 42, "phase two begins\n");
	tw_cache_alloc(tw, one, 1, 1003 * MS, 44, site(2), object(3), 184, 192, gfp, 0, "filp");
	tw_kfree(tw, one, 1, 1004 * MS, 44, site(3), object(1));
	tw_kmalloc(tw, one, 1, 1005 * MS, 45, site(TW_FUNCTIONS_KERNEL + 2), object(4), 33, 64, gfp, -1);
	tw_kmalloc(tw, two, 0, 1000 * MS, 42, site(4), object(1), 1000, 1024, gfp, -1);
	tw_kfree(tw, two, 0, 1006 * MS, 42, site(5), object(1));
	tw_kmalloc(tw, two, 0, 1007 * MS, 42, site(4), object(5), 2000, 2048, gfp, 1);
	for (unsigned buffer = TW_TOP; buffer <= two; buffer++) {
		for (unsigned cpu = 0; cpu < 2; cpu++)
			tw_cpustat(tw, buffer, cpu, 0, 0, 0);
	}
	save(tw, directory, "built-two-slab-buffers.dat");
}

/* An old kernel, a clock in ticks, no symbols and no statistics. */
static void counter_clock(const char *directory)
{
	uint32_t gfp = tw_gfp(TW_KERNEL_4_19, "GFP_KERNEL");
	struct tw *tw = tw_new(&(struct tw_options){
		.version = 6,
		.kernel = TW_KERNEL_4_19,
		.cpus = 1,
		.clock = "counter",
		.omit = TW_OMIT_KALLSYMS,
	});

	tw_kmalloc(tw, TW_TOP, 0, 10, 1, site(0), object(1), 100, 128, gfp, -1);
	tw_kmalloc(tw, TW_TOP, 0, 20, 1, site(0), object(1), 100, 128, gfp, -1);
	tw_kmalloc(tw, TW_TOP, 0, 30, 1, site(1), 0, 1 << 22, 1 << 22, gfp, -1);
	tw_cache_alloc_node(tw, TW_TOP, 0, 40, 1, site(2), object(2), 200, 200, gfp, 1);
	tw_kfree(tw, TW_TOP, 0, 50, 1, site(3), 0);
	tw_kfree(tw, TW_TOP, 0, 60, 1, site(3), object(1));
	tw_kfree(tw, TW_TOP, 0, 70, 1, site(3), object(1));
	save(tw, directory, "built-counter-clock.dat");
}

/* The beginning was overwritten on one CPU, the end of the other was lost. */
static void start_and_tail_lost(const char *directory)
{
	uint32_t gfp = tw_gfp(TW_KERNEL_6_18, "GFP_KERNEL");
	struct tw *tw = tw_new(&(struct tw_options){ .cpus = 2, .clock = "mono" });

	tw_lost(tw, TW_TOP, 0, 300);
	tw_kfree(tw, TW_TOP, 0, 1000 * MS, 42, site(3), object(1));
	tw_kmalloc(tw, TW_TOP, 0, 1001 * MS, 42, site(0), object(1), 100, 128, gfp, -1);
	tw_kmalloc(tw, TW_TOP, 1, 1002 * MS, 43, site(1), object(2), 100, 128, gfp, -1);
	tw_kfree(tw, TW_TOP, 1, 1003 * MS, 43, site(3), object(2));
	tw_cpustat(tw, TW_TOP, 0, 300, 0, 0);
	tw_cpustat(tw, TW_TOP, 1, 70, 0, 0);
	save(tw, directory, "built-start-tail-lost.dat");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return EXIT_FAILURE;
	}
	two_slab_buffers(argv[1]);
	counter_clock(argv[1]);
	start_and_tail_lost(argv[1]);
	return EXIT_SUCCESS;
}
