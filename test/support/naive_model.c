/* SPDX-License-Identifier: GPL-2.0-only */
#include "naive_model.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS    1024
#define LARGE_OVER 8192

struct entry {
	struct entry *next;
	struct km_object object;
	size_t born, owner;
};

/* The last slab event of a CPU. */
struct previous {
	bool may_be_first; /* a large kmalloc that is not a second itself */
	bool was_touched;  /* something else happened to its address since */
	uint8_t kind;      /* of its outcome */
	struct km_event event;
	uint32_t key;
	size_t number;
};

struct naive {
	uint64_t limit; /* 0: none */
	unsigned cpus;
	bool resets_on_loss;
	bool samples;
	unsigned k;
	struct naive_halving *halvings;
	size_t halvings_count;
	struct entry *buckets[BUCKETS];
	uint64_t live_count, peak_count;
	size_t events_count;
	struct previous *previous;
	struct naive_overflow overflow;
};

static void *must(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

struct naive *naive_new(uint64_t objects_count, unsigned cpus)
{
	struct naive *n = must(calloc(1, sizeof(*n)));

	n->limit = objects_count;
	n->cpus = cpus;
	n->previous = must(calloc(cpus, sizeof(*n->previous)));
	return n;
}

static void forget_live(struct naive *n)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		while (n->buckets[i]) {
			struct entry *entry = n->buckets[i];

			n->buckets[i] = entry->next;
			free(entry);
		}
	}
	n->live_count = 0;
}

void naive_free(struct naive *n)
{
	if (!n)
		return;
	forget_live(n);
	for (size_t i = 0; i < n->halvings_count; i++)
		free(n->halvings[i].born);
	free(n->halvings);
	free(n->previous);
	free(n->overflow.episodes);
	free(n);
}

void naive_reset_on_loss(struct naive *n)
{
	n->resets_on_loss = true;
}

void naive_sample(struct naive *n)
{
	n->samples = true;
}

const struct naive_halving *naive_halvings(const struct naive *n, size_t *ret_count)
{
	*ret_count = n->halvings_count;
	return n->halvings;
}

/* Bits from the top of the address's hash (MurmurHash3's finalizer) that have to be 0. */
static bool is_kept(uint64_t ptr, unsigned k)
{
	uint64_t h = ptr;

	h = (h ^ h / 8589934592U) * 18397679294719823053U;
	h = (h ^ h / 8589934592U) * 14181476777654086739U;
	h = h ^ h / 8589934592U;
	for (unsigned bit = 63; k > 0; bit--, k--) {
		if (h >> bit & 1)
			return false;
	}
	return true;
}

static void halve(struct naive *n)
{
	struct naive_halving *halving;

	n->halvings = must(realloc(n->halvings, (n->halvings_count + 1) * sizeof(*n->halvings)));
	halving = &n->halvings[n->halvings_count++];
	*halving = (struct naive_halving){ .event = n->events_count,
					   .born = must(calloc(n->live_count + 1, sizeof(size_t))) };
	n->k++;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry **link = &n->buckets[i]; *link;) {
			struct entry *entry = *link;

			if (is_kept(entry->object.ptr, n->k)) {
				link = &entry->next;
				continue;
			}
			halving->born[halving->count++] = entry->born;
			*link = entry->next;
			free(entry);
			n->live_count--;
		}
	}
}

/* The link that points to the address's entry; *link is NULL if there is none. */
static struct entry **link_of(struct naive *n, uint64_t ptr)
{
	struct entry **link = &n->buckets[(ptr / 8) % BUCKETS];

	while (*link && (*link)->object.ptr != ptr)
		link = &(*link)->next;
	return link;
}

