/* SPDX-License-Identifier: GPL-2.0-only */
#include "perfdata_ahead.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUNDLES      64                /* ready at most */
#define EVENTS_AHEAD ((size_t)1 << 20) /* not read yet, but for one bundle */

struct km_perfdata_ahead {
	km_perfdata_produce *produce;
	void *context;
	pthread_t thread;
	bool has_thread; /* the reader's own business */
	pthread_mutex_t mutex;
	pthread_cond_t ready, room;
	/* Guarded by the mutex: */
	struct km_perfdata_bundle *bundles[BUNDLES]; /* a ring */
	unsigned first, count;
	size_t events_count;  /* of those that are ready and the one being read */
	size_t reading_count; /* of the latter */
	bool stops;
	bool is_over; /* the producer has no more */
	int code;     /* its error, 0 for none */
	struct km_error error;
};

static bool has_room(const struct km_perfdata_ahead *ahead, size_t more)
{
	return ahead->count < BUNDLES && (!ahead->count || ahead->events_count + more <= EVENTS_AHEAD);
}

/* What was made is put down even if there is no room for it when everything stops. */
static void put(struct km_perfdata_ahead *ahead, struct km_perfdata_bundle *bundle)
{
	size_t more = km_perfdata_bundle_count(bundle);

	while (!ahead->stops && !has_room(ahead, more))
		pthread_cond_wait(&ahead->room, &ahead->mutex);
	ahead->bundles[(ahead->first + ahead->count++) % BUNDLES] = bundle;
	ahead->events_count += more;
	pthread_cond_signal(&ahead->ready);
}

static void *run(void *context)
{
	struct km_perfdata_ahead *ahead = context;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->stops && !ahead->is_over && ahead->count + 1 < BUNDLES) {
		struct km_perfdata_bundle *bundle = NULL;
		struct km_error error = { 0 };
		int r;

		pthread_mutex_unlock(&ahead->mutex);
		r = ahead->produce(ahead->context, &bundle, &error);
		pthread_mutex_lock(&ahead->mutex);
		if (r > 0) {
			put(ahead, bundle);
		} else {
			ahead->is_over = true;
			ahead->code = r;
			ahead->error = error;
		}
		/* One place stays free for what is being made when everything stops. */
		while (!ahead->stops && !ahead->is_over && ahead->count + 1 == BUNDLES)
			pthread_cond_wait(&ahead->room, &ahead->mutex);
	}
	pthread_cond_signal(&ahead->ready);
	pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

struct km_perfdata_ahead *km_perfdata_ahead_new(km_perfdata_produce *produce, void *context)
{
	struct km_perfdata_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return NULL;
	ahead->produce = produce;
	ahead->context = context;
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->ready, NULL);
	pthread_cond_init(&ahead->room, NULL);
	ahead->has_thread = !pthread_create(&ahead->thread, NULL, run, ahead);
	return ahead;
}

int km_perfdata_ahead_next(struct km_perfdata_ahead *ahead, struct km_perfdata_bundle **ret_bundle,
			   struct km_error *error)
{
	int r = 1;

	*ret_bundle = NULL;
	pthread_mutex_lock(&ahead->mutex);
	ahead->events_count -= ahead->reading_count;
	ahead->reading_count = 0;
	pthread_cond_signal(&ahead->room);
	while (ahead->has_thread && !ahead->count && !ahead->is_over)
		pthread_cond_wait(&ahead->ready, &ahead->mutex);
	if (ahead->count) {
		*ret_bundle = ahead->bundles[ahead->first];
		ahead->first = (ahead->first + 1) % BUNDLES;
		ahead->count--;
		ahead->reading_count = km_perfdata_bundle_count(*ret_bundle);
		pthread_cond_signal(&ahead->room);
	} else if (ahead->is_over) {
		r = ahead->code < 0 ? km_error_set(error, ahead->code, "%s", ahead->error.text) : 0;
	} else {
		r = ahead->produce(ahead->context, ret_bundle, error);
	}
	pthread_mutex_unlock(&ahead->mutex);
	return r;
}

void km_perfdata_ahead_stop(struct km_perfdata_ahead *ahead)
{
	if (!ahead->has_thread)
		return;
	pthread_mutex_lock(&ahead->mutex);
	ahead->stops = true;
	pthread_cond_signal(&ahead->room);
	pthread_mutex_unlock(&ahead->mutex);
	pthread_join(ahead->thread, NULL);
	ahead->has_thread = false;
}

void km_perfdata_ahead_free(struct km_perfdata_ahead *ahead)
{
	if (!ahead)
		return;
	km_perfdata_ahead_stop(ahead);
	for (; ahead->count; ahead->count--) {
		km_perfdata_bundle_free(ahead->bundles[ahead->first]);
		ahead->first = (ahead->first + 1) % BUNDLES;
	}
	pthread_cond_destroy(&ahead->ready);
	pthread_cond_destroy(&ahead->room);
	pthread_mutex_destroy(&ahead->mutex);
	free(ahead);
}
