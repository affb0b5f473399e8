/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * document_private: what document*.c share: a list of sections and of what
 * they come from. Nobody else includes it.
 */
#ifndef KM_DOCUMENT_PRIVATE_H
#define KM_DOCUMENT_PRIVATE_H

#include "document.h"
#include "objects.h"
#include "record.h"

#define SECTIONS_LIMIT 48

struct document_state {
	struct km_section sections[SECTIONS_LIMIT];
	size_t sections_count;
	struct km_record *records[SECTIONS_LIMIT];
	size_t records_count;
	struct km_rows *rows[3];
	size_t rows_count;
	struct km_objects *objects[2];
	size_t objects_count;
	void *counts; /* owned: names that columns of info point to */
	char notes[8][160];
	size_t notes_count;
	bool truncated; /* a limit cut rows */
	bool failed;    /* out of memory */
};

/* document.c */
struct km_record *km_document_record(struct document_state *state);
/* Appends the record's section. title NULL for none. */
void km_document_add(struct document_state *state, struct km_record *record, const char *path, const char *title,
		     enum km_shape shape, unsigned audience);
/* A formatted note that lives as long as the document; NULL when there are too many. */
const char *km_document_note(struct document_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* One time as name_ns, or null and name_ticks where the clock is not in ns. */
void km_document_time(struct km_record *record, const struct km_buffer_info *buffer, const char *name_ns,
		      const char *name_ticks, uint64_t value, bool is_null);

/* document_trace.c: trace, sources, filters, health, overflow for machines. */
void km_document_trace_fields(struct km_record *record, struct km_reader *reader, const struct km_buffer_info *buffer,
			      const struct km_buffer_stats *stats);
void km_document_add_filters(struct document_state *state, const struct km_filter *filter);
void km_document_add_health(struct document_state *state, const struct km_analysis *analysis);
void km_document_add_overflow(struct document_state *state, const struct km_analysis *analysis);

/* document_text.c: for people. */
void km_document_add_summary(struct document_state *state, const struct km_analysis *analysis);
void km_document_add_lifetimes(struct document_state *state, const struct km_analysis *analysis);
void km_document_add_health_text(struct document_state *state, const struct km_analysis *analysis, unsigned verbose);

/* document_info.c */
int km_document_fill_info(struct document_state *state, struct km_reader *reader, bool for_people,
			  struct km_error *error);

#endif
