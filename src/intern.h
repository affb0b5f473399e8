/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * intern: strings as numbers. Equal strings get equal small numbers, counted
 * from 1; 0 is "no string". The strings live as long as the table.
 *
 * Bounded: at most KM_INTERN_LIMIT strings of at most KM_INTERN_STRING_BYTES each
 * (longer ones are cut), since the input controls both.
 *
 * Safe to use from several threads at once. Numbers are given in the order
 * in which strings come, which then is not always the same.
 */
#ifndef KM_INTERN_H
#define KM_INTERN_H

#include <stddef.h>
#include <stdint.h>

#define KM_INTERN_LIMIT        (1U << 20)
#define KM_INTERN_STRING_BYTES 255

struct km_intern;

struct km_intern *km_intern_new(void); /* NULL when out of memory */
void km_intern_free(struct km_intern *intern);

/* The string's number; 0 when out of memory or at the limit. Any byte but NUL may be in it. */
uint32_t km_intern_add(struct km_intern *intern, const char *text, size_t bytes);
/* The number of a string that is known already, else 0. */
uint32_t km_intern_find(const struct km_intern *intern, const char *text, size_t bytes);
/* NUL-terminated; "" for 0 and for numbers never given. */
const char *km_intern_get(const struct km_intern *intern, uint32_t number);
/* How many there are: numbers run from 1 to this. */
uint32_t km_intern_count(const struct km_intern *intern);

#endif
