/* SPDX-License-Identifier: GPL-2.0-only */
/* Is the recording of the running kernel: every part of the proof, and each of them missing or wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "running_kernel.h"
#include "testing.h"

#define TEXT UINT64_C(0xffffffff81000000)

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000100 T do_it\n"
			       "ffffffffc0001000 t probe\t[leaky]\n";
static const char modules[] = "nf_nat 61440 1 nft_chain_nat, Live 0xffffffffc0800000\n"
			      "leaky 16384 0 - Live 0xffffffffc0001000 (OE)\n";
/* A note of another kind, then the build id. */
static const uint8_t notes[] = { 6, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, 0, 0,
				 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0,   0,   'G', 'N', 'U', 0, 7, 8, 9, 0 };
static const struct km_module_map maps[] = { { "leaky", UINT64_C(0xffffffffc0001000) },
					     { "nf_nat", UINT64_C(0xffffffffc0800000) } };

struct machine {
	char paths[3][32];
	struct km_running_kernel running;
	struct km_kernel_identity recorded;
};

static void write_file(char *path, const void *data, size_t bytes)
{
	int fd;

	strcpy(path, "/tmp/kmstat-test-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
	close(fd);
}

static void setup(struct machine *m)
{
	memset(m, 0, sizeof(*m));
	write_file(m->paths[0], kallsyms, sizeof(kallsyms) - 1);
	write_file(m->paths[1], modules, sizeof(modules) - 1);
	write_file(m->paths[2], notes, sizeof(notes));
	m->running = (struct km_running_kernel){ "host", "6.1.0", m->paths[0], m->paths[1], m->paths[2] };
	m->recorded = (struct km_kernel_identity){ .hostname = "host",
						   .release = "6.1.0",
						   .has_text = true,
						   .text_address = TEXT,
						   .build_id_bytes = 3,
						   .build_id = { 7, 8, 9 },
						   .modules = maps,
						   .modules_count = 2 };
}

static void teardown(struct machine *m)
{
	for (unsigned i = 0; i < 3; i++)
		unlink(m->paths[i]);
}

static int ask(const struct machine *m)
{
	char *text = NULL;
	size_t bytes = 0;
	int r = km_running_kernel_kallsyms(&m->recorded, &m->running, &text, &bytes);

	if (r == 1) {
		ck_assert_uint_eq(bytes, sizeof(kallsyms) - 1);
		ck_assert_str_eq(text, kallsyms);
		free(text);
	}
	return r;
}

START_TEST(all_agrees)
{
	struct machine m;

	setup(&m);
	ck_assert_int_eq(ask(&m), 1);
	m.recorded.build_id_bytes = 0; /* not every recording has it */
	ck_assert_int_eq(ask(&m), 1);
	m.recorded.modules_count = 0;
	ck_assert_int_eq(ask(&m), 1);
	teardown(&m);
}
END_TEST

START_TEST(anything_else_is_no_proof)
{
	struct km_module_map moved = { "leaky", UINT64_C(0xffffffffc0002000) }, gone = { "leak", maps[0].address };
	struct machine m;

	for (unsigned wrong = 0; wrong < 13; wrong++) {
		setup(&m);
		switch (wrong) {
		case 0:
			m.recorded.hostname = "other";
			break;
		case 1:
			m.recorded.hostname = NULL;
			break;
		case 2:
			m.recorded.release = "6.1.1";
			break;
		case 3:
			m.recorded.release = NULL;
			break;
		case 4:
			m.recorded.has_text = false;
			break;
		case 5:
			m.recorded.text_address = TEXT + 0x200000;
			break; /* another boot under KASLR */
		case 6:
			m.recorded.build_id[2] = 10;
			break;
		case 7:
			m.recorded.build_id_bytes = 2;
			break;
		case 8:
			m.running.notes = "/nowhere";
			break;
		case 9:
			m.recorded.modules = &moved;
			m.recorded.modules_count = 1;
			break;
		case 10:
			m.recorded.modules = &gone;
			m.recorded.modules_count = 1;
			break;
		case 11:
			m.running.modules = "/nowhere";
			break;
		case 12:
			m.running.kallsyms = "/nowhere";
			break;
		}
		if (ask(&m) != 0)
			ck_abort_msg("case %u was taken for the running kernel", wrong);
		teardown(&m);
	}
}
END_TEST

START_TEST(a_zeroed_kallsyms_is_none)
{
	static const char zeroed[] = "0000000000000000 T _text\n0000000000000000 T do_it\n";
	struct machine m;

	setup(&m);
	unlink(m.paths[0]);
	write_file(m.paths[0], zeroed, sizeof(zeroed) - 1);
	ck_assert_int_eq(ask(&m), 0);
	m.recorded.text_address = 0;
	ck_assert_int_eq(ask(&m), 0);
	teardown(&m);
}
END_TEST

START_TEST(notes_may_be_damaged)
{
	struct machine m;

	for (size_t cut = 0; cut < sizeof(notes); cut++) {
		setup(&m);
		unlink(m.paths[2]);
		write_file(m.paths[2], notes, cut);
		if (ask(&m) != 0 && cut < sizeof(notes) - 1)
			ck_abort_msg("notes cut at %zu are proof", cut);
		teardown(&m);
	}
}
END_TEST

START_TEST(this_machine_is_asked)
{
	struct km_kernel_identity recorded = {
		.hostname = "not this one", .release = "0", .has_text = true, .text_address = TEXT
	};
	char *text;
	size_t bytes;

	ck_assert_int_eq(km_running_kernel_kallsyms(&recorded, NULL, &text, &bytes), 0);
}
END_TEST

int main(void)
{
	const TTest *tests[] = { all_agrees,           anything_else_is_no_proof, a_zeroed_kallsyms_is_none,
				 notes_may_be_damaged, this_machine_is_asked,     NULL };

	return km_test_main("running_kernel", tests, 20);
}
