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
#include "run_rows.h"

#define SECTIONS_LIMIT 48

struct document_state {
	struct km_section sections[SECTIONS_LIMIT];
	size_t sections_count;
	struct km_record *records[SECTIONS_LIMIT];
	size_t records_count;
	struct km_rows *rows[3];
	size_t rows_count;
	struct km_run_rows *run_rows[3];
	size_t run_rows_count;
	struct km_objects *objects[2];
	size_t objects_count;
	struct leak_rows *leaks[1]; /* owned */
	size_t leaks_count;
	struct timeline_view *timelines[2]; /* owned */
	size_t timelines_count;
	void *counts; /* owned: names that columns of info point to; the rows of compare */
	char notes[8][160];
	size_t notes_count;
	const struct km_analysis *sized; /* the report's own object tells what size would do; NULL: it does not */
	const struct km_analysis *timed; /* likewise how many points a timeline has */
	const char *verdict;             /* of rules; NULL: there are none */
	bool truncated;                  /* a limit cut rows */
	bool failed;                     /* out of memory */
};

/* document.c */
/* The first and the last step of each document. code is what came between: it is returned, or what failed. */
int km_document_begin(struct km_document *document, const char *schema, struct document_state **ret_state,
		      struct km_error *error);
int km_document_finish(struct km_document *document, int code, struct km_error *error);
/* NULL when there are too many. */
struct km_section *km_document_add_section(struct document_state *state, struct km_section section);
/* How many rows of a table are wanted. */
size_t km_document_limit(const struct km_document_options *options, size_t people_default);
/* "20 of 213 shown" */
void km_document_note_cut(struct document_state *state, struct km_section *section, size_t shown, size_t total);
void km_document_add_by(struct document_state *state, const struct km_by_list *by);
/* The report's own object, in front of all: to be called when the tables are made. NULL: no such key. */
void km_document_put_head(struct document_state *state, const char *domain, const char *sites_by);
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

/* document_gate.c: rules and suppressions, if there are any; nothing without options->gates. */
void km_document_add_rules(struct document_state *state, const struct km_document_options *options);
/* One number as a whole one, or with decimals (all rows of a record alike). */
void km_document_number(struct km_record *record, const char *name, bool is_whole, bool is_null, long double value);
/* The same for people, every digit of a whole one. In KM_FORMAT_BYTES. */
const char *km_document_exact(char *buffer, bool is_whole, long double value);

/* document_trace.c: trace, sources, filters, health, overflow for machines. */
void km_document_trace_fields(struct km_record *record, struct km_reader *reader, const struct km_buffer_info *buffer,
			      const struct km_buffer_stats *stats);
void km_document_add_filters(struct document_state *state, const struct km_filter *filter);
void km_document_add_health(struct document_state *state, const struct km_analysis *analysis);
void km_document_add_overflow(struct document_state *state, const struct km_analysis *analysis);

/* document_text.c: for people. */
/* A labelled line: of a section of shape LINES. */
void km_document_line(struct km_record *record, const char *label, const char *text);
const char *km_document_live_words(enum km_live_is is);
void km_document_add_summary(struct document_state *state, const struct km_analysis *analysis);
void km_document_add_lifetimes(struct document_state *state, const struct km_analysis *analysis);
void km_document_add_health_text(struct document_state *state, const struct km_analysis *analysis, unsigned verbose);

/* A duration in the buffer's unit; text has KM_FORMAT_BYTES. */
const char *km_document_time_text(const struct km_buffer_info *buffer, uint64_t value, char *text);

/*
 * document_leaks.c: the first `count` rows of km_leaks_rows(); why they are
 * what they are; how many are leaks or never freed; these for `report`. NULL
 * when out of memory: the document has failed then.
 */
struct km_section *km_document_add_leaks(struct document_state *state, const struct km_analysis *analysis,
					 bool has_utf8, size_t count);
void km_document_add_reasons(struct document_state *state, const struct km_analysis *analysis, size_t count);
size_t km_document_count_suspects(const struct km_analysis *analysis);
void km_document_add_suspects(struct document_state *state, const struct km_analysis *analysis, bool has_utf8);
/* document_size.c */
void km_document_size_fields(struct km_record *record, const struct km_analysis *analysis);
void km_document_add_sizes(struct document_state *state, const struct km_analysis *analysis);

/* document_timeline.c: a chart or the points, and the rows. Errors: -EINVAL (sort, fields), -ENOMEM. */
int km_document_add_timeline(struct km_document *document, const struct km_analysis *analysis,
			     const struct km_document_options *options, struct km_error *error);
void km_document_timeline_fields(struct km_record *record, const struct km_analysis *analysis);
void km_document_free_timeline(struct timeline_view *view);

/* document_slabinfo.c: the analysis has a balance */
void km_document_add_slabinfo(struct document_state *state, const struct km_analysis *analysis,
			      const struct km_document_options *options);

/* document_info.c */
int km_document_fill_info(struct document_state *state, struct km_reader *reader, bool for_people,
			  struct km_error *error);

#endif
