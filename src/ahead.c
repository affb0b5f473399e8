/* SPDX-License-Identifier: GPL-2.0-only */
/*
 *                      lane 0: [in use] [ready] [ready]
 *   workers -- wanted --> lane 1: [in use] [ready] [   ] <- being filled    --> merge
 *                      lane 2: [in use] [     ] [   ]
 *
 * A lane with room for a batch that nobody fills is in the list `wanted`. A
 * worker takes the first lane of it, fills one batch without the mutex, and
 * puts the lane back if there is room for more. Everything in struct lane is
 * guarded by the mutex, but the batch being filled, which is the filler's
 * (lane->busy), and the batch in use, which is the consumer's.
 */
#include "ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BATCHES      3 /* of a lane: one in use, the others ready or being filled */
#define THREADS_MOST 64

struct batch {
	struct km_event *events;
	size_t count;
};

struct lane {
	struct km_merge_stream head; /* first: refill() gets a pointer to it */
	struct km_ahead *ahead;
	struct km_ahead_producer producer;
	struct batch batches[BATCHES];
	unsigned in_use; /* index of the consumer's batch; those behind it are ready */
	unsigned ready;
	bool busy;      /* somebody fills the batch behind the ready ones */
	bool is_wanted; /* in the list */
	bool finished;  /* the producer has no more */
	int code;       /* its error, 0 for none */
	struct km_error error;
	struct lane *next_wanted;
};

struct km_ahead {
	struct lane *lanes;
	struct km_merge_stream **streams;
	size_t lanes_count;
	size_t capacity;
	pthread_mutex_t mutex;
	pthread_cond_t work; /* there is a wanted lane, or it is time to stop */
	pthread_cond_t done; /* a batch was filled */
	struct lane *first_wanted, **last_wanted;
	bool stops;
	bool has_threads;
	unsigned threads_count; /* the consumer's own business */
	pthread_t threads[THREADS_MOST];
};

static struct batch *batch_to_fill(struct lane *lane)
{
	return &lane->batches[(lane->in_use + 1 + lane->ready) % BATCHES];
}

static bool has_room(const struct lane *lane)
{
	return !lane->finished && !lane->busy && lane->ready < BATCHES - 1;
}

static void want(struct km_ahead *ahead, struct lane *lane)
{
	if (lane->is_wanted || !has_room(lane))
		return;
	lane->is_wanted = true;
	lane->next_wanted = NULL;
	*ahead->last_wanted = lane;
	ahead->last_wanted = &lane->next_wanted;
	pthread_cond_signal(&ahead->work);
}

/* The first wanted lane that can still be filled, out of the list; NULL if there is none. */
static struct lane *next_wanted(struct km_ahead *ahead)
{
	while (ahead->first_wanted) {
		struct lane *lane = ahead->first_wanted;

		ahead->first_wanted = lane->next_wanted;
		if (!ahead->first_wanted)
			ahead->last_wanted = &ahead->first_wanted;
		lane->is_wanted = false;
		if (has_room(lane))
			return lane;
	}
	return NULL;
}

/* Fill one batch of a lane that has room. The mutex is held on entry and on return, not in between. */
static void fill(struct km_ahead *ahead, struct lane *lane)
{
	struct batch *batch = batch_to_fill(lane);
	struct km_error error = { 0 };
	size_t count = 0;
	int code;

	lane->busy = true;
	pthread_mutex_unlock(&ahead->mutex);
	code = lane->producer.produce(lane->producer.context, batch->events, ahead->capacity, &count, &error);
	pthread_mutex_lock(&ahead->mutex);
	lane->busy = false;
	batch->count = code < 0 ? 0 : count;
	if (batch->count)
		lane->ready++;
	if (code <= 0) {
		lane->finished = true;
		lane->code = code;
		lane->error = error;
	}
	if (ahead->has_threads)
		want(ahead, lane);
}

static void *worker(void *context)
{
	struct km_ahead *ahead = context;

	pthread_mutex_lock(&ahead->mutex);
	while (!ahead->stops) {
		struct lane *lane = next_wanted(ahead);

		if (lane) {
			fill(ahead, lane);
			pthread_cond_signal(&ahead->done);
		} else {
			pthread_cond_wait(&ahead->work, &ahead->mutex);
		}
	}
	pthread_mutex_unlock(&ahead->mutex);
	return NULL;
}

