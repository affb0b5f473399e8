/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_names: the names of tasks from what a recording tells as it goes on:
 * "task T is now called N" and "task P made task T". The latest name of a
 * task wins; a task that never got one has its parent's.
 *
 * Bounded: beyond KM_TASK_NAMES_LIMIT tasks new ones are not kept.
 */
#ifndef KM_TASK_NAMES_H
#define KM_TASK_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define KM_TASK_NAMES_LIMIT (1U << 20)

struct km_task_names;

struct km_task_names *km_task_names_new(void); /* NULL when out of memory */
void km_task_names_free(struct km_task_names *names);

/* time 0: not known, taken as of now. Both forget silently what does not fit. */
void km_task_names_set(struct km_task_names *names, int32_t task, uint64_t time, const char *name, size_t bytes);
void km_task_names_fork(struct km_task_names *names, int32_t task, int32_t parent, uint64_t time);
/* NULL if the task has none. Borrowed from the table. */
const char *km_task_names_get(const struct km_task_names *names, int32_t task);

#endif
