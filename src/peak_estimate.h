/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * peak_estimate: how many objects are alive, from a bounded sample of their
 * addresses: an address is kept if its hash is below a threshold; when the
 * sample is full the threshold is halved and the sample purged. What is kept
 * stands for 2^k objects. An allocation and its free decide alike, so the
 * sample never goes wrong, it only gets coarser.
 */
#ifndef KM_PEAK_ESTIMATE_H
#define KM_PEAK_ESTIMATE_H

#include <stdint.h>

#define KM_PEAK_ESTIMATE_COUNT 4096

struct km_peak_estimate {
	unsigned k; /* an address is kept if the top k bits of its hash are 0 */
	unsigned count;
	uint64_t peak; /* estimated number of addresses alive at once */
	uint64_t slots[2 * KM_PEAK_ESTIMATE_COUNT];
};

/* All zero bytes: empty. */
void km_peak_estimate_add(struct km_peak_estimate *estimate, uint64_t ptr);
void km_peak_estimate_remove(struct km_peak_estimate *estimate, uint64_t ptr);

#endif
