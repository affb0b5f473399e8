/* SPDX-License-Identifier: GPL-2.0-only */
#include "trace_formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How wide a field is; LONG is the kernel's word. */
enum width {
	WIDTH_LONG = 0,
	WIDTH_1 = 1,
	WIDTH_4 = 4,
	WIDTH_COMM = 16,
};

struct field_type {
	const char *declaration;
	const char *name;
	enum width width;
	bool is_signed;
	const char *suffix; /* behind the name in the declaration */
};

static const struct field_type field_types[TW_FIELD_IDS] = {
	[TW_FIELD_CALL_SITE] = { "unsigned long", "call_site", WIDTH_LONG, false, "" },
	[TW_FIELD_PTR] = { "const void *", "ptr", WIDTH_LONG, false, "" },
	[TW_FIELD_NAME] = { "__data_loc char[]", "name", WIDTH_4, true, "" },
	[TW_FIELD_BYTES_REQ] = { "size_t", "bytes_req", WIDTH_LONG, false, "" },
	[TW_FIELD_BYTES_ALLOC] = { "size_t", "bytes_alloc", WIDTH_LONG, false, "" },
	[TW_FIELD_GFP_FLAGS] = { "unsigned long", "gfp_flags", WIDTH_LONG, false, "" },
	[TW_FIELD_NODE] = { "int", "node", WIDTH_4, true, "" },
	[TW_FIELD_ACCOUNTED] = { "bool", "accounted", WIDTH_1, false, "" },
	[TW_FIELD_IP] = { "unsigned long", "ip", WIDTH_LONG, false, "" },
	[TW_FIELD_BUF] = { "char", "buf", WIDTH_1, true, "[]" },
	[TW_FIELD_SIZE] = { "int", "size", WIDTH_4, true, "" },
	[TW_FIELD_CALLER] = { "unsigned long", "caller", WIDTH_LONG, false, "[8]" },
	[TW_FIELD_PREV_COMM] = { "char", "prev_comm", WIDTH_COMM, false, "[16]" },
	[TW_FIELD_PREV_PID] = { "pid_t", "prev_pid", WIDTH_4, true, "" },
	[TW_FIELD_PREV_PRIO] = { "int", "prev_prio", WIDTH_4, true, "" },
	[TW_FIELD_PREV_STATE] = { "long", "prev_state", WIDTH_LONG, true, "" },
	[TW_FIELD_NEXT_COMM] = { "char", "next_comm", WIDTH_COMM, false, "[16]" },
	[TW_FIELD_NEXT_PID] = { "pid_t", "next_pid", WIDTH_4, true, "" },
	[TW_FIELD_NEXT_PRIO] = { "int", "next_prio", WIDTH_4, true, "" },
};

struct gfp_name {
	const char *name;
	uint32_t bits;
};

/* include/linux/gfp.h of 4.19 */
static const struct gfp_name gfp_4_19[] = {
	{ "GFP_KERNEL_ACCOUNT", 0x7000c0 },
	{ "GFP_KERNEL", 0x6000c0 },
	{ "GFP_NOFS", 0x600040 },
	{ "GFP_ATOMIC", 0x480020 },
	{ "GFP_NOIO", 0x600000 },
	{ "GFP_NOWAIT", 0x400000 },
	{ "GFP_DMA", 0x01 },
	{ "__GFP_HIGHMEM", 0x02 },
	{ "GFP_DMA32", 0x04 },
	{ "__GFP_HIGH", 0x20 },
	{ "__GFP_ATOMIC", 0x80000 },
	{ "__GFP_IO", 0x40 },
	{ "__GFP_FS", 0x80 },
	{ "__GFP_NOWARN", 0x200 },
	{ "__GFP_NORETRY", 0x1000 },
	{ "__GFP_COMP", 0x4000 },
	{ "__GFP_ZERO", 0x8000 },
	{ "__GFP_RECLAIMABLE", 0x10 },
	{ "__GFP_ACCOUNT", 0x100000 },
	{ "__GFP_DIRECT_RECLAIM", 0x200000 },
	{ "__GFP_KSWAPD_RECLAIM", 0x400000 },
	{ NULL, 0 },
};

