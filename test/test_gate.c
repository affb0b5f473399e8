/* SPDX-License-Identifier: GPL-2.0-only */
#include "gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

static struct km_gate_rule parse(const char *text)
{
	struct km_error error = { 0 };
	struct km_gate_rule rule;

	ck_assert_msg(!km_gate_parse(text, &rule, &error), "%s", error.text);
	return rule;
}

/* --- parsing --- */

START_TEST(good_rules)
{
	static const struct {
		const char *text;
		enum km_gate_target target;
		const char *name;
		enum km_metric metric;
		bool may_be_absent;
		int kind;
		uint64_t number;
	} cases[] = {
		{ "live_bytes>10M", KM_GATE_TOTAL, "", KM_METRIC_LIVE_BYTES, false, KM_GATE_ABSOLUTE, 10 << 20 },
		{ " live_bytes > 10M ", KM_GATE_TOTAL, "", KM_METRIC_LIVE_BYTES, false, KM_GATE_ABSOLUTE, 10 << 20 },
		{ "live_bytes>+64K", KM_GATE_TOTAL, "", KM_METRIC_LIVE_BYTES, false, KM_GATE_MORE, 64 << 10 },
		{ "live_count>+5%", KM_GATE_TOTAL, "", KM_METRIC_LIVE_COUNT, false, KM_GATE_PERCENT, 50000 },
		{ "live_count>+2.5%", KM_GATE_TOTAL, "", KM_METRIC_LIVE_COUNT, false, KM_GATE_PERCENT, 25000 },
		{ "live_count>+0.0001%", KM_GATE_TOTAL, "", KM_METRIC_LIVE_COUNT, false, KM_GATE_PERCENT, 1 },
		{ "live_count>+200%", KM_GATE_TOTAL, "", KM_METRIC_LIVE_COUNT, false, KM_GATE_PERCENT, 2000000 },
		{ "alloc_events_count>5", KM_GATE_TOTAL, "", KM_METRIC_ALLOCS_COUNT, false, KM_GATE_ABSOLUTE, 5 },
		{ "oldest_age_ns>5ms", KM_GATE_TOTAL, "", KM_METRIC_OLDEST_AGE_NS, false, KM_GATE_ABSOLUTE, 5000000 },
		{ "cache:dentry:peak_live_bytes>1", KM_GATE_CACHE, "dentry", KM_METRIC_PEAK_LIVE_BYTES, false,
		  KM_GATE_ABSOLUTE, 1 },
		{ "cache:(unnamed:64):live_bytes>1", KM_GATE_CACHE, "(unnamed:64)", KM_METRIC_LIVE_BYTES, false,
		  KM_GATE_ABSOLUTE, 1 },
		{ "function:foo_probe:live_count>0", KM_GATE_FUNCTION, "foo_probe", KM_METRIC_LIVE_COUNT, false,
		  KM_GATE_ABSOLUTE, 0 },
		{ "module:ext4:live_bytes>+1M", KM_GATE_MODULE, "ext4", KM_METRIC_LIVE_BYTES, false, KM_GATE_MORE,
		  1 << 20 },
		{ "site:fn+0x1f [ext4]:live_bytes>1", KM_GATE_SITE, "fn+0x1f [ext4]", KM_METRIC_LIVE_BYTES, false,
		  KM_GATE_ABSOLUTE, 1 },
		{ "function:foo?:live_count>0", KM_GATE_FUNCTION, "foo", KM_METRIC_LIVE_COUNT, true, KM_GATE_ABSOLUTE,
		  0 },
		{ "?function:foo:live_count>0", KM_GATE_FUNCTION, "foo", KM_METRIC_LIVE_COUNT, true, KM_GATE_ABSOLUTE,
		  0 },
		{ "function:foo:live_count?>0", KM_GATE_FUNCTION, "foo", KM_METRIC_LIVE_COUNT, true, KM_GATE_ABSOLUTE,
		  0 },
		{ "function:foo:live_count>0?", KM_GATE_FUNCTION, "foo", KM_METRIC_LIVE_COUNT, true, KM_GATE_ABSOLUTE,
		  0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_gate_rule rule = parse(cases[i].text);

		ck_assert_int_eq(rule.target, cases[i].target);
		ck_assert_str_eq(rule.name, cases[i].name);
		ck_assert_int_eq(rule.metric, cases[i].metric);
		ck_assert_int_eq(rule.may_be_absent, cases[i].may_be_absent);
		ck_assert_uint_eq(rule.limits_count, 1);
		ck_assert_int_eq((int)rule.limits[0].kind, cases[i].kind);
		ck_assert_uint_eq(rule.limits[0].number, cases[i].number);
		ck_assert_int_eq(km_gate_is_relative(&rule), cases[i].kind != KM_GATE_ABSOLUTE);
	}
	ck_assert_str_eq(parse(" live_bytes > 10M ").text, "live_bytes > 10M");
	ck_assert_uint_eq(parse("live_bytes>+5%,+64K,1M").limits_count, 3);
	ck_assert_int_eq(km_gate_needs_no_base(&(struct km_gate_rule){ .limits_count = 0 }, NULL), 0);
}
END_TEST

START_TEST(bad_rules)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "the rule is empty" },
		{ "live_bytes", "put the rule in quotes" },
		{ "cache:dentry:live_bytes", "put the rule in quotes" },
		{ "live_bytes>", "a limit is missing" },
		{ "live_bytes>5,", "a limit is missing" },
		{ ">5", "no metric" },
		{ "live_bites>5", "no metric \"live_bites\"" },
		{ "live_bytes>5X", "\"5X\" is not" },
		{ "live_bytes>-5", "is not" },
		{ "live_bytes>5%", "percent are of a base" },
		{ "live_bytes>+%", "is not a percentage" },
		{ "live_bytes>+5.%x", "is not" },
		{ "live_bytes>99999999999999999999", "too large" },
		{ "live_bytes>1,2,3,4,5", "at most 4 limits" },
		{ "live_bytes<5", "there is no <" },
		{ "live_bytes>=5", "there is no >=" },
		{ "dentry:live_bytes>5", "a rule begins with site:" },
		{ "cache:live_bytes>5", "no metric behind the name" },
		{ "cache::live_bytes>5", "the name behind cache: is empty" },
		{ "cache:?:live_bytes>5", "the name behind cache: is empty" },
		{ "cache:dentry:null_frees_count>5", "of the whole only" },
		{ "newest_age_ns>5s", "not of the whole" },
		{ "oldest_age_ns>5M", "is not" },
	};
	char *text = calloc(1, KM_GATE_TEXT_BYTES + 8);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_error error = { 0 };
		struct km_gate_rule rule;

		ck_assert_msg(km_gate_parse(cases[i].text, &rule, &error) == -EINVAL, "%s", cases[i].text);
		ck_assert_msg(strstr(error.text, cases[i].says), "%s: %s", cases[i].text, error.text);
	}
	memset(text, 'x', KM_GATE_TEXT_BYTES);
	ck_assert_int_eq(km_gate_parse(text, &(struct km_gate_rule){ 0 }, NULL), -EINVAL);
	free(text);
}
END_TEST

