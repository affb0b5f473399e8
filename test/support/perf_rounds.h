/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_rounds: a stream of events as perf record would write it, and in what
 * order it has to come out of a reader.
 */
#ifndef KM_PERF_ROUNDS_H
#define KM_PERF_ROUNDS_H

#include "perf_writer.h"
#include "reader.h"

/*
 * As perf record would: each round takes CPU 0's ring, then CPU 1's ...; what
 * came on a CPU behind its turn is in the next round.
 */
void km_perf_rounds_put(struct pw *pw, const struct km_event *events, size_t count, unsigned cpus, size_t round);
/* Into the order of the reader, ties flagged. */
void km_perf_rounds_expect(struct km_event *events, size_t count);
/* Fails the test where an event is not the one expected; cache is one more than the stream's number of it. */
void km_perf_rounds_compare(const struct km_reader *reader, const struct km_event *got, const struct km_event *e);

#endif