/* The consumer: the next batch of its lane; while there is none it fills one, of another lane if need be. */
static int refill(struct km_merge_stream *head, struct km_error *error)
{
	struct lane *lane = (struct lane *)head;
	struct km_ahead *ahead = lane->ahead;
	int code = 0;

	pthread_mutex_lock(&ahead->mutex);
	while (!lane->ready && !lane->finished) {
		struct lane *other = has_room(lane) ? lane : next_wanted(ahead);

		if (other)
			fill(ahead, other);
		else
			pthread_cond_wait(&ahead->done, &ahead->mutex);
	}
	if (lane->ready) {
		lane->in_use = (lane->in_use + 1) % BATCHES;
		lane->ready--;
		head->events = lane->batches[lane->in_use].events;
		head->count = lane->batches[lane->in_use].count;
		head->at = 0;
		code = 1;
		if (ahead->has_threads)
			want(ahead, lane);
	} else if (lane->code < 0) {
		code = km_error_set(error, lane->code, "%s", lane->error.text);
	}
	pthread_mutex_unlock(&ahead->mutex);
	return code;
}

int km_ahead_new(const struct km_ahead_producer *producers, size_t count, unsigned threads, size_t capacity,
		 struct km_ahead **ret_ahead, struct km_error *error)
{
	struct km_ahead *ahead = calloc(1, sizeof(*ahead));

	if (!ahead)
		return km_error_set(error, -ENOMEM, "out of memory");
	pthread_mutex_init(&ahead->mutex, NULL);
	pthread_cond_init(&ahead->work, NULL);
	pthread_cond_init(&ahead->done, NULL);
	ahead->last_wanted = &ahead->first_wanted;
	ahead->capacity = capacity;
	ahead->lanes = calloc(count ? count : 1, sizeof(*ahead->lanes));
	ahead->streams = calloc(count ? count : 1, sizeof(struct km_merge_stream *));
	if (!ahead->lanes || !ahead->streams)
		goto no_memory;
	for (size_t i = 0; i < count; i++) {
		struct lane *lane = &ahead->lanes[ahead->lanes_count++];

		lane->ahead = ahead;
		lane->producer = producers[i];
		lane->head.refill = refill;
		ahead->streams[i] = &lane->head;
		for (unsigned b = 0; b < BATCHES; b++) {
			lane->batches[b].events = calloc(capacity, sizeof(struct km_event));
			if (!lane->batches[b].events)
				goto no_memory;
		}
	}
	if (threads > THREADS_MOST)
		threads = THREADS_MOST;
	ahead->has_threads = threads > 1;
	while (ahead->threads_count + 1 < threads && ahead->threads_count < count) {
		if (pthread_create(&ahead->threads[ahead->threads_count], NULL, worker, ahead))
			break;
		ahead->threads_count++;
	}
	if (ahead->has_threads) {
		pthread_mutex_lock(&ahead->mutex);
		for (size_t i = 0; i < count; i++)
			want(ahead, &ahead->lanes[i]);
		pthread_mutex_unlock(&ahead->mutex);
	}
	*ret_ahead = ahead;
	return 0;
no_memory:
	km_ahead_free(ahead);
	return km_error_set(error, -ENOMEM, "out of memory");
}

void km_ahead_stop(struct km_ahead *ahead)
{
	pthread_mutex_lock(&ahead->mutex);
	ahead->stops = true;
	pthread_cond_broadcast(&ahead->work);
	pthread_mutex_unlock(&ahead->mutex);
	for (unsigned i = 0; i < ahead->threads_count; i++)
		pthread_join(ahead->threads[i], NULL);
	ahead->threads_count = 0;
}

void km_ahead_free(struct km_ahead *ahead)
{
	if (!ahead)
		return;
	km_ahead_stop(ahead);
	for (size_t i = 0; i < ahead->lanes_count; i++) {
		for (unsigned b = 0; b < BATCHES; b++)
			free(ahead->lanes[i].batches[b].events);
	}
	free(ahead->lanes);
	free(ahead->streams);
	pthread_cond_destroy(&ahead->done);
	pthread_cond_destroy(&ahead->work);
	pthread_mutex_destroy(&ahead->mutex);
	free(ahead);
}

struct km_merge_stream *const *km_ahead_streams(struct km_ahead *ahead)
{
	return ahead->streams;
}