static void write_file(char *path, const char *text)
{
	int fd;

	strcpy(path, "/tmp/test_gate.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

START_TEST(files)
{
	struct km_gate_rules rules = { 0 };
	struct km_error error = { 0 };
	char path[64];

	write_file(path, "# what must hold\n\n  live_bytes>10M\r\n\tcache:dentry:live_count>5\n  # more\nlive_count>1");
	ck_assert_msg(!km_gate_rules_load(&rules, path, &error), "%s", error.text);
	unlink(path);
	ck_assert_uint_eq(rules.count, 3);
	ck_assert_str_eq(rules.items[0].text, "live_bytes>10M");
	ck_assert_str_eq(rules.items[2].text, "live_count>1");
	write_file(path, "live_bytes>10M\n\nlive_bytes\n");
	ck_assert_int_eq(km_gate_rules_load(&rules, path, &error), -EINVAL);
	ck_assert_ptr_nonnull(strstr(error.text, ":3: rule \"live_bytes\": no limit"));
	unlink(path);
	ck_assert_int_eq(km_gate_rules_load(&rules, path, NULL), -ENOENT);
	km_gate_rules_release(&rules);
}
END_TEST

/* --- deciding --- */

#define UNKNOWN (-1.0L)

static struct km_gate_number number(long double value, long double min, long double max)
{
	return (struct km_gate_number){
		.value = value, .min = min, .max = max < 0 ? 0 : max, .max_is_unknown = max < 0
	};
}

START_TEST(decisions)
{
	static const struct {
		const char *rule;
		long double base[3], now[3]; /* value, min, max */
		enum km_gate_result result;
		long double limit;
	} cases[] = {
		/* exact */
		{ "live_bytes>100", { 0, 0, 0 }, { 100, 100, 100 }, KM_GATE_PASS, 100 },
		{ "live_bytes>100", { 0, 0, 0 }, { 101, 101, 101 }, KM_GATE_FAIL, 100 },
		{ "live_count>0", { 0, 0, 0 }, { 0, 0, 0 }, KM_GATE_PASS, 0 },
		/* bounds: the lower one over it fails, the upper one within it passes */
		{ "live_bytes>100", { 0, 0, 0 }, { 150, 0, 150 }, KM_GATE_UNDECIDED, 100 },
		{ "live_bytes>100", { 0, 0, 0 }, { 150, 101, 150 }, KM_GATE_FAIL, 100 },
		{ "live_bytes>100", { 0, 0, 0 }, { 90, 0, 90 }, KM_GATE_PASS, 100 },
		{ "live_bytes>100", { 0, 0, 0 }, { 90, 90, 120 }, KM_GATE_UNDECIDED, 100 },
		{ "live_bytes>100", { 0, 0, 0 }, { 90, 0, UNKNOWN }, KM_GATE_UNDECIDED, 100 },
		{ "live_bytes>100", { 0, 0, 0 }, { 190, 101, UNKNOWN }, KM_GATE_FAIL, 100 },
		/* relative */
		{ "live_bytes>+5%", { 1000, 1000, 1000 }, { 1050, 1050, 1050 }, KM_GATE_PASS, 1050 },
		{ "live_bytes>+5%", { 1000, 1000, 1000 }, { 1051, 1051, 1051 }, KM_GATE_FAIL, 1050 },
		{ "live_bytes>+5%", { 0, 0, 0 }, { 1, 1, 1 }, KM_GATE_FAIL, 0 },
		{ "live_bytes>+5%", { 0, 0, 0 }, { 0, 0, 0 }, KM_GATE_PASS, 0 },
		{ "live_bytes>+10", { 1000, 1000, 1000 }, { 1010, 1010, 1010 }, KM_GATE_PASS, 1010 },
		{ "live_bytes>+10", { 1000, 1000, 1000 }, { 1011, 1011, 1011 }, KM_GATE_FAIL, 1010 },
		/* both have to be exceeded */
		{ "live_bytes>+5%,+100", { 1000, 1000, 1000 }, { 1080, 1080, 1080 }, KM_GATE_PASS, 1100 },
		{ "live_bytes>+5%,+100", { 10000, 10000, 10000 }, { 10400, 10400, 10400 }, KM_GATE_PASS, 10500 },
		{ "live_bytes>+5%,+100", { 10000, 10000, 10000 }, { 10501, 10501, 10501 }, KM_GATE_FAIL, 10500 },
		{ "live_bytes>+5%,2000", { 1000, 1000, 1000 }, { 1900, 1900, 1900 }, KM_GATE_PASS, 2000 },
		/* bounds of the base */
		{ "live_bytes>+10", { 1000, 900, 1000 }, { 1005, 1005, 1005 }, KM_GATE_UNDECIDED, 1010 },
		{ "live_bytes>+10", { 1000, 900, 1000 }, { 910, 910, 910 }, KM_GATE_PASS, 1010 },
		{ "live_bytes>+10", { 1000, 900, 1000 }, { 1011, 1011, 1011 }, KM_GATE_FAIL, 1010 },
		{ "live_bytes>+10", { 1000, 900, UNKNOWN }, { 9999, 9999, 9999 }, KM_GATE_UNDECIDED, 1010 },
		{ "live_bytes>10", { 1000, 900, UNKNOWN }, { 11, 11, 11 }, KM_GATE_FAIL, 10 },
		/* the largest numbers */
		{ "live_bytes>18446744073709551614",
		  { 0, 0, 0 },
		  { 0x1p64L - 1, 0x1p64L - 1, 0x1p64L - 1 },
		  KM_GATE_FAIL,
		  0x1p64L - 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct km_gate_rule rule = parse(cases[i].rule);
		struct km_gate_evidence evidence = {
			.base = number(cases[i].base[0], cases[i].base[1], cases[i].base[2]),
			.now = number(cases[i].now[0], cases[i].now[1], cases[i].now[2]),
			.cause = "lost",
		};
		struct km_gate_verdict verdict;

		km_gate_decide(&rule, &evidence, &verdict);
		ck_assert_msg(verdict.result == cases[i].result, "case %zu: %s", i,
			      km_gate_result_name(verdict.result));
		ck_assert_ldouble_eq(verdict.limit, cases[i].limit);
		ck_assert_ldouble_eq(verdict.value, cases[i].now[0]);
		ck_assert_str_eq(verdict.cause, verdict.result == KM_GATE_UNDECIDED ? "lost" : "");
	}
}
END_TEST

/* More bounds may only turn a verdict into undecided, and narrower ones may not turn it round. */
START_TEST(bounds_never_turn_a_verdict)
{
	struct km_gate_rule rules[] = { parse("live_bytes>+50%,+3"), parse("live_bytes>12") };

	for (unsigned i = 0; i < 2; i++) {
		for (int b = 0; b < 10; b++) {
			for (int n = 0; n < 20; n++) {
				struct km_gate_evidence exact = { .base = number(b, b, b), .now = number(n, n, n) };
				struct km_gate_verdict truth, seen;

				km_gate_decide(&rules[i], &exact, &truth);
				ck_assert_int_ne(truth.result, KM_GATE_UNDECIDED);
				for (int width = 0; width < 64; width++) {
					struct km_gate_evidence wide = {
						.base = number(b, b > width % 4 ? b - width % 4 : 0,
							       width % 8 == 7 ? UNKNOWN : b + width % 3),
						.now = number(n, n > width / 8 ? n - width / 8 : 0,
							      width == 63 ? UNKNOWN : n + width / 16),
					};

					km_gate_decide(&rules[i], &wide, &seen);
					ck_assert(seen.result == truth.result || seen.result == KM_GATE_UNDECIDED);
				}
			}
		}
	}
}
END_TEST

START_TEST(repeated_runs)
{
	struct km_gate_rule relative = parse("live_bytes>+5%"), absolute = parse("live_bytes>100");
	struct km_gate_evidence evidence = { .base = number(100, 100, 100),
					     .now = number(200, 200, 200),
					     .is_repeated = true,
					     .is_testable = true,
					     .p = 0.3 };
	struct km_gate_verdict verdict;

	km_gate_decide(&relative, &evidence, &verdict);
	ck_assert_int_eq(verdict.result, KM_GATE_PASS);
	ck_assert_ptr_nonnull(strstr(verdict.cause, "within the noise (p=0.300)"));
	km_gate_decide(&absolute, &evidence, &verdict);
	ck_assert_int_eq(verdict.result, KM_GATE_FAIL);
	evidence.p = 0.05;
	km_gate_decide(&relative, &evidence, &verdict);
	ck_assert_int_eq(verdict.result, KM_GATE_FAIL);
	/* Too few runs to tell. */
	evidence.is_testable = false;
	km_gate_decide(&relative, &evidence, &verdict);
	ck_assert_int_eq(verdict.result, KM_GATE_UNDECIDED);
	ck_assert_ptr_nonnull(strstr(verdict.cause, "at least 4 runs"));
	evidence.now = number(104, 104, 104);
	km_gate_decide(&relative, &evidence, &verdict);
	ck_assert_int_eq(verdict.result, KM_GATE_PASS);
}
END_TEST

START_TEST(absent_and_worse)
{
	struct km_gate_rule rule = parse("cache:x?:live_bytes>1");
	struct km_gate_verdict verdict;

	km_gate_decide(&rule, &(struct km_gate_evidence){ .is_absent = true }, &verdict);
	ck_assert_int_eq(verdict.result, KM_GATE_PASS);
	ck_assert(!verdict.has_value && verdict.cause[0]);
	ck_assert_int_eq(km_gate_worse(KM_GATE_PASS, KM_GATE_PASS), KM_GATE_PASS);
	ck_assert_int_eq(km_gate_worse(KM_GATE_PASS, KM_GATE_UNDECIDED), KM_GATE_UNDECIDED);
	ck_assert_int_eq(km_gate_worse(KM_GATE_UNDECIDED, KM_GATE_FAIL), KM_GATE_FAIL);
	ck_assert_int_eq(km_gate_worse(KM_GATE_FAIL, KM_GATE_UNDECIDED), KM_GATE_FAIL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = { good_rules,    bad_rules,        files, decisions, bounds_never_turn_a_verdict,
				       repeated_runs, absent_and_worse, NULL };

	return km_test_main("gate", tests, 60);
}
