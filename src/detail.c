/* SPDX-License-Identifier: GPL-2.0-only */
#include "detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate.h"
#include "tuples.h"

#define TALLIES_LIMIT (1U << 20)

struct km_detail {
	struct km_reader *reader;
	struct km_naming *naming;
	struct km_tuples values[KM_DETAIL_KINDS];
	struct km_tally *tallies[KM_DETAIL_KINDS];
	uint32_t room[KM_DETAIL_KINDS];
	uint64_t free_weight;
};

struct km_detail *km_detail_new(struct km_reader *reader, struct km_naming *naming)
{
	struct km_detail *detail = calloc(1, sizeof(*detail));

	if (!detail)
		return NULL;
	detail->reader = reader;
	detail->naming = naming;
	detail->free_weight = 1;
	for (unsigned i = 0; i < KM_DETAIL_KINDS; i++)
		km_tuples_init(&detail->values[i], 1, TALLIES_LIMIT);
	return detail;
}

void km_detail_free(struct km_detail *detail)
{
	if (!detail)
		return;
	for (unsigned i = 0; i < KM_DETAIL_KINDS; i++) {
		km_tuples_release(&detail->values[i]);
		free(detail->tallies[i]);
	}
	free(detail);
}

void km_detail_set_weight(struct km_detail *detail, uint64_t weight)
{
	detail->free_weight = weight;
}

static int tally(struct km_detail *detail, enum km_detail_kind kind, uint64_t value, uint64_t bytes, uint64_t weight)
{
	bool is_new;
	uint32_t i = km_tuples_add(&detail->values[kind], &value, &is_new);

	if (i == KM_TUPLES_NONE)
		return -ENOMEM;
	if (i >= detail->room[kind]) {
		uint32_t room = detail->room[kind] ? detail->room[kind] * 2 : 64;
		struct km_tally *larger = reallocarray(detail->tallies[kind], room, sizeof(*larger));

		if (!larger)
			return -ENOMEM;
		detail->tallies[kind] = larger;
		detail->room[kind] = room;
	}
	if (is_new)
		detail->tallies[kind][i] = (struct km_tally){ .value = value };
	detail->tallies[kind][i].count += weight;
	detail->tallies[kind][i].bytes += weight * bytes;
	return 0;
}

int km_detail_account(struct km_detail *detail, const struct km_event *event, uint32_t key,
		      const struct km_outcome *outcome)
{
	const char *comm;
	int r;

	if (outcome->kind == KM_OUTCOME_MATCHED && km_key_is_selected(outcome->object.key))
		return tally(detail, KM_DETAIL_FREERS, event->call_site, outcome->object.bytes_alloc,
			     detail->free_weight);
	if (!km_key_is_selected(key) || outcome->kind == KM_OUTCOME_FAILED)
		return 0;
	r = tally(detail, KM_DETAIL_SIZES, event->bytes_req, event->bytes_alloc, 1);
	if (r)
		return r;
	comm = km_naming_keep(detail->naming, km_reader_comm(detail->reader, event->pid));
	return tally(detail, KM_DETAIL_COMMS, (uint64_t)(uintptr_t)comm, event->bytes_alloc, 1);
}

static int compare_counts(const struct km_tally *x, const struct km_tally *y)
{
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const struct km_tally *x = a, *y = b;
	int order = compare_counts(x, y);

	if (order)
		return order;
	return x->value < y->value ? -1 : x->value > y->value;
}

/* Where a name is in memory is nobody's business. */
static int compare_comms(const void *a, const void *b)
{
	const struct km_tally *x = a, *y = b;
	int order = compare_counts(x, y);

	return order ? order : strcmp((const char *)(uintptr_t)x->value, (const char *)(uintptr_t)y->value);
}

const struct km_tally *km_detail_tallies(struct km_detail *detail, enum km_detail_kind kind, size_t *ret_count)
{
	*ret_count = detail->values[kind].count;
	if (*ret_count)
		qsort(detail->tallies[kind], *ret_count, sizeof(struct km_tally),
		      kind == KM_DETAIL_COMMS ? compare_comms : compare_values);
	return detail->tallies[kind];
}
