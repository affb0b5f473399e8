/* SPDX-License-Identifier: GPL-2.0-only */
/* The random stream of trace_writer.h: a toy allocator whose state makes the events plausible. */
#include "trace_writer_internal.h"

#include <stdlib.h>
#include <string.h>

#define RECENT_FREED  64U /* addresses that are likely to be used again */
#define OBJECT_STRIDE 64U
#define LARGE_LIMIT   8192U /* above it a kmalloc is whole pages */
#define NS_PER_SECOND UINT64_C(1000000000)

struct cache {
	const char *name;
	uint32_t object_bytes;
	uint32_t slot_bytes;
};

static const struct cache caches[TW_STREAM_CACHES] = {
	{ "dentry", 192, 192 },         { "inode_cache", 600, 608 },        { "filp", 232, 256 },
	{ "vm_area_struct", 152, 152 }, { "maple_node", 256, 256 },         { "skbuff_head_cache", 232, 256 },
	{ "task_struct", 4672, 4672 },  { "buffer_head", 104, 104 },        { "signal_cache", 64, 64 },
	{ "anon_vma", 104, 104 },       { "ext4_inode_cache", 1176, 1184 }, { "x", 8, 8 },
};

struct object {
	uint64_t ptr;
	unsigned cache; /* 0: kmalloc; else 1 + index into caches[] */
};

struct stream {
	struct tw *tw;
	struct tw_stream options;
	struct km_event *events;
	size_t events_count;
	uint64_t random;
	uint64_t time;
	unsigned last_cpu;
	struct object *live;
	size_t live_count, live_room;
	uint64_t freed[RECENT_FREED];
	unsigned freed_count;
	uint64_t next_new,
		next_old; /* addresses never used before: of new objects, and of those from before the trace */
};

const char *tw_stream_cache_name(unsigned i)
{
	return caches[i].name;
}