/* 5.10 to 6.3 */
static const struct gfp_name gfp_5_10[] = {
	{ "GFP_KERNEL_ACCOUNT", 0x400cc0 },
	{ "GFP_KERNEL", 0xcc0 },
	{ "GFP_NOFS", 0xc40 },
	{ "GFP_ATOMIC", 0xa20 },
	{ "GFP_NOIO", 0xc00 },
	{ "GFP_NOWAIT", 0x800 },
	{ "GFP_DMA", 0x01 },
	{ "__GFP_HIGHMEM", 0x02 },
	{ "GFP_DMA32", 0x04 },
	{ "__GFP_HIGH", 0x20 },
	{ "__GFP_ATOMIC", 0x200 },
	{ "__GFP_IO", 0x40 },
	{ "__GFP_FS", 0x80 },
	{ "__GFP_NOWARN", 0x2000 },
	{ "__GFP_NORETRY", 0x10000 },
	{ "__GFP_COMP", 0x40000 },
	{ "__GFP_ZERO", 0x100 },
	{ "__GFP_RECLAIMABLE", 0x10 },
	{ "__GFP_ACCOUNT", 0x400000 },
	{ "__GFP_DIRECT_RECLAIM", 0x400 },
	{ "__GFP_KSWAPD_RECLAIM", 0x800 },
	{ NULL, 0 },
};

/* 6.12 on: no __GFP_ATOMIC, GFP_NOWAIT does not warn */
static const struct gfp_name gfp_6_12[] = {
	{ "GFP_KERNEL_ACCOUNT", 0x400cc0 },
	{ "GFP_KERNEL", 0xcc0 },
	{ "GFP_NOFS", 0xc40 },
	{ "GFP_ATOMIC", 0x820 },
	{ "GFP_NOIO", 0xc00 },
	{ "GFP_NOWAIT", 0x2800 },
	{ "GFP_DMA", 0x01 },
	{ "__GFP_HIGHMEM", 0x02 },
	{ "GFP_DMA32", 0x04 },
	{ "__GFP_HIGH", 0x20 },
	{ "__GFP_IO", 0x40 },
	{ "__GFP_FS", 0x80 },
	{ "__GFP_NOWARN", 0x2000 },
	{ "__GFP_NORETRY", 0x10000 },
	{ "__GFP_COMP", 0x40000 },
	{ "__GFP_ZERO", 0x100 },
	{ "__GFP_RECLAIMABLE", 0x10 },
	{ "__GFP_ACCOUNT", 0x400000 },
	{ "__GFP_DIRECT_RECLAIM", 0x400 },
	{ "__GFP_KSWAPD_RECLAIM", 0x800 },
	{ NULL, 0 },
};

static enum tw_kernel resolved(enum tw_kernel kernel)
{
	return kernel == TW_KERNEL_DEFAULT ? TW_KERNEL_6_18 : kernel;
}

static const struct gfp_name *gfp_table(enum tw_kernel kernel)
{
	kernel = resolved(kernel);
	if (kernel == TW_KERNEL_4_19)
		return gfp_4_19;
	return kernel < TW_KERNEL_6_12 ? gfp_5_10 : gfp_6_12;
}

uint32_t tw_gfp(enum tw_kernel kernel, const char *name)
{
	const struct gfp_name *g;

	for (g = gfp_table(kernel); g->name; g++)
		if (!strcmp(g->name, name))
			return g->bits;
	fprintf(stderr, "trace_formats: no gfp flag %s in this kernel\n", name);
	abort();
}

const char *tw_kernel_release(enum tw_kernel kernel)
{
	static const char *const releases[] = {
		[TW_KERNEL_4_19] = "4.19.40", [TW_KERNEL_5_10] = "5.10.262", [TW_KERNEL_5_12] = "5.12.19",
		[TW_KERNEL_6_1] = "6.1.192",  [TW_KERNEL_6_12] = "6.12.117", [TW_KERNEL_6_18] = "6.18.44",
	};

	return releases[resolved(kernel)];
}

/* ---- layout ---- */

