/* SPDX-License-Identifier: GPL-2.0-only */
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct km_record {
	struct km_column *columns;
	size_t columns_count, columns_room;
	struct km_cell *cells; /* row after row; texts and histograms are owned */
	size_t cells_count, cells_room;
	size_t rows_count; /* complete ones */
	size_t row_cells;  /* cells of the row at hand */
	size_t at;
	bool failed;
};

struct km_record *km_record_new(void)
{
	return calloc(1, sizeof(struct km_record));
}

static enum km_type type_of(const struct km_record *record, size_t cell)
{
	return record->columns[cell % record->columns_count].type;
}

void km_record_free(struct km_record *record)
{
	if (!record)
		return;
	for (size_t i = 0; i < record->cells_count; i++) {
		if (record->cells[i].is_null)
			continue;
		if (type_of(record, i) == KM_TYPE_STRING) {
			free((char *)(uintptr_t)record->cells[i].text);
		} else if (type_of(record, i) == KM_TYPE_HISTOGRAM) {
			struct km_histogram *histogram = (struct km_histogram *)(uintptr_t)record->cells[i].histogram;

			km_histogram_release(histogram);
			free(histogram);
		}
	}
	free(record->columns);
	free(record->cells);
	free(record);
}

static bool make_room(void *array, size_t *room, size_t count, size_t item)
{
	size_t wanted = *room ? *room * 2 : 16;
	void *old, *larger;

	if (count < *room)
		return true;
	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, wanted, item);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof(larger));
	*room = wanted;
	return true;
}

/* Takes over what the cell points to, also on failure. */
static void add(struct km_record *record, const char *name, enum km_type type, struct km_cell cell)
{
	if (record->failed)
		goto drop;
	if (record->rows_count == 0) {
		if (!make_room(&record->columns, &record->columns_room, record->columns_count,
			       sizeof(struct km_column)))
			goto fail;
		record->columns[record->columns_count++] = (struct km_column){ .name = name, .type = type };
	} else if (record->row_cells == record->columns_count || record->columns[record->row_cells].type != type) {
		goto fail; /* see km_record_end_row(); what the cells are is told by the columns */
	}
	if (!make_room(&record->cells, &record->cells_room, record->cells_count, sizeof(struct km_cell)))
		goto fail;
	record->cells[record->cells_count++] = cell;
	record->row_cells++;
	return;
fail:
	record->failed = true;
drop:
	if (type == KM_TYPE_STRING && !cell.is_null)
		free((char *)(uintptr_t)cell.text);
	if (type == KM_TYPE_HISTOGRAM && !cell.is_null) {
		km_histogram_release((struct km_histogram *)(uintptr_t)cell.histogram);
		free((struct km_histogram *)(uintptr_t)cell.histogram);
	}
}

void km_record_text(struct km_record *record, const char *name, const char *text)
{
	struct km_cell cell = { .is_null = !text };

	if (text) {
		cell.text = strdup(text);
		if (!cell.text) {
			record->failed = true;
			return;
		}
	}
	add(record, name, KM_TYPE_STRING, cell);
}

void km_record_number(struct km_record *record, const char *name, enum km_type type, uint64_t value)
{
	add(record, name, type, (struct km_cell){ .number = value });
}

void km_record_real(struct km_record *record, const char *name, enum km_type type, double value)
{
	add(record, name, type, (struct km_cell){ .ratio = value });
}

void km_record_integer(struct km_record *record, const char *name, int64_t value)
{
	add(record, name, KM_TYPE_INTEGER, (struct km_cell){ .integer = value });
}

void km_record_flag(struct km_record *record, const char *name, bool flag)
{
	add(record, name, KM_TYPE_BOOL, (struct km_cell){ .flag = flag });
}

void km_record_null(struct km_record *record, const char *name, enum km_type type)
{
	add(record, name, type, (struct km_cell){ .is_null = true });
}

void km_record_histogram(struct km_record *record, const char *name, const struct km_histogram *histogram)
{
	struct km_histogram *copy = calloc(1, sizeof(*copy));

	if (!copy || km_histogram_merge(copy, histogram)) {
		free(copy);
		record->failed = true;
		return;
	}
	add(record, name, KM_TYPE_HISTOGRAM, (struct km_cell){ .histogram = copy });
}

void km_record_title(struct km_record *record, const char *title, unsigned flags)
{
	if (record->failed || record->rows_count)
		return;
	record->columns[record->columns_count - 1].title = title;
	record->columns[record->columns_count - 1].flags = flags;
}

void km_record_end_row(struct km_record *record)
{
	if (record->row_cells != record->columns_count)
		record->failed = true;
	record->row_cells = 0;
	record->rows_count++;
}

static int next(void *state, struct km_cell *cells, struct km_error *error)
{
	struct km_record *record = state;

	(void)error;
	if (record->at == record->rows_count)
		return 0;
	if (record->columns_count)
		memcpy(cells, record->cells + record->at * record->columns_count,
		       record->columns_count * sizeof(*cells));
	record->at++;
	return 1;
}

int km_record_section(struct km_record *record, const char *path, const char *title, enum km_shape shape,
		      unsigned audience, struct km_section *ret_section, struct km_error *error)
{
	if (record->failed)
		return km_error_set(error, -ENOMEM, "out of memory");
	record->at = 0;
	*ret_section = (struct km_section){ .path = path,
					    .title = title,
					    .shape = shape,
					    .audience = audience,
					    .columns = record->columns,
					    .columns_count = record->columns_count,
					    .next = next,
					    .state = record };
	return 0;
}
