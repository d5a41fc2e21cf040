/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples/wds_build.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/idmap.h"
#include "base/text.h"
#include "build/findings.h"
#include "names/image_suffixes.h"
#include "names/split_words.h"
#include "place/format_options.h"
#include "samples/pickled_image.h"
#include "samples/wds_extents.h"
#include "samples/wds_samples.h"

enum {
	HEADER_BYTES = 64,
	SNIFFED = 8,       /* images of a shard that may be looked into */
	SUFFIX_MOST = 256,
};

/* The header of all images of one size, which is stored once. */
struct header {
	struct wds_image of;
	struct sample_bytes bytes;
};

/* A member, and what it is shown as. */
struct wds_build_part {
	const struct wds_member *member;
	bool image;              /* its suffix says so, or it is pickled */
	bool pickled;
	struct wds_image pixels; /* if pickled */
	const char *extension;   /* in place of its own, which says no format; or NULL */
};

struct build {
	struct scan *scan;
	const struct webdataset_config *config;
	struct wds_window *window;
	struct pickled_image_reader *pyd;
	const struct wds_rule *rule;
	struct entries *kept;
	VEC(struct entry_extent) extents;
	VEC(struct header) headers;
	struct idmap header_ids;
	struct text name;
	struct text split; /* of the group that has been begun */
	const char *nameless; /* the extension of images whose own says no format; or NULL */
	unsigned sniffed;     /* of which so many have been looked at */
	struct wds_build_part parts[WDS_MEMBERS_MOST];
	struct wds_complaint pickles, unknown;
	struct wds_findings *findings;
};

static const char *const sidecar_suffixes[] = { "cls", "cls2", "class", "count", "index",
						"inx", "id", "txt", "text", "transcript",
						"json", "jsn", "xml", NULL };

static bool is_sidecar_suffix(const char *suffix)
{
	const char *const *list = sidecar_suffixes;

	while (*list && strcasecmp(*list, suffix) != 0)
		list++;
	return *list;
}

static bool is_image_suffix(const char *suffix)
{
	return image_suffix(suffix) & (SUFFIX_IMAGE | SUFFIX_VAGUE);
}

void wds_complaint_add(struct wds_complaint *complaint, const char *path, size_t n,
		       const char *why)
{
	if (complaint->count++)
		return;
	snprintf(complaint->why, sizeof(complaint->why), "%s", why);
	snprintf(complaint->first, sizeof(complaint->first), "%.*s",
		 n < 200 ? (int)n : 200, path);
}

/* Entries that stay as they are */