static unsigned field_bytes(enum tw_format_field_id id, enum tw_kernel kernel, unsigned long_bytes)
{
	if (id == TW_FIELD_GFP_FLAGS && kernel < TW_KERNEL_6_1)
		return 4;
	if (id == TW_FIELD_BUF)
		return 0;
	if (id == TW_FIELD_CALLER)
		return 8 * long_bytes;
	return field_types[id].width == WIDTH_LONG ? long_bytes : (unsigned)field_types[id].width;
}

static unsigned field_alignment(enum tw_format_field_id id, unsigned bytes, unsigned long_bytes)
{
	switch (field_types[id].width) {
	case WIDTH_LONG:
		return bytes < long_bytes ? bytes : long_bytes;
	case WIDTH_4:
		return 4;
	default:
		return 1;
	}
}

static unsigned round_up(unsigned value, unsigned to)
{
	return (value + to - 1) / to * to;
}

/* What events/kmem/NAME/format calls the field in this kernel, for the few whose type changed. */
static const char *field_declaration(enum tw_format_field_id id, enum tw_kernel kernel)
{
	if (id == TW_FIELD_GFP_FLAGS && kernel < TW_KERNEL_6_1)
		return "gfp_t";
	return field_types[id].declaration;
}

struct fields {
	const char *system;
	const char *name;
	unsigned count;
	enum tw_format_field_id ids[TW_FORMAT_FIELDS_MAX];
};

static void lay_out(struct tw_format *format, const struct fields *fields, uint16_t id, enum tw_kernel kernel,
		    unsigned long_bytes)
{
	unsigned offset = TW_COMMON_BYTES, struct_alignment = 4, i;

	memset(format, 0, sizeof(*format));
	format->system = fields->system;
	format->name = fields->name;
	format->id = id;
	format->fields_count = fields->count;
	for (i = 0; i < fields->count; i++) {
		struct tw_format_field *f = &format->fields[i];
		unsigned bytes = field_bytes(fields->ids[i], kernel, long_bytes);
		unsigned alignment = field_alignment(fields->ids[i], bytes, long_bytes);

		offset = round_up(offset, alignment);
		if (alignment > struct_alignment)
			struct_alignment = alignment;
		f->id = fields->ids[i];
		f->offset = (uint16_t)offset;
		f->bytes = (uint16_t)bytes;
		f->is_signed = field_types[fields->ids[i]].is_signed;
		offset += bytes;
	}
	format->end_bytes = (uint16_t)offset;
	format->fixed_bytes = (uint16_t)round_up(offset, struct_alignment);
}

static void add_field(struct fields *fields, enum tw_format_field_id id)
{
	fields->ids[fields->count++] = id;
}

static struct fields alloc_fields(enum tw_format_kind kind, const char *name, enum tw_kernel kernel)
{
	bool is_cache = kind == TW_FORMAT_CACHE_ALLOC;
	bool has_node = kernel >= TW_KERNEL_6_1 || kind == TW_FORMAT_KMALLOC_NODE || kind == TW_FORMAT_CACHE_ALLOC_NODE;
	struct fields fields = { .system = "kmem", .name = name };

	add_field(&fields, TW_FIELD_CALL_SITE);
	add_field(&fields, TW_FIELD_PTR);
	if (is_cache && kernel >= TW_KERNEL_6_18)
		add_field(&fields, TW_FIELD_NAME);
	add_field(&fields, TW_FIELD_BYTES_REQ);
	add_field(&fields, TW_FIELD_BYTES_ALLOC);
	add_field(&fields, TW_FIELD_GFP_FLAGS);
	if (has_node)
		add_field(&fields, TW_FIELD_NODE);
	if (is_cache && kernel >= TW_KERNEL_6_1)
		add_field(&fields, TW_FIELD_ACCOUNTED);
	return fields;
}