static void overflow(struct naive *n, const struct km_event *e)
{
	struct naive_overflow *o = &n->overflow;
	struct naive_episode *episode;

	if (!o->count)
		o->first_time = e->time;
	o->count++;
	o->bytes += e->bytes_alloc;
	if (!o->is_open) {
		o->episodes = must(realloc(o->episodes, (o->episodes_count + 1) * sizeof(*o->episodes)));
		o->episodes[o->episodes_count++] = (struct naive_episode){ .start_time = e->time };
		o->is_open = true;
	}
	episode = &o->episodes[o->episodes_count - 1];
	episode->count++;
	episode->end_time = e->time;
	if (episode->end_time - episode->start_time > o->longest_time)
		o->longest_time = episode->end_time - episode->start_time;
}

static void slot_freed(struct naive *n, uint64_t time)
{
	struct naive_overflow *o = &n->overflow;
	struct naive_episode *episode;

	if (!o->is_open)
		return;
	o->is_open = false;
	episode = &o->episodes[o->episodes_count - 1];
	episode->end_time = time;
	if (time - episode->start_time > o->longest_time)
		o->longest_time = time - episode->start_time;
}

static bool is_second(const struct previous *p, const struct km_event *e)
{
	return p->may_be_first && !p->was_touched && km_event_is_kmalloc(e) && p->event.ptr == e->ptr &&
	       p->event.bytes_req == e->bytes_req && p->event.bytes_alloc == e->bytes_alloc && p->event.pid == e->pid;
}

static struct km_object object_of(const struct km_event *e, uint32_t key)
{
	return (struct km_object){ .ptr = e->ptr,
				   .time = e->time,
				   .bytes_req = (uint32_t)e->bytes_req,
				   .bytes_alloc = (uint32_t)e->bytes_alloc,
				   .key = key,
				   .pid = e->pid,
				   .cpu = e->cpu };
}

/* One allocation told twice: it becomes the second's, from the first's time on. */
static void play_second(struct naive *n, const struct previous *p, uint32_t key, struct naive_result *result)
{
	struct entry *entry = *link_of(n, p->event.ptr);

	result->kind = KM_OUTCOME_DOUBLED;
	result->first_overflowed = p->kind == KM_OUTCOME_OVERFLOWED;
	result->first_sampled_out = p->kind == KM_OUTCOME_SAMPLED_OUT;
	result->first_purged = p->kind == KM_OUTCOME_TRACKED && !entry;
	result->born = result->owner = p->number;
	result->object = object_of(&p->event, p->key);
	if (!entry)
		return;
	result->object = entry->object;
	entry->object.key = key;
	entry->owner = n->events_count;
}

static void play_alloc(struct naive *n, const struct km_event *e, uint32_t key, struct naive_result *result)
{
	struct entry **link, *entry;

	while (n->samples && n->limit && n->live_count == n->limit && is_kept(e->ptr, n->k) && !*link_of(n, e->ptr))
		halve(n);
	link = link_of(n, e->ptr);
	entry = *link;
	if (!is_kept(e->ptr, n->k)) {
		result->kind = KM_OUTCOME_SAMPLED_OUT;
		return;
	}
	result->kind = KM_OUTCOME_TRACKED;
	if (entry) {
		result->implied_free = true;
		result->object = entry->object;
		result->born = entry->born;
		result->owner = entry->owner;
	} else if (n->limit && n->live_count == n->limit) {
		result->kind = KM_OUTCOME_OVERFLOWED;
		overflow(n, e);
		return;
	} else {
		entry = *link = must(calloc(1, sizeof(*entry)));
		n->live_count++;
		if (n->live_count > n->peak_count)
			n->peak_count = n->live_count;
	}
	entry->object = object_of(e, key);
	entry->born = entry->owner = n->events_count;
}

static void play_free(struct naive *n, const struct km_event *e, struct naive_result *result)
{
	struct entry **link, *entry;

	if (e->ptr == 0 || e->ptr == 0x10) {
		result->kind = KM_OUTCOME_NULL;
		return;
	}
	if (!is_kept(e->ptr, n->k)) {
		result->kind = KM_OUTCOME_SAMPLED_OUT;
		return;
	}
	link = link_of(n, e->ptr);
	entry = *link;
	if (!entry) {
		result->kind = KM_OUTCOME_UNMATCHED;
		return;
	}
	result->kind = KM_OUTCOME_MATCHED;
	result->object = entry->object;
	result->born = entry->born;
	result->owner = entry->owner;
	*link = entry->next;
	free(entry);
	n->live_count--;
	slot_freed(n, e->time);
}

