/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open addressing with linear probing, at most half full, task 0 marks a
 * free slot: the idle task's name is not asked for.
 */
#include "task_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"

#define SLOTS_LEAST 256U
/* A chain of tasks without names longer than this is not followed: it may be a ring. */
#define PARENTS_LIMIT 64

struct task {
	int32_t task;
	int32_t parent; /* 0: not known */
	uint32_t name;  /* 0: none of its own */
	uint64_t time;  /* of the name, or of the fork */
};

struct km_task_names {
	struct km_intern *texts;
	struct task *slots;
	size_t slots_count; /* a power of two */
	size_t tasks_count;
};

struct km_task_names *km_task_names_new(void)
{
	struct km_task_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->texts = km_intern_new();
	names->slots = calloc(SLOTS_LEAST, sizeof(*names->slots));
	names->slots_count = SLOTS_LEAST;
	if (!names->texts || !names->slots) {
		km_task_names_free(names);
		return NULL;
	}
	return names;
}

void km_task_names_free(struct km_task_names *names)
{
	if (!names)
		return;
	km_intern_free(names->texts);
	free(names->slots);
	free(names);
}

/* The task's slot, or the free one where it would go. */
static struct task *find(struct task *slots, size_t count, int32_t task)
{
	size_t at = ((uint32_t)task * UINT32_C(2654435769)) & (count - 1);

	while (slots[at].task && slots[at].task != task)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static bool enlarge(struct km_task_names *names)
{
	size_t count = names->slots_count * 2;
	struct task *larger = calloc(count, sizeof(*larger));

	if (!larger)
		return false;
	for (size_t i = 0; i < names->slots_count; i++) {
		if (names->slots[i].task)
			*find(larger, count, names->slots[i].task) = names->slots[i];
	}
	free(names->slots);
	names->slots = larger;
	names->slots_count = count;
	return true;
}

/* NULL if it is new and does not fit. */
static struct task *find_or_add(struct km_task_names *names, int32_t task)
{
	struct task *slot;

	if (task <= 0)
		return NULL;
	slot = find(names->slots, names->slots_count, task);
	if (slot->task)
		return slot;
	if (names->tasks_count == KM_TASK_NAMES_LIMIT)
		return NULL;
	if (names->tasks_count * 2 >= names->slots_count) {
		if (!enlarge(names))
			return NULL;
		slot = find(names->slots, names->slots_count, task);
	}
	names->tasks_count++;
	slot->task = task;
	return slot;
}

void km_task_names_set(struct km_task_names *names, int32_t task, uint64_t time, const char *name, size_t bytes)
{
	struct task *slot = find_or_add(names, task);

	/* CPUs are told one after the other: what is read later may be older. */
	if (!slot || (time && time < slot->time))
		return;
	slot->name = km_intern_add(names->texts, name, bytes);
	slot->time = time;
}

void km_task_names_fork(struct km_task_names *names, int32_t task, int32_t parent, uint64_t time)
{
	struct task *slot = find_or_add(names, task);

	if (!slot || task == parent || (time && time < slot->time))
		return;
	slot->name = 0;
	slot->parent = parent;
	slot->time = time;
	if (parent > 0) {
		const struct task *from = find(names->slots, names->slots_count, parent);

		if (from->task)
			slot->name = from->name;
	}
}

const char *km_task_names_get(const struct km_task_names *names, int32_t task)
{
	for (int i = 0; i < PARENTS_LIMIT && task > 0; i++) {
		const struct task *slot = find(names->slots, names->slots_count, task);

		if (!slot->task)
			return NULL;
		if (slot->name)
			return km_intern_get(names->texts, slot->name);
		task = slot->parent;
	}
	return NULL;
}
