/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the fixtures that no recording gives: `make_fixtures DIRECTORY`
 * writes them there. What it writes is in the tree; it is built only when
 * asked for (target make_fixtures).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What a workload and a leaking module do, by the name of the function that allocates. */
static const struct {
	const char *name; /* in kallsyms; the newer kernel has it without what GCC appended */
	unsigned live, freed, bytes;
	const char *cache;
} workload[] = {
	{ "leak_kmalloc.isra.0\t[leaky]", 6, 0, 512, NULL },
	{ "leak_cache.constprop.0\t[leaky]", 5, 2, 192, "leaky_obj" },
	{ "leak_node.part.0\t[leaky]", 3, 1, 1024, NULL },
	{ "probe\t[one]", 2, 2, 64, NULL },
	{ "probe\t[two]", 1, 1, 64, NULL },
	{ "alloc_inode", 10, 40, 1088, "ext4_inode_cache" },
	{ "sk_alloc", 1, 9, 960, NULL },
};
#define WORKLOAD (sizeof(workload) / sizeof(workload[0]))

/* For comparisons: two kernels, and the newer one with the events of one site three times. */
static void compared(const char *directory, const char *name, enum tw_kernel kernel, const char *uname, bool is_old,
		     unsigned times_of_sk)
{
	char symbols[2048];
	uint64_t time = 1000 * MS;
	unsigned next = 1;
	struct tw *tw;
	size_t n = 0;

	/* The newer kernel has them the other way round, and so at other addresses. */
	for (size_t i = 0; i < WORKLOAD; i++) {
		const char *text = workload[is_old ? i : WORKLOAD - 1 - i].name;
		const char *module = strchr(text, '\t'), *copy = is_old ? NULL : strchr(text, '.');

		n += (size_t)snprintf(symbols + n, sizeof(symbols) - n, "%016llx t %.*s%s\n",
				      (unsigned long long)tw_function(8, (unsigned)i),
				      (int)(copy ? (size_t)(copy - text) : strcspn(text, "\t")), text,
				      module ? module : "");
	}
	snprintf(symbols + n, sizeof(symbols) - n, "%016llx T kfree\n", (unsigned long long)tw_function(8, WORKLOAD));
	tw = tw_new(&(struct tw_options){
		.kernel = kernel, .clock = "mono", .cmdlines = "1 work\n", .uname = uname, .kallsyms = symbols });
	tw_other(tw, TW_TOP, 0, time, 1);
	for (size_t i = 0; i < WORKLOAD; i++) {
		unsigned times = workload[i].cache || workload[i].bytes != 960 ? 1 : times_of_sk;
		uint64_t call = tw_function(8, (unsigned)(is_old ? i : WORKLOAD - 1 - i)) + (is_old ? 0x10 : 0x18);
		unsigned count = workload[i].live + workload[i].freed;

		for (unsigned k = 0; k < times * count; k++) {
			uint64_t ptr = object(next++);
			bool is_freed = k % count >= workload[i].live;
			unsigned bytes = workload[i].bytes;

			time += MS;
			if (!workload[i].cache)
				tw_kmalloc(tw, TW_TOP, 0, time, 1, call, ptr, bytes, bytes, 0, -1);
			else
				tw_cache_alloc(tw, TW_TOP, 0, time, 1, call, ptr, bytes, bytes, 0, -1,
					       workload[i].cache);
			if (is_freed && workload[i].cache)
				tw_cache_free(tw, TW_TOP, 0, time, 1, tw_function(8, WORKLOAD) + 8, ptr,
					      workload[i].cache);
			else if (is_freed)
				tw_kfree(tw, TW_TOP, 0, time, 1, tw_function(8, WORKLOAD) + 8, ptr);
		}
	}
	tw_other(tw, TW_TOP, 0, 2000 * MS, 1);
	tw_cpustat(tw, TW_TOP, 0, 0, 0, 0);
	save(tw, directory, name);
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
	compared(argv[1], "built-compare-5.10.dat", TW_KERNEL_5_10, "Linux old 5.10.0-46-amd64 x86_64", true, 1);
	compared(argv[1], "built-compare-6.12.dat", TW_KERNEL_6_12, "Linux new 6.12.117-amd64 x86_64", false, 1);
	compared(argv[1], "built-compare-6.12-sk3.dat", TW_KERNEL_6_12, "Linux new 6.12.117-amd64 x86_64", false, 3);
	return EXIT_SUCCESS;
}