void tw_formats_init(struct tw_format formats[TW_FORMAT_KINDS], enum tw_kernel kernel, unsigned long_bytes)
{
	static const struct fields kfree_fields = { "kmem", "kfree", 2, { TW_FIELD_CALL_SITE, TW_FIELD_PTR } };
	static const struct fields print_fields = { "ftrace", "print", 2, { TW_FIELD_IP, TW_FIELD_BUF } };
	static const struct fields stack_fields = { "ftrace", "kernel_stack", 2, { TW_FIELD_SIZE, TW_FIELD_CALLER } };
	static const struct fields sched_fields = {
		"sched",
		"sched_switch",
		7,
		{ TW_FIELD_PREV_COMM, TW_FIELD_PREV_PID, TW_FIELD_PREV_PRIO, TW_FIELD_PREV_STATE, TW_FIELD_NEXT_COMM,
		  TW_FIELD_NEXT_PID, TW_FIELD_NEXT_PRIO },
	};
	struct fields free_fields = { "kmem", "kmem_cache_free", 2, { TW_FIELD_CALL_SITE, TW_FIELD_PTR } };
	struct fields fields;
	uint16_t id;

	kernel = resolved(kernel);
	id = kernel < TW_KERNEL_6_1 ? 527 : 624;
	memset(formats, 0, TW_FORMAT_KINDS * sizeof(*formats));

	if (kernel >= TW_KERNEL_5_12)
		add_field(&free_fields, TW_FIELD_NAME);
	lay_out(&formats[TW_FORMAT_CACHE_FREE], &free_fields, id++, kernel, long_bytes);
	lay_out(&formats[TW_FORMAT_KFREE], &kfree_fields, id++, kernel, long_bytes);
	if (kernel < TW_KERNEL_6_1) {
		fields = alloc_fields(TW_FORMAT_CACHE_ALLOC_NODE, "kmem_cache_alloc_node", kernel);
		lay_out(&formats[TW_FORMAT_CACHE_ALLOC_NODE], &fields, id++, kernel, long_bytes);
		fields = alloc_fields(TW_FORMAT_KMALLOC_NODE, "kmalloc_node", kernel);
		lay_out(&formats[TW_FORMAT_KMALLOC_NODE], &fields, id++, kernel, long_bytes);
	}
	fields = alloc_fields(TW_FORMAT_CACHE_ALLOC, "kmem_cache_alloc", kernel);
	lay_out(&formats[TW_FORMAT_CACHE_ALLOC], &fields, id++, kernel, long_bytes);
	fields = alloc_fields(TW_FORMAT_KMALLOC, "kmalloc", kernel);
	lay_out(&formats[TW_FORMAT_KMALLOC], &fields, id++, kernel, long_bytes);

	lay_out(&formats[TW_FORMAT_SCHED_SWITCH], &sched_fields, 316, kernel, long_bytes);
	/* kernel/trace/trace_entries.h and enum trace_type: these two never change. */
	lay_out(&formats[TW_FORMAT_PRINT], &print_fields, 5, kernel, long_bytes);
	lay_out(&formats[TW_FORMAT_KERNEL_STACK], &stack_fields, 4, kernel, long_bytes);
}

const struct tw_format_field *tw_format_find(const struct tw_format *format, enum tw_format_field_id id)
{
	unsigned i;

	for (i = 0; i < format->fields_count; i++)
		if (format->fields[i].id == id)
			return &format->fields[i];
	return NULL;
}

/* ---- text ---- */

/* open_memstream for a function that would otherwise check every fprintf. */
struct text {
	FILE *stream;
	char *bytes;
	size_t size;
};

static void text_open(struct text *text)
{
	text->stream = open_memstream(&text->bytes, &text->size);
	if (!text->stream)
		abort();
}

static char *text_close(struct text *text)
{
	if (fclose(text->stream))
		abort();
	return text->bytes;
}

/* One entry of __print_flags() as the preprocessor leaves it in this kernel. */
static void put_gfp_name(FILE *out, const struct gfp_name *g, enum tw_kernel kernel)
{
	const char *cast = kernel < TW_KERNEL_6_1 ? "unsigned long" : " unsigned long";
	bool first = true;
	unsigned bit;

	fprintf(out, "{(%s)(", cast);
	for (bit = 0; bit < 32; bit++) {
		if (!(g->bits >> bit & 1))
			continue;
		fputs(first ? "" : " | ", out);
		if (kernel < TW_KERNEL_6_12)
			fprintf(out, "(( gfp_t)0x%02xu)", UINT32_C(1) << bit);
		else
			fprintf(out, "(( gfp_t)((((1UL))) << (%u)))", bit);
		first = false;
	}
	fprintf(out, "), \"%s\"}", g->name);
}