static int wds_build_add(struct build *b, struct entries *log, const struct entry *entry)
{
	struct entry copy = *entry;
	int err = 0;

	b->extents.count = 0;
	if (vec_reserve(&b->extents, entry->extent_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < entry->extent_count && !err; i++) {
		struct entry_extent *x = &b->extents.items[b->extents.count++];
		const struct entry_extent *old = &entry->extents[i];

		err = wds_extent_copy(b->kept, b->scan, log, old, x);
		x->file_offset = old->file_offset;
	}
	copy.extents = b->extents.items;
	return err ? err : entries_add(b->kept, &copy);
}

/*
 * Directories come back with what is in them: an empty one would be a class. So would be
 * one of what WebDataset skips.
 */
static int add_other(void *context, struct entries *log, const struct entry *entry)
{
	struct build *b = context;
	struct wds_findings *findings = b->findings;

	if (entry->kind == ENTRY_DIRECTORY)
		return 0;
	if (!wds_is_meta(entry->path))
		return wds_build_add(b, log, entry);
	if (findings->skipped++ == 0)
		snprintf(findings->first_skipped, sizeof(findings->first_skipped), "%s",
			 entry->path);
	return 0;
}

static int add_sample_entries(struct build *b, const struct wds_sample *sample)
{
	int err = 0;

	for (size_t i = 0; i < sample->members.count && !err; i++) {
		const struct wds_member *member = &sample->members.items[i];

		err = wds_build_add(b, member->log,
				    entries_get(member->log, member->index));
	}
	return err;
}

/* The files of a sample */

static bool same_size(const void *context, uint32_t id, const void *key)
{
	const struct header *header = (const struct header *)context + id;
	const struct wds_image *image = key;

	return header->of.width == image->width && header->of.height == image->height &&
	       header->of.channels == image->channels;
}

static int make_header(struct build *b, const struct wds_image *image,
		       struct sample_bytes *out)
{
	uint32_t hash = (uint32_t)hash_number(image->width, hash_number(image->height,
								       image->channels));
	struct idmap_slot *slot = idmap_find(&b->header_ids, hash, same_size,
					     b->headers.items, image);
	struct header made = { .of = *image };
	struct entry_extent extent;
	char text[HEADER_BYTES];
	int n, err;

	if (slot) {
		*out = b->headers.items[slot->id_plus_1 - 1].bytes;
		return 0;
	}
	n = snprintf(text, sizeof(text), "P%c\n%" PRIu64 " %" PRIu64 "\n255\n",
		     image->channels == 3 ? '6' : '5', image->width, image->height);
	err = entries_literal_extent(b->kept, text, (size_t)n, &extent);
	if (err)
		return err;
	made.bytes = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	*out = made.bytes;
	if (vec_push(&b->headers, made) < 0)
		return -ENOMEM;
	return idmap_insert(&b->header_ids, hash, (uint32_t)b->headers.count - 1);
}

static int raw_bytes(struct build *b, uint64_t offset, uint64_t length,
		     struct sample_bytes *out)
{
	struct entry_extent extent;
	int err = 0;

	*out = (struct sample_bytes){ 0 };
	if (length == 0)
		return 0;
	err = entries_raw_extent(b->kept, b->scan->source_number,
				 source_size(b->scan->source), offset, length, &extent);
	if (!err)
		*out = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	return err;
}

static int coded_bytes(struct build *b, const struct wds_member *member,
		       struct sample_bytes *out)
{
	const struct entry *entry = entries_get(member->log, member->index);
	struct entry_extent extent;
	int err = wds_extent_copy(b->kept, b->scan, member->log, &entry->extents[0],
				  &extent);

	if (!err)
		*out = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	return err;
}

/* A member with holes is a label: all others are in one piece. */
static int literal_bytes(struct build *b, const struct wds_member *member,
			 struct sample_bytes *out)
{
	VEC(unsigned char) text = VEC_INIT;
	struct entry_extent extent;
	int err = vec_reserve(&text, member->size);

	if (!err)
		err = wds_window_member(b->window, member, text.items);
	if (!err)
		err = entries_literal_extent(b->kept, text.items, member->size, &extent);
	if (!err)
		*out = (struct sample_bytes){ extent.offset, extent.length, extent.volume };
	vec_free(&text);
	return err;
}

static int fill_bytes(struct build *b, const struct wds_build_part *part,
		      struct sample *out)
{
	const struct wds_member *member = part->member;
	int err;

	if (part->pickled) {
		err = make_header(b, &part->pixels, &out->head);
		return err ? err : raw_bytes(b, part->pixels.offset, part->pixels.length,
					     &out->body);
	}
	if (member->coded)
		return coded_bytes(b, member, &out->body);
	if (!member->whole)
		return literal_bytes(b, member, &out->body);
	return raw_bytes(b, member->offset, member->size, &out->body);
}

/* The names of files */

/* `pyd` and `input.pyd` are where a sample's image is, if it has no other. */
static bool is_pickled_input(const char *suffix)
{
	return strcasecmp(suffix, "pyd") == 0 || strcasecmp(suffix, "input.pyd") == 0;
}

/*
 * `img` becomes `jpg`, and `left.img` `left.jpg`, if that is the format. `input.pyd` and
 * `pyd` become `ppm`, `left.pyd` becomes `left.ppm`.
 */
static int make_name(struct build *b, const struct wds_sample *sample,
		     const struct wds_build_part *part, const char *path)
{
	const char *suffix = part->member->suffix, *extension = part->extension;
	const char *end = wds_extension(suffix);

	if (part->pickled) {
		extension = part->pixels.channels == 3 ? "ppm" : "pgm";
		if (is_pickled_input(suffix) && !wds_sample_find(sample, extension))
			end = suffix;
	}
	text_cut(&b->name, 0);
	return text_print(&b->name, "%.*s%s", extension ? (int)(end - path) : INT_MAX, path,
			  extension ? extension : "");
}

/*
 * The group of a split: the shard's, or the first directory of the key, if it is called so
 * (which is then no part of the name). How many bytes of the path are the split's.
 */
static int choose_group(struct build *b, const char *path, size_t *skip)
{
	const char *split = b->config->split ? b->config->split : "";
	size_t n = strcspn(path, "/"), length = strlen(split);
	struct sample_group group = { .name = "samples", .labels = b->rule->name,
				      .labels_in_words = true, .extension = "" };

	*skip = 0;
	if (path[n] == '/' && split_is_word(path, n) &&
	    (length == 0 || (length == n && strncmp(path, split, n) == 0))) {
		split = path;
		length = n;
		*skip = n + 1;
	}
	if (b->split.items && b->split.count == length &&
	    memcmp(b->split.items, split, length) == 0)
		return 0;
	text_cut(&b->split, 0);
	if (text_append(&b->split, split, length) < 0)
		return -ENOMEM;
	group.split = b->split.items;
	return samples_begin(b->scan->samples, &group);
}

/* A sample */

/* Has the sample a member already that is called as this one would be? */
static bool has_suffix_already(const struct wds_sample *sample, const char *suffix,
			       const char *extension)
{
	int before = (int)(wds_extension(suffix) - suffix);
	char other[SUFFIX_MOST];
	int n = snprintf(other, sizeof(other), "%.*s%s", before, suffix, extension);

	return n >= (int)sizeof(other) || wds_sample_find(sample, other);
}

/* An image whose suffix does not say its format: the first of the shard say it. */
static int detect_nameless(struct build *b, const struct wds_sample *sample,
			   struct wds_build_part *part)
{
	const struct wds_member *member = part->member;
	size_t n = member->size < SAMPLES_SNIFF_BYTES ? (size_t)member->size :
							SAMPLES_SNIFF_BYTES;
	unsigned char head[SAMPLES_SNIFF_BYTES];
	int err = 0;

	if (!b->nameless && b->sniffed < SNIFFED && n) {
		b->sniffed++;
		err = wds_window_head(b->window, member, n, head);
		if (!err)
			b->nameless = samples_detect_type(head, n);
		err = err == -EBADMSG ? 0 : err;
	}
	if (b->nameless && !has_suffix_already(sample, member->suffix, b->nameless))
		part->extension = b->nameless;
	else
		wds_complaint_add(&b->unknown, member->path, strlen(member->path), "");
	return err;
}

static bool should_be_image(const struct wds_sample *sample, const char *suffix)
{
	if (!is_pickled_input(suffix))
		return false;
	for (size_t i = 0; i < sample->members.count; i++)
		if (is_image_suffix(wds_extension(sample->members.items[i].suffix)))
			return false;
	return true;
}

static int wds_build_detect(struct build *b, const struct wds_sample *sample,
			    const struct wds_member *member, struct wds_build_part *part)
{
	const char *extension = wds_extension(member->suffix), *why = NULL;
	int err;

	*part = (struct wds_build_part){ .member = member };
	part->image = is_image_suffix(extension);
	if (image_suffix(extension) & SUFFIX_VAGUE)
		return detect_nameless(b, sample, part);
	if (strcasecmp(extension, "pyd") != 0 || !member->whole)
		return 0;
	err = pickled_image_find(b->pyd, member->offset, member->size, &part->pixels,
				 &why);
	part->image = part->pickled = err == 0;
	if (err == -ENODATA && member != wds_label_member(b->rule, sample) &&
	    should_be_image(sample, member->suffix))
		wds_complaint_add(&b->pickles, member->path, strlen(member->path),
				  "it holds no PIL image that can be read (protocols 3 "
				  "to 5 can)");
	if (err == -ENOTSUP)
		wds_complaint_add(&b->pickles, member->path, strlen(member->path), why);
	return err == -ENOTSUP || err == -ENODATA ? 0 : err;
}

/* Is its suffix nothing but its format? Then it is what the sample is about: "jpg". */
static bool is_plain_image(const struct wds_build_part *part)
{
	return part->member && part->image && !strchr(part->member->suffix, '.');
}

/* Beside a `.jpg`, a `.seg.png` is a sidecar, too. */
static void hide_other_images(struct wds_build_part *parts, size_t n)
{
	bool plain = false;

	for (size_t i = 0; i < n; i++)
		plain |= is_plain_image(&parts[i]);
	for (size_t i = 0; i < n && plain; i++)
		if (parts[i].image && !is_plain_image(&parts[i]))
			parts[i].member = NULL;
}

/* Without sidecars: the images; else what is no sidecar; else all but the label. */
static void hide_sidecars(const struct wds_member *label, struct wds_build_part *parts,
			  size_t n)
{
	bool images = false, others = false;

	for (size_t i = 0; i < n; i++) {
		images |= parts[i].image;
		others |= parts[i].member != label &&
			  !is_sidecar_suffix(wds_extension(parts[i].member->suffix));
	}
	for (size_t i = 0; i < n; i++) {
		const char *extension = wds_extension(parts[i].member->suffix);

		if (parts[i].member == label || (images && !parts[i].image) ||
		    (!images && others && is_sidecar_suffix(extension)))
			parts[i].member = NULL;
	}
	hide_other_images(parts, n);
}

/* The directory says all that a `.cls` holds: without it half as many inodes are walked. */
static void hide_label(const struct wds_member *label, struct wds_build_part *parts,
		       size_t n)
{
	if (n < 2 || !label || strcasecmp(wds_extension(label->suffix), "cls") != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (parts[i].member == label)
			parts[i].member = NULL;
}

/* A loader takes each image for a sample: says so of the first sample with several. */
static void count_images(struct wds_findings *findings, const struct wds_sample *sample,
			 const struct wds_build_part *parts, size_t n)
{
	char list[sizeof(findings->images)] = "";
	size_t images = 0, plain = 0;

	for (size_t i = 0; i < n; i++) {
		if (!parts[i].member || !parts[i].image)
			continue;
		plain += is_plain_image(&parts[i]);
		buffer_print(list, sizeof(list), "%s.%.20s", images++ ? ", " : "",
			     parts[i].member->suffix);
	}
	if (images < 2 || findings->several++)
		return;
	memcpy(findings->images, list, sizeof(list));
	findings->one_is_plain = plain == 1;
	snprintf(findings->first_several, sizeof(findings->first_several), "%.*s",
		 (int)(sample->key_length < 60 ? sample->key_length : 60), sample->key);
}

/* Notes the split of a file, where all samples of the shard say theirs. */
static int add_split(struct build *b, const struct wds_record *record)
{
	struct wds_splits *splits = &b->findings->splits;

	if (splits->partial || b->config->split)
		return 0;
	return vec_push(&splits->files, record->split);
}

static int wds_build_add_part(struct build *b, const struct wds_sample *sample,
			      const struct wds_build_part *part,
			      const struct wds_record *record, const char *class_name)
{
	struct sample made = { .label = record->number, .class_name = class_name };
	const char *path = wds_plain_path(part->member->path);
	size_t skip;
	int err = choose_group(b, path, &skip);

	if (!err)
		err = fill_bytes(b, part, &made);
	if (!err)
		err = make_name(b, sample, part, wds_plain_path(path + skip));
	made.name = b->name.items;
	if (!err)
		err = samples_add(b->scan->samples, &made);
	return err ? err : add_split(b, record);
}

static int wds_build_add_sample(struct build *b, const struct wds_sample *sample,
				const struct wds_record *record, const char *class_name)
{
	size_t n = sample->members.count;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = wds_build_detect(b, sample, &sample->members.items[i],
				       &b->parts[i]);
	if (!err && b->config->sidecars == SIDECARS_HIDE)
		hide_sidecars(wds_label_member(b->rule, sample), b->parts, n);
	if (!err && b->config->sidecars == SIDECARS_AUTO)
		hide_label(wds_label_member(b->rule, sample), b->parts, n);
	if (!err)
		count_images(b->findings, sample, b->parts, n);
	for (size_t i = 0; i < n && !err; i++)
		if (b->parts[i].member)
			err = wds_build_add_part(b, sample, &b->parts[i], record,
						 class_name);
	return err;
}

static int build_all(struct build *b, const struct wds_records *records)
{
	struct wds_walk walk = { .log = b->scan->entries, .other = add_other, .context = b };
	struct wds_sample sample = { 0 };
	int more, err = 0;

	for (size_t i = 0; !err && (more = wds_walk_next(&walk, &sample)) != 0; i++) {
		const struct wds_record *record = &records->items.items[i];

		if (more < 0)
			err = more;
		else if (!record->used)
			err = add_sample_entries(b, &sample);
		else
			err = wds_build_add_sample(b, &sample, record,
						   record->named ? records->texts.items +
									   record->number
								 : NULL);
	}
	wds_sample_free(&sample);
	return err;
}

static void wds_build_finish(struct build *b)
{
	struct entries *old = b->scan->entries;

	for (uint64_t i = entries_left_out(old); i > 0; i--)
		entries_leave_out(b->kept);
	b->scan->entries = b->kept;
	b->kept = NULL;
	entries_free(old);
	if (b->pickles.count)
		findings_add(b->scan->findings, FINDING_LEFT_OUT,
			     "'%s' is shown as the pickle that it is, because %s (%"
			     PRIu64 " such members)", b->pickles.first, b->pickles.why,
			     b->pickles.count);
	if (b->unknown.count)
		findings_add(b->scan->findings, FINDING_LEFT_OUT,
			     "'%s' keeps its name, which ImageFolder does not take for "
			     "an image's, because %s (%" PRIu64 " such members)",
			     b->unknown.first,
			     b->nameless ? "there is one of its new name" :
			     "the first ones begin like no image that is known",
			     b->unknown.count);
}

int wds_build(struct scan *scan, const struct webdataset_config *config,
	      struct wds_window *window, const struct wds_rule *rule,
	      const struct wds_records *records, struct wds_findings *findings)
{
	struct build b = { .scan = scan, .config = config, .window = window, .rule = rule,
			   .findings = findings, .kept = entries_new(),
			   .pyd = pickled_image_new(window) };
	int err = b.kept && b.pyd ? build_all(&b, records) : -ENOMEM;

	if (!err)
		wds_build_finish(&b);
	entries_free(b.kept);
	pickled_image_free(b.pyd);
	vec_free(&b.extents);
	vec_free(&b.headers);
	vec_free(&b.name);
	vec_free(&b.split);
	idmap_free(&b.header_ids);
	return err;
}
