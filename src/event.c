/* SPDX-License-Identifier: GPL-2.0-only */
#include "event.h"

const char *km_event_kind_name(enum km_event_kind kind)
{
	static const char *const names[] = {
		[KM_EVENT_KMALLOC] = "kmalloc",
		[KM_EVENT_KMALLOC_NODE] = "kmalloc_node",
		[KM_EVENT_CACHE_ALLOC] = "kmem_cache_alloc",
		[KM_EVENT_CACHE_ALLOC_NODE] = "kmem_cache_alloc_node",
		[KM_EVENT_KFREE] = "kfree",
		[KM_EVENT_CACHE_FREE] = "kmem_cache_free",
		[KM_EVENT_LOST] = "lost",
		[KM_EVENT_MARK] = "mark",
		[KM_EVENT_PAGE_ALLOC] = "mm_page_alloc",
		[KM_EVENT_PAGE_FREE] = "mm_page_free",
	};

	return names[kind];
}
