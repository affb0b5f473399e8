/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JUnit XML as CI systems read it (the common part of what Jenkins, GitLab
 * and GitHub's actions take): one test suite, whose tests are the rows of the
 * section "rules" by their columns rule, result, value, limit and cause. What
 * failed is a failure, what is neither passed nor failed an error.
 */
#include "output.h"

#include <errno.h>
#include <string.h>

#include "format.h"
#include "output_writer.h"

struct rule {
	const struct km_column *columns;
	const struct km_cell *cells;
	size_t count;
};

/* A cell by its column's name; NULL: null, or there is none. */
static const struct km_cell *find(const struct rule *rule, const char *name, const struct km_column **ret_column)
{
	for (size_t i = 0; i < rule->count; i++) {
		if (strcmp(rule->columns[i].name, name) != 0)
			continue;
		*ret_column = &rule->columns[i];
		return km_output_cell_is_null(*ret_column, &rule->cells[i]) ? NULL : &rule->cells[i];
	}
	return NULL;
}

/* As text of XML 1.0: valid UTF-8 without control characters, markup escaped. */
static int add_escaped(struct km_output_text *out, const char *text)
{
	struct km_output_text clean = { 0 };
	int code = km_output_text_add_utf8(&clean, text);

	for (const char *p = clean.data; !code && *p; p++) {
		const char *with = *p == '&'                               ? "&amp;"
				   : *p == '<'                             ? "&lt;"
				   : *p == '>'                             ? "&gt;"
				   : *p == '"'                             ? "&quot;"
				   : (unsigned char)*p < ' ' || *p == 0x7f ? " "
				   : (unsigned char)*p == 0xef && p[1] == '\xbf' && /* U+FFFE, U+FFFF */
						   ((unsigned char)p[2] & 0xfe) == 0xbe
					   ? "?"
					   : NULL;

		code = km_output_text_add(out, with ? with : p, with ? strlen(with) : 1);
		if (with && *with == '?')
			p += 2;
	}
	km_output_text_release(&clean);
	return code;
}

static int add(struct km_output_text *out, const char *text)
{
	return km_output_text_add(out, text, strlen(text));
}

static int add_value(struct km_output_text *out, const struct rule *rule, const char *name)
{
	const struct km_column *column;
	const struct km_cell *cell = find(rule, name, &column);
	char number[KM_FORMAT_BYTES];

	if (!cell)
		return add(out, "none");
	if (column->type == KM_TYPE_STRING)
		return add_escaped(out, cell->text);
	return add_escaped(out, km_output_number(number, column, cell));
}

static int add_case(struct km_output_text *out, const struct rule *rule, const char *schema, bool failed,
		    bool undecided)
{
	const char *element = failed ? "failure" : "error";
	const struct km_column *column;
	bool has_cause = find(rule, "cause", &column) != NULL;
	int code = add(out, "    <testcase classname=\"") || add_escaped(out, schema) || add(out, "\" name=\"") ||
		   add_value(out, rule, "rule");

	if (!code && !failed && !undecided)
		code = has_cause ? add(out, "\">\n      <system-out>") || add_value(out, rule, "cause") ||
					   add(out, "</system-out>\n    </testcase>\n")
				 : add(out, "\"/>\n");
	else if (!code)
		code = add(out, "\">\n      <") || add(out, element) || add(out, " message=\"value ") ||
		       add_value(out, rule, "value") || add(out, ", limit ") || add_value(out, rule, "limit") ||
		       (has_cause ? add(out, ": ") || add_value(out, rule, "cause") : 0) || add(out, "\" type=\"") ||
		       add_value(out, rule, "result") || add(out, "\"/>\n    </testcase>\n");
	return code;
}

static const struct km_section *find_rules(const struct km_report *report)
{
	for (size_t i = 0; i < report->sections_count; i++) {
		const struct km_section *section = &report->sections[i];

		if (section->audience & KM_FOR_MACHINES && !strcmp(section->path, "rules"))
			return section;
	}
	return NULL;
}

int km_output_junit(FILE *stream, const struct km_report *report, struct km_error *error)
{
	const struct km_section *section = find_rules(report);
	size_t tests = 0, failures = 0, errors = 0;
	struct km_output_text cases = { 0 };
	struct km_output_rows rows;
	int code, more;

	if (!section)
		return km_error_set(error, -EINVAL, "this report has no rules that could be written as tests");
	code = km_output_rows_open(&rows, section, NULL, 0, false, error);
	if (code < 0)
		return code;
	/* The suite's head tells how many there are: their text waits. Rules are few. */
	while ((more = km_output_rows_next(&rows, error)) > 0) {
		struct rule rule = { section->columns, rows.cells, section->columns_count };
		const struct km_column *column;
		const struct km_cell *result = find(&rule, "result", &column);
		bool failed = result && !strcmp(result->text, "fail");
		bool undecided = !result || (!failed && strcmp(result->text, "pass") != 0);

		tests++;
		failures += failed;
		errors += undecided;
		if (add_case(&cases, &rule, report->schema, failed, undecided)) {
			more = km_error_set(error, -ENOMEM, "out of memory");
			break;
		}
	}
	if (more >= 0) {
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", stream);
		fprintf(stream, "<testsuites name=\"kmstat\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", tests,
			failures, errors);
		fprintf(stream,
			"  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\">\n%s  "
			"</testsuite>\n</testsuites>\n",
			report->schema, tests, failures, errors, cases.data ? cases.data : "");
		more = km_output_check(stream, error);
	}
	km_output_text_release(&cases);
	km_output_rows_close(&rows);
	return more;
}