static void play_loss(struct naive *n, const struct km_event *e, struct naive_result *result)
{
	n->previous[e->cpu].may_be_first = false;
	if (!n->resets_on_loss)
		return;
	result->kind = KM_OUTCOME_RESET;
	for (unsigned cpu = 0; cpu < n->cpus; cpu++)
		n->previous[cpu].may_be_first = false;
	forget_live(n);
	slot_freed(n, e->time);
}

static void play_slab(struct naive *n, const struct km_event *e, uint32_t key, struct naive_result *result)
{
	struct previous *p = &n->previous[e->cpu];

	if (km_event_is_free(e))
		play_free(n, e, result);
	else if (!e->ptr)
		result->kind = KM_OUTCOME_FAILED;
	else if (is_second(p, e))
		play_second(n, p, key, result);
	else
		play_alloc(n, e, key, result);
	for (unsigned cpu = 0; cpu < n->cpus; cpu++)
		n->previous[cpu].was_touched |= n->previous[cpu].event.ptr == e->ptr;
	*p = (struct previous){ .event = *e,
				.key = key,
				.number = n->events_count,
				.kind = result->kind,
				.may_be_first = km_event_is_kmalloc(e) && e->ptr && e->bytes_req > LARGE_OVER &&
						result->kind != KM_OUTCOME_DOUBLED };
}

struct naive_result naive_play(struct naive *n, const struct km_event *e, uint32_t key)
{
	struct naive_result result = { .kind = KM_OUTCOME_NONE };

	if (km_event_is_slab(e))
		play_slab(n, e, key, &result);
	else if (e->kind == KM_EVENT_LOST)
		play_loss(n, e, &result);
	n->events_count++;
	return result;
}

uint64_t naive_live_count(const struct naive *n)
{
	return n->live_count;
}

uint64_t naive_peak_count(const struct naive *n)
{
	return n->peak_count;
}

const struct naive_overflow *naive_overflow(const struct naive *n)
{
	return &n->overflow;
}

const struct km_object *naive_find(const struct naive *n, uint64_t ptr)
{
	for (const struct entry *entry = n->buckets[(ptr / 8) % BUCKETS]; entry; entry = entry->next) {
		if (entry->object.ptr == ptr)
			return &entry->object;
	}
	return NULL;
}

/* --- streams --- */

/* xorshift64*, Marsaglia and Vigna */
uint64_t naive_random(uint64_t *state)
{
	uint64_t x = *state ? *state : 88172645463325252U;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (x * UINT64_C(0x2545f4914f6cdd1d)) >> 16;
}

struct generator {
	struct naive_stream options;
	uint64_t state, time;
	/* What each CPU may tell a second time: kind is 0xff if nothing. */
	struct km_event *again;
	struct km_event *events;
	size_t count;
};

static unsigned below(struct generator *g, unsigned limit)
{
	return (unsigned)(naive_random(&g->state) % limit);
}

static uint64_t some_ptr(struct generator *g)
{
	return UINT64_C(0xffff888000001000) + 64 * (uint64_t)below(g, g->options.pointers);
}

static void emit(struct generator *g, struct km_event e)
{
	if (g->count == g->options.events_count)
		return;
	if (below(g, 3))
		g->time += below(g, 1000);
	e.time = g->time;
	g->events[g->count++] = e;
}

static struct km_event some_alloc(struct generator *g, unsigned cpu)
{
	static const uint32_t sizes[] = { 8, 100, 1000, 8192, 8193, 16384, 70000 };
	static const uint8_t kinds[] = { KM_EVENT_KMALLOC, KM_EVENT_KMALLOC, KM_EVENT_KMALLOC_NODE,
					 KM_EVENT_CACHE_ALLOC, KM_EVENT_CACHE_ALLOC_NODE };
	struct km_event e = { .cpu = (uint16_t)cpu, .node = (int16_t)((int)below(g, 3) - 1) };

