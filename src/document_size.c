/* SPDX-License-Identifier: GPL-2.0-only */
/* What tables of other sizes would have seen: the section of `size`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "document_private.h"

void km_document_size_fields(struct km_record *record, const struct km_analysis *an)
{
	uint64_t peak = km_replay_true_peak_count(an->replay), count = km_replay_recommended_count(an->replay);

	km_record_number(record, "peak_count", KM_TYPE_COUNT, peak);
	km_record_number(record, "recommended_count", KM_TYPE_COUNT, count);
	km_record_number(record, "recommended_memory_bytes", KM_TYPE_BYTES, km_replay_hash_bytes(count));
	if (peak)
		km_record_real(record, "headroom_ratio", KM_TYPE_RATIO, (double)(count - peak) / (double)peak);
	else
		km_record_null(record, "headroom_ratio", KM_TYPE_RATIO);
}

static void add_error(struct km_record *record, const struct km_size *size, const char *name, double error,
		      const char *title, unsigned flags)
{
	if (size->error_is_known)
		km_record_real(record, name, KM_TYPE_RATIO, error);
	else
		km_record_null(record, name, KM_TYPE_RATIO);
	km_record_title(record, title, flags);
}

static void add_size(struct km_record *record, const struct km_size *size, bool is_recommended)
{
	char kept[32];

	snprintf(kept, sizeof(kept), "1/%" PRIu64, UINT64_C(1) << size->sample_k);
	km_record_number(record, "capacity_count", KM_TYPE_COUNT, size->capacity);
	km_record_title(record, "objects", 0);
	km_record_number(record, "memory_bytes", KM_TYPE_BYTES, size->memory_bytes);
	km_record_title(record, "memory", 0);
	km_record_number(record, "drop.overflowed_count", KM_TYPE_COUNT, size->overflowed_count);
	km_record_title(record, "dropped", 0);
	km_record_number(record, "drop.overflowed_bytes", KM_TYPE_BYTES, size->overflowed_bytes);
	km_record_title(record, "bytes", 0);
	km_record_real(record, "drop.tracked_ratio", KM_TYPE_RATIO, size->tracked_ratio);
	km_record_title(record, "tracked", 0);
	add_error(record, size, "drop.live_bytes_error_ratio", size->drop_error, "drop error", 0);
	add_error(record, size, "drop.live_bytes_total_error_ratio", size->drop_total_error, "drop total",
		  KM_COLUMN_MACHINE);
	km_record_real(record, "sample.rate", KM_TYPE_RATIO, ldexp(1, -(int)size->sample_k));
	km_record_title(record, "rate", KM_COLUMN_MACHINE);
	km_record_number(record, "sample.halvings_count", KM_TYPE_COUNT, size->sample_k);
	km_record_title(record, "halvings", KM_COLUMN_MACHINE);
	km_record_text(record, "kept", kept);
	km_record_title(record, "sampled", KM_COLUMN_PEOPLE);
	add_error(record, size, "sample.live_bytes_error_ratio", size->sample_error, "sample error", 0);
	add_error(record, size, "sample.live_bytes_total_error_ratio", size->sample_total_error, "in total", 0);
	km_record_text(record, "mark", is_recommended ? "<- recommended" : "");
	km_record_title(record, "", KM_COLUMN_PEOPLE);
	km_record_end_row(record);
}

void km_document_add_sizes(struct document_state *state, const struct km_analysis *an)
{
	uint64_t recommended = km_replay_recommended_count(an->replay);
	struct km_record *record = km_document_record(state);
	struct km_size sizes[KM_SIZES_LIMIT];
	size_t count = km_sizes_get(an->sizes, recommended, sizes);

	if (!record)
		return;
	for (size_t i = 0; i < count; i++)
		add_size(record, &sizes[i], sizes[i].capacity == recommended);
	km_document_add(state, record, "sizes", "Tables of other sizes", KM_SHAPE_ROWS,
			KM_FOR_PEOPLE | KM_FOR_MACHINES);
	if (state->sections_count)
		state->sections[state->sections_count - 1].is_primary = true;
}
