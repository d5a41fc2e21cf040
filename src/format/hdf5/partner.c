/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/hdf5/partner.h"

#include <errno.h>
#include <stdlib.h>

enum {
	TABLES_MOST = 4096, /* in both files */
	HEAD_BYTES = 32 * 1024 + 8,
};

/* A walk through the partner, and its scan. */
struct partner {
	struct hdf5_walk walk; /* first: walk->partner points here */
	struct scan scan;
	struct row_options rows;
	bool is_hdf5;
	bool alone;               /* the group at hand has one link */
	struct hdf5_group *group; /* whose catalogue is added to */
};

static int add_dataset(struct partner *p, hid_t id, const char *name, haddr_t address)
{
	struct hdf5_dataset d;
	bool labels = label_rules_name_counts(name, p->rows.labels);
	int err = hdf5_dataset_open(&p->walk, id, &d);

	d.address = address;
	if (!err && (labels || p->alone)) /* what is alone is called as its writer likes */
		err = hdf5_group_add_partner(p->group, &p->walk, labels ? name : "labels", &d);
	hdf5_dataset_close(&d);
	return err;
}

static herr_t visit(hid_t parent, const char *name, const H5L_info_t *link, void *data)
{
	struct partner *p = data;
	H5O_info_t object;
	hid_t id;

	if (link->type != H5L_TYPE_HARD || p->group->tables.count >= TABLES_MOST)
		return 0;
	id = H5Oopen_by_addr(parent, link->u.address);
	if (id < 0 || H5Oget_info2(id, &object, H5O_INFO_BASIC) < 0)
		p->walk.err = hdf5_refuse_library(&p->walk, "cannot open");
	else if (object.type == H5O_TYPE_DATASET)
		p->walk.err = add_dataset(p, id, name, object.addr);
	else
		H5Oclose(id);
	return p->walk.err ? -1 : 0;
}

/* The group of the same path; that there is none is no fault. */
static int list_group(struct partner *p, const char *path)
{
	hid_t id = H5Gopen2(p->walk.file.id, path, H5P_DEFAULT);
	H5G_info_t info;
	int err = 0;

	if (id < 0) {
		H5Eclear2(H5E_DEFAULT);
		return p->walk.file.blocks.err ? hdf5_refuse_library(&p->walk, "cannot open") : 0;
	}
	if (H5Gget_info(id, &info) < 0)
		err = hdf5_refuse_library(&p->walk, "cannot open");
	p->alone = !err && info.nlinks == 1;
	if (!err && H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, p) < 0)
		err = p->walk.err ? p->walk.err : hdf5_refuse_library(&p->walk, "cannot list");
	H5Gclose(id);
	return err;
}

static int open_partner(struct hdf5_walk *walk)
{
	const struct source *source = walk->scan->labels_in;
	struct partner *p = calloc(1, sizeof(*p));
	unsigned char head[HEAD_BYTES] = { 0 };
	int err;

	if (!p)
		return hdf5_out_of_memory(walk);
	walk->partner = &p->walk;
	p->rows = (struct row_options){ .labels = walk->scan->rows->labels,
					.tree = walk->scan->rows->tree };
	p->scan = (struct scan){ .source = source, .length = source_size(source),
				.label = source_path(source), .rows = &p->rows };
	p->walk.scan = &p->scan;
	p->walk.e = walk->e;
	err = source_pread(source, head, p->scan.length < HEAD_BYTES ? (size_t)p->scan.length :
						  HEAD_BYTES, 0);
	if (err)
		return hdf5_refuse_read(&p->walk, err);
	p->is_hdf5 = format_by_name("hdf5")->probe(head, HEAD_BYTES) > 0;
	return p->is_hdf5 ? hdf5_walk_open(&p->walk, &p->scan, walk->e) : 0;
}

int hdf5_partner_list(struct hdf5_group *group)
{
	struct hdf5_walk *walk = group->walk;
	int err = walk->partner ? 0 : open_partner(walk);
	struct partner *p = (struct partner *)(void *)walk->partner;

	if (err || !p->is_hdf5)
		return err;
	p->group = group;
	return list_group(p, walk->path.count ? walk->path.items : "/");
}

void hdf5_partner_close(struct hdf5_walk *walk)
{
	if (walk->partner)
		hdf5_walk_close(walk->partner);
	free(walk->partner);
	walk->partner = NULL;
}