	e.kind = kinds[below(g, 5)];
	e.ptr = below(g, 50) ? some_ptr(g) : 0;
	e.bytes_req = sizes[below(g, 7)];
	e.bytes_alloc = 8;
	while (e.bytes_alloc < e.bytes_req)
		e.bytes_alloc *= 2;
	e.call_site = 0xffffffff81000010 + 0x10 * below(g, 12);
	e.pid = (int32_t)(100 + below(g, 3));
	if (!km_event_is_kmalloc(&e) && g->options.caches) {
		e.cache = 1 + below(g, g->options.caches);
		/* A cache's objects are of one size. */
		e.bytes_req = 40 + 10 * e.cache;
		e.bytes_alloc = 64 * (uint64_t)e.cache;
	}
	return e;
}

static struct km_event some_free(struct generator *g, unsigned cpu)
{
	struct km_event e = { .cpu = (uint16_t)cpu, .node = KM_NODE_ANY };

	e.kind = below(g, 2) ? KM_EVENT_KFREE : KM_EVENT_CACHE_FREE;
	e.ptr = below(g, 30) ? some_ptr(g) : below(g, 2) ? 0 : KM_ZERO_SIZE_PTR;
	e.call_site = 0xffffffff82000000 + 0x10 * below(g, 5);
	e.pid = (int32_t)(100 + below(g, 3));
	if (e.kind == KM_EVENT_CACHE_FREE && g->options.caches)
		e.cache = 1 + below(g, g->options.caches);
	return e;
}

/* The event that a CPU tells again, now and then not quite as it was. */
static void tell_again(struct generator *g, struct km_event e)
{
	switch (below(g, 12)) {
	case 0:
		e.pid++;
		break;
	case 1:
		e.bytes_req++;
		break;
	case 2:
		e.bytes_alloc *= 2;
		break;
	case 3:
		e.kind = KM_EVENT_CACHE_ALLOC;
		break;
	case 4:
		e.kind = KM_EVENT_KMALLOC_NODE;
		break;
	default:
		break;
	}
	if (below(g, 4))
		e.call_site += 0x1000;
	emit(g, e);
}

static void step(struct generator *g)
{
	unsigned cpu = below(g, g->options.cpus);
	struct km_event *again = &g->again[cpu], e;

	if (again->kind != 0xff) {
		e = *again;
		if (below(g, 3)) /* else a third will be told */
			again->kind = 0xff;
		if (!g->options.pairs_are_whole && !below(g, 8)) {
			/* Freed by somebody else in between. */
			struct km_event freed = some_free(g, below(g, g->options.cpus));

			freed.ptr = e.ptr;
			emit(g, freed);
		}
		tell_again(g, e);
		return;
	}
	if (g->options.has_losses && !below(g, 60)) {
		emit(g, (struct km_event){ .kind = KM_EVENT_LOST, .cpu = (uint16_t)cpu, .bytes_req = below(g, 4) });
		return;
	}
	if (below(g, 100) < (g->options.free_percent ? g->options.free_percent : 45)) {
		emit(g, some_free(g, cpu));
		return;
	}
	e = some_alloc(g, cpu);
	emit(g, e);
	if (below(g, 3) || !km_event_is_kmalloc(&e))
		return;
	if (g->options.pairs_are_whole)
		tell_again(g, e);
	else
		*again = e;
}

void naive_stream_random(const struct naive_stream *stream, struct km_event *ret_events)
{
	struct generator g = { .options = *stream, .state = stream->seed, .time = 1000, .events = ret_events };

	g.again = must(calloc(stream->cpus, sizeof(*g.again)));
	for (unsigned cpu = 0; cpu < stream->cpus; cpu++)
		g.again[cpu].kind = 0xff;
	while (g.count < stream->events_count)
		step(&g);
	free(g.again);
}
