/* SPDX-License-Identifier: GPL-2.0-only */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "format.h"
#include "progress.h"

#define NS_PER_S      UINT64_C(1000000000)
#define FIRST_NS      NS_PER_S
#define INTERVAL_NS   (NS_PER_S / 5)
#define TEXT_BYTES    256
#define WIDTH_DEFAULT 80

struct progress {
	const struct km_reader *reader;
	uint64_t start_ns;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool stops; /* under the mutex */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* 31.2M, 870K: a rate is in thousands of 1000. */
static void format_rate(char *text, size_t bytes, double per_second)
{
	if (per_second >= 1e6)
		snprintf(text, bytes, "%.1fM", per_second / 1e6);
	else if (per_second >= 1e3)
		snprintf(text, bytes, "%.0fK", per_second / 1e3);
	else
		snprintf(text, bytes, "%.0f", per_second);
}

void progress_text(const struct km_reader_progress *at, uint64_t elapsed_ns, unsigned width, char *text, size_t bytes)
{
	char done[KM_FORMAT_BYTES], total[KM_FORMAT_BYTES], left[KM_FORMAT_BYTES], rate[32];
	/* What is read twice is counted twice. */
	uint64_t read = at->total_bytes && at->bytes > at->total_bytes ? at->total_bytes : at->bytes;
	double seconds = (double)elapsed_ns / (double)NS_PER_S;
	int n;

	if (at->total_bytes) {
		n = snprintf(text, bytes, "%u%%, %s of %s", (unsigned)(100.0 * (double)read / (double)at->total_bytes),
			     km_format_bytes(done, read), km_format_bytes(total, at->total_bytes));
	} else {
		n = snprintf(text, bytes, "%s", km_format_bytes(done, read));
	}
	if (at->events_count && seconds > 0 && n >= 0 && (size_t)n < bytes) {
		format_rate(rate, sizeof(rate), (double)at->events_count / seconds);
		n += snprintf(text + n, bytes - (size_t)n, ", %s events/s", rate);
	}
	if (at->total_bytes && read && n >= 0 && (size_t)n < bytes) {
		double ns = (double)elapsed_ns * (double)(at->total_bytes - read) / (double)read;

		/* To the second: more would only flicker. */
		snprintf(text + n, bytes - (size_t)n, ", %s left",
			 ns < (double)NS_PER_S ? "1s" : km_format_duration(left, (uint64_t)(ns / 1e9) * NS_PER_S));
	}
	if (width < bytes)
		text[width] = '\0';
}

static void show(const struct progress *p)
{
	struct km_reader_progress at = km_reader_progress(p->reader);
	unsigned width = WIDTH_DEFAULT;
	char text[TEXT_BYTES];
	struct winsize size;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	/* The last column would wrap the line on some terminals. */
	progress_text(&at, now_ns() - p->start_ns, width - 1, text, sizeof(text));
	fprintf(stderr, "\r%s\033[K", text);
	fflush(stderr);
}

static void *run(void *context)
{
	struct progress *p = context;
	uint64_t next_ns = p->start_ns + FIRST_NS;
	bool is_shown = false;

	pthread_mutex_lock(&p->mutex);
	while (!p->stops) {
		struct timespec until = { .tv_sec = (time_t)(next_ns / NS_PER_S),
					  .tv_nsec = (long)(next_ns % NS_PER_S) };

		if (!pthread_cond_timedwait(&p->wake, &p->mutex, &until) || p->stops || now_ns() < next_ns)
			continue;
		show(p);
		is_shown = true;
		next_ns = now_ns() + INTERVAL_NS;
	}
	pthread_mutex_unlock(&p->mutex);
	if (is_shown) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	return NULL;
}

static bool somebody_looks(void)
{
	const char *term = getenv("TERM");

	if (!isatty(STDERR_FILENO) || (term && !strcmp(term, "dumb")))
		return false;
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

struct progress *progress_start(const struct km_reader *reader, bool quiet)
{
	struct progress *p = quiet || !somebody_looks() ? NULL : calloc(1, sizeof(*p));
	pthread_condattr_t attributes;

	if (!p)
		return NULL;
	p->reader = reader;
	p->start_ns = now_ns();
	pthread_mutex_init(&p->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!pthread_create(&p->thread, NULL, run, p))
		return p;
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->mutex);
	free(p);
	return NULL;
}

void progress_stop(struct progress *progress)
{
	if (!progress)
		return;
	pthread_mutex_lock(&progress->mutex);
	progress->stops = true;
	pthread_cond_signal(&progress->wake);
	pthread_mutex_unlock(&progress->mutex);
	pthread_join(progress->thread, NULL);
	pthread_cond_destroy(&progress->wake);
	pthread_mutex_destroy(&progress->mutex);
	free(progress);
}