static void put_gfp_expression(FILE *out, enum tw_kernel kernel)
{
	const struct gfp_name *g;

	fputs(", (REC->gfp_flags) ? __print_flags(REC->gfp_flags, \"|\", ", out);
	for (g = gfp_table(kernel); g->name; g++) {
		put_gfp_name(out, g, kernel);
		fputs(g[1].name ? ", " : " ) : \"none\"", out);
	}
}

static void put_kmem_print_fmt(FILE *out, const struct tw_format *format, enum tw_kernel kernel)
{
	bool has_gfp = tw_format_find(format, TW_FIELD_GFP_FLAGS), has_node = tw_format_find(format, TW_FIELD_NODE);
	bool has_name = tw_format_find(format, TW_FIELD_NAME), lx = kernel == TW_KERNEL_4_19;
	bool accounted = has_gfp && kernel >= TW_KERNEL_6_1;

	fprintf(out, "\"call_site=%%%s ptr=%%p", lx ? "lx" : "pS");
	fprintf(out, "%s%s%s%s\"", has_name ? " name=%s" : "",
		has_gfp ? " bytes_req=%zu bytes_alloc=%zu gfp_flags=%s" : "", has_node ? " node=%d" : "",
		accounted ? " accounted=%s" : "");
	fprintf(out, ", %sREC->call_site, REC->ptr", lx ? "" : "(void *)");
	if (has_name)
		fputs(", __get_str(name)", out);
	if (has_gfp) {
		fputs(", REC->bytes_req, REC->bytes_alloc", out);
		put_gfp_expression(out, kernel);
	}
	if (has_node)
		fputs(", REC->node", out);
	if (!accounted)
		return;
	if (tw_format_find(format, TW_FIELD_ACCOUNTED))
		fputs(", REC->accounted ? \"true\" : \"false\"", out);
	else
		fprintf(out, ", (1 && (REC->gfp_flags & ( unsigned long)(( gfp_t)0x%xu))) ? \"true\" : \"false\"",
			tw_gfp(kernel, "__GFP_ACCOUNT"));
}

static void put_stack_print_fmt(FILE *out)
{
	unsigned i;

	fputs("\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> "
	      "%ps\\n\"",
	      out);
	for (i = 0; i < 8; i++)
		fprintf(out, ", (void *)REC->caller[%u]", i);
}

static void put_field(FILE *out, const struct tw_format_field *f, enum tw_kernel kernel)
{
	fprintf(out, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", field_declaration(f->id, kernel),
		field_types[f->id].name, field_types[f->id].suffix, f->offset, f->bytes, f->is_signed);
}

char *tw_format_text(const struct tw_format *format, enum tw_kernel kernel)
{
	struct text text;
	unsigned i;

	kernel = resolved(kernel);
	text_open(&text);
	fprintf(text.stream, "name: %s\nID: %u\nformat:\n", format->name, format->id);
	fputs("\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
	      text.stream);
	for (i = 0; i < format->fields_count; i++)
		put_field(text.stream, &format->fields[i], kernel);
	fputs("\nprint fmt: ", text.stream);
	if (!strcmp(format->system, "kmem"))
		put_kmem_print_fmt(text.stream, format, kernel);
	else if (format->id == 5)
		fputs("\"%ps: %s\", (void *)REC->ip, REC->buf", text.stream);
	else if (format->id == 4)
		put_stack_print_fmt(text.stream);
	else
		fputs("\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%ld ==> next_comm=%s next_pid=%d "
		      "next_prio=%d\", "
		      "REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_comm, REC->next_pid, "
		      "REC->next_prio",
		      text.stream);
	fputc('\n', text.stream);
	return text_close(&text);
}

char *tw_header_page_text(unsigned long_bytes, unsigned page_bytes)
{
	struct text text;

	text_open(&text);
	fprintf(text.stream,
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		"\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		long_bytes, 8 + long_bytes, page_bytes - 8 - long_bytes);
	return text_close(&text);
}

char *tw_header_event_text(void)
{
	struct text text;

	text_open(&text);
	fputs("# compressed entry header\n"
	      "\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
	      "\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n"
	      "\tdata max type_len  == 28\n",
	      text.stream);
	return text_close(&text);
}
