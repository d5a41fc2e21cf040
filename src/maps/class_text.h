/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * class_text.h: a list of classes in text: names by line, or with a number each.
 *
 * Lines that say their numbers are read by them: a table ("ClassId,SignName"), "0: cat",
 * "cat 0", "n02119789 1 kit_fox". So are data.yaml of YOLO and label maps of TensorFlow.
 *
 * Threads: none.
 */
#ifndef GRANARY_MAPS_CLASS_TEXT_H
#define GRANARY_MAPS_CLASS_TEXT_H

#include "maps/maps_lines.h"
#include "maps/maps_pairs.h"

/* How the list was read, for messages. */
struct class_text_reading {
	bool numbered;	 /* each line says its label, */
	bool titles;	 /* and the first one is titles */
	size_t comments; /* lines */
};

/* Pairs of a label and a name, or (no numbers) of names in their order. */
int map_visit_class_text(const struct map_input *input, struct class_text_reading *reading,
			 struct error *e);

/* The texts that are `names:` of YAML, and items of protobuf's text format. */
bool map_is_yaml_classes(const struct map_lines *lines);
int map_visit_yaml_classes(const struct map_input *input, struct map_lines *lines,
			   struct error *e);
bool map_is_label_map(const struct map_lines *lines);
int map_visit_label_map(const struct map_input *input, struct error *e);

/*
 * A list, tuple or dict as YAML and Python write it, that begins with its bracket at
 * `at`; *end is behind its last one.
 */
int map_visit_flow(const struct map_input *input, const char *at, const char **end,
		   struct error *e);

#endif
