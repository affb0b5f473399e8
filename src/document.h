/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * document: the reports of kmstat, as sections for the writers: which
 * tables, records and texts make up each command's output. It reads
 * an analysis; it neither counts nor writes.
 */
#ifndef KM_DOCUMENT_H
#define KM_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis.h"
#include "error.h"
#include "report.h"
#include "rows.h"

struct km_compare;
struct km_gate_outcomes;
struct km_run;
struct km_suppressions;

struct km_document_options {
	unsigned audience;          /* one of enum km_audience: sections for others are not made */
	const struct km_sort *sort; /* of the main table; NULL: its default */
	bool has_limit;
	size_t limit;       /* rows of each table; 0: no limit */
	const char *fields; /* of the main table; NULL: the defaults */
	unsigned verbose;   /* people: more health */
	/* What came of rules, and what was suppressed; borrowed until the document is released. NULL: no rules. */
	const struct km_gate_outcomes *gates;
	const struct km_suppressions *suppressions;
	bool has_utf8;    /* people: their terminal shows more than ASCII */
	unsigned columns; /* people: how wide it is; 0: not known */
	bool is_csv;      /* machines: the main table is written alone */
};

struct km_document {
	struct km_report report;
	struct km_fields fields;
	void *state; /* owned: what the sections' rows come from */
};

/* An analysis is borrowed until the document is released. Errors: -EINVAL (sort, fields), -ENOMEM. */
int km_document_report(struct km_document *document, const struct km_analysis *analysis,
		       const struct km_document_options *options, struct km_error *error);
int km_document_objects(struct km_document *document, const struct km_analysis *analysis,
			const struct km_document_options *options, struct km_error *error);
/* The comparison is borrowed until the document is released. */
int km_document_compare(struct km_document *document, const struct km_compare *compare,
			const struct km_document_options *options, struct km_error *error);
/* The analysis has leaks. */
int km_document_leaks(struct km_document *document, const struct km_analysis *analysis,
		      const struct km_document_options *options, struct km_error *error);
/* The columns of its candidates, for --fields help. */
size_t km_document_describe_leaks(struct km_column *columns, size_t limit);
/* The analysis has a timeline. */
int km_document_timeline(struct km_document *document, const struct km_analysis *analysis,
			 const struct km_document_options *options, struct km_error *error);
/* The columns of its main table, for --fields help: of CSV or the others, with or without --by. */
size_t km_document_describe_timeline(bool is_csv, bool is_by, struct km_column *columns, size_t limit);
/* The analysis has sizes. */
int km_document_size(struct km_document *document, const struct km_analysis *analysis,
		     const struct km_document_options *options, struct km_error *error);
/* The whole file: reads every buffer through. The reader was opened with only_counts. */
int km_document_info(struct km_document *document, struct km_reader *reader, const struct km_document_options *options,
		     struct km_error *error);
/* A run as a report, with the keys of km_document_report(); sort and fields are not looked at. */
int km_document_run(struct km_document *document, const struct km_run *run, const struct km_document_options *options,
		    struct km_error *error);
void km_document_release(struct km_document *document);

#endif