/* splitmix64 */
static uint64_t random_next(struct stream *s)
{
	uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static unsigned random_below(struct stream *s, unsigned limit)
{
	return (unsigned)((random_next(s) >> 32) % limit);
}

static bool chance(struct stream *s, unsigned per_mille)
{
	return random_below(s, 1000) < per_mille;
}

/* Per-CPU order is the file's; across CPUs times differ, unless ties are wanted. */
static void advance(struct stream *s, unsigned cpu)
{
	bool is_other_cpu = cpu != s->last_cpu;

	s->last_cpu = cpu;
	if (!is_other_cpu ? chance(s, 50) : s->options.ties && chance(s, 100))
		return;
	if (chance(s, 2))
		s->time += NS_PER_SECOND / 5; /* more than a time_delta holds */
	s->time += 1 + random_below(s, chance(s, 20) ? 1000000 : 2000);
}

static uint64_t site(struct stream *s, unsigned first, unsigned count)
{
	unsigned i = first + random_below(s, count);

	return tw_function(s->options.long_bytes, i) + 0x10 + 0x20 * (uint64_t)random_below(s, 3);
}

static struct km_event new_event(struct stream *s, enum km_event_kind kind)
{
	unsigned cpu = random_below(s, s->options.cpus);

	/* Bursts on one CPU, as in life. */
	if (chance(s, 600))
		cpu = s->last_cpu;
	advance(s, cpu);
	return (struct km_event){
		.time = s->time,
		.pid = (int32_t)(40 + random_below(s, 5)),
		.cpu = (uint16_t)cpu,
		.node = KM_NODE_ANY,
		.kind = (uint8_t)kind,
	};
}

static bool is_full(const struct stream *s)
{
	return s->events_count == s->options.events_count;
}

/* cache: as in struct object. */
static void emit(struct stream *s, const struct km_event *e, unsigned cache)
{
	enum tw_kernel kernel = s->options.kernel;
	bool tells_name = e->kind == KM_EVENT_CACHE_ALLOC ? kernel >= TW_KERNEL_6_18
							  : e->kind == KM_EVENT_CACHE_FREE && kernel >= TW_KERNEL_5_12;

	if (s->tw)
		tw_event(s->tw, s->options.buffer, e, cache ? caches[cache - 1].name : NULL);
	if (s->events) {
		s->events[s->events_count] = *e;
		s->events[s->events_count].cache = tells_name ? cache : KM_CACHE_NONE;
	}
	s->events_count++;
}

/* ---- the toy allocator ---- */

static uint64_t take_address(struct stream *s)
{
	uint64_t ptr;

	if (s->freed_count && chance(s, 700)) {
		unsigned i = random_below(s, s->freed_count);

		ptr = s->freed[i];
		s->freed[i] = s->freed[--s->freed_count];
		return ptr;
	}
	ptr = s->next_new;
	s->next_new += OBJECT_STRIDE;
	return ptr;
}

static void give_address(struct stream *s, uint64_t ptr)
{
	if (s->freed_count < RECENT_FREED)
		s->freed[s->freed_count++] = ptr;
}

static void add_live(struct stream *s, uint64_t ptr, unsigned cache)
{
	if (s->live_count == s->live_room) {
		s->live_room = 2 * s->live_room + 64;
		s->live = tw_xrealloc(s->live, s->live_room * sizeof(*s->live));
	}
	s->live[s->live_count++] = (struct object){ ptr, cache };
}

static struct object take_live(struct stream *s)
{
	size_t i = random_next(s) % s->live_count;
	struct object object = s->live[i];

	s->live[i] = s->live[--s->live_count];
	return object;
}

static uint32_t kmalloc_given(uint32_t bytes)
{
	uint32_t given = 8;

	if (bytes > 64 && bytes <= 96)
		return 96;
	if (bytes > 128 && bytes <= 192)
		return 192;
	if (bytes > LARGE_LIMIT)
		given = 4096;
	while (given < bytes)
		given *= 2;
	return given;
}

static uint32_t random_gfp(struct stream *s)
{
	static const char *const names[] = { "GFP_KERNEL", "GFP_KERNEL", "GFP_ATOMIC", "GFP_KERNEL_ACCOUNT",
					     "GFP_NOWAIT" };
	uint32_t gfp = tw_gfp(s->options.kernel, names[random_below(s, sizeof(names) / sizeof(*names))]);

	return chance(s, 300) ? gfp | tw_gfp(s->options.kernel, "__GFP_ZERO") : gfp;
}

/* The node asked for is recorded by all allocations from 6.1 on, and by the _node events before. */
static void set_node(struct stream *s, struct km_event *e)
{
	bool is_old = s->options.kernel < TW_KERNEL_6_1;

	if (is_old && chance(s, 200))
		e->kind = e->kind == KM_EVENT_KMALLOC ? KM_EVENT_KMALLOC_NODE : KM_EVENT_CACHE_ALLOC_NODE;
	else if (is_old)
		return;
	if (chance(s, 150))
		e->node = (int16_t)random_below(s, 2);
}

static void random_kmalloc(struct stream *s, bool fails)
{
	struct km_event e = new_event(s, KM_EVENT_KMALLOC);
	bool is_large = chance(s, 30);

	e.bytes_req = is_large ? LARGE_LIMIT + 1 + random_below(s, 60000)
			       : 1 + random_below(s, chance(s, 100) ? LARGE_LIMIT : 300);
	e.bytes_alloc = kmalloc_given((uint32_t)e.bytes_req);
	e.gfp = random_gfp(s);
	e.call_site = site(s, 0, 12);
	set_node(s, &e);
	e.ptr = fails ? 0 : take_address(s);
	if (!fails)
		add_live(s, e.ptr, 0);
	if (is_large && !fails && s->options.kernel >= TW_KERNEL_6_12 && chance(s, 700)) {
		struct km_event first = e;

		first.call_site = tw_function(s->options.long_bytes, 12) + 0x44;
		emit(s, &first, 0);
		if (is_full(s))
			return;
		e.time = s->time += random_below(s, 2) * 300;
	}
	emit(s, &e, 0);
}

static void random_cache_alloc(struct stream *s, bool fails)
{
	struct km_event e = new_event(s, KM_EVENT_CACHE_ALLOC);
	unsigned i = random_below(s, TW_STREAM_CACHES);

	e.bytes_req = caches[i].object_bytes;
	e.bytes_alloc = caches[i].slot_bytes;
	e.gfp = random_gfp(s);
	e.call_site = site(s, 16 + i, 2);
	set_node(s, &e);
	e.ptr = fails ? 0 : take_address(s);
	if (!fails)
		add_live(s, e.ptr, 1 + i);
	emit(s, &e, 1 + i);
}

static void random_alloc(struct stream *s)
{
	bool fails = chance(s, 5);

	if (chance(s, 500))
		random_kmalloc(s, fails);
	else
		random_cache_alloc(s, fails);
}

static void free_object(struct stream *s, struct object object)
{
	/* kfree() takes a cache's objects too. */
	bool is_kfree = !object.cache || chance(s, 50);
	struct km_event e = new_event(s, is_kfree ? KM_EVENT_KFREE : KM_EVENT_CACHE_FREE);

	e.ptr = object.ptr;
	e.call_site = site(s, 32, 10);
	give_address(s, object.ptr);
	emit(s, &e, is_kfree ? 0 : object.cache);
}

/* A free that leaves no event: the address comes back in an allocation. */
static void free_untraced(struct stream *s)
{
	give_address(s, take_live(s).ptr);
}

static void free_nothing(struct stream *s)
{
	struct km_event e = new_event(s, KM_EVENT_KFREE);

	e.ptr = chance(s, 900) ? 0 : KM_ZERO_SIZE_PTR;
	e.call_site = site(s, 32, 10);
	emit(s, &e, 0);
}

static void free_older_object(struct stream *s)
{
	struct object object = { s->next_old, random_below(s, 1 + TW_STREAM_CACHES) };

	s->next_old += OBJECT_STRIDE;
	free_object(s, object);
}

static void step(struct stream *s)
{
	unsigned target = s->options.live_target;
	/* Balanced at the target: allocations get rarer the more objects live. */
	unsigned allocs = s->live_count < target / 2 ? 800 : s->live_count < target ? 550 : 420;

	if (chance(s, 40)) {
		free_nothing(s);
	} else if (!s->live_count || chance(s, allocs)) {
		random_alloc(s);
	} else if (!s->options.no_untraced && chance(s, 40)) {
		free_older_object(s);
	} else {
		if (!s->options.no_untraced && chance(s, 60) && s->live_count > 1)
			free_untraced(s);
		free_object(s, take_live(s));
	}
}

void tw_stream_random(struct tw *tw, const struct tw_stream *stream, struct km_event *ret_events)
{
	struct stream s = { .tw = tw, .options = *stream, .events = ret_events, .random = stream->seed };
	struct tw_stream *o = &s.options;

	o->cpus = o->cpus ? o->cpus : 1;
	o->kernel = o->kernel ? o->kernel : TW_KERNEL_6_18;
	o->long_bytes = o->long_bytes ? o->long_bytes : 8;
	o->live_target = o->live_target ? o->live_target : 500;
	s.time = o->time_ns ? o->time_ns : NS_PER_SECOND;
	s.next_old = o->long_bytes == 4 ? 0xc8000000 : UINT64_C(0xffff888004000000);
	s.next_new = o->long_bytes == 4 ? 0xd0000000 : UINT64_C(0xffff888100000000);
	while (!is_full(&s))
		step(&s);
	free(s.live);
}
