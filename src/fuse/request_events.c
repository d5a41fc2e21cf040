/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/request_events.h"

#include "fuse/slots.h"

enum histogram request_histogram(uint32_t opcode)
{
	switch (opcode) {
	case FUSE_LOOKUP:
		return HISTOGRAM_request_lookup;
	case FUSE_GETATTR:
		return HISTOGRAM_request_getattr;
	case FUSE_READ:
		return HISTOGRAM_request_read;
	case FUSE_READDIR:
	case FUSE_READDIRPLUS:
		return HISTOGRAM_request_readdir;
	case FUSE_IOCTL:
		return HISTOGRAM_request_ioctl;
	default:
		return HISTOGRAM_request_other;
	}
}

void request_event_read(uint32_t node, uint64_t begin, size_t size, uint64_t offset,
			ssize_t n, const struct read_context *context)
{
	if (!trace_is_on())
		return;
	trace_add(&(struct trace_event){
		.kind = TRACE_READ, .begin = begin, .took = stats_clock() - begin,
		.subject = node, .offset = offset, .size = size, .result = n,
		.storage = context->storage_reads,
	});
}

static const uint16_t kinds[HISTOGRAM_COUNT] = {
	[HISTOGRAM_request_lookup] = TRACE_LOOKUP,
	[HISTOGRAM_request_getattr] = TRACE_GETATTR,
	[HISTOGRAM_request_readdir] = TRACE_READDIR,
	[HISTOGRAM_request_ioctl] = TRACE_IOCTL,
	[HISTOGRAM_request_other] = TRACE_OTHER,
};

void request_event(const struct served *served, enum histogram histogram, uint64_t nodeid,
		   uint64_t begin, uint64_t took)
{
	if (!trace_is_on() || histogram == HISTOGRAM_request_read)
		return;
	trace_add(&(struct trace_event){
		.kind = kinds[histogram], .begin = begin, .took = took,
		.subject = nodeid == FUSE_ROOT_ID ? dataset_root(served->dataset) : nodeid - 1,
	});
}
