/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sample_rules.h: which arrays of a catalogue may be samples.
 *
 * Threads: any, with a catalogue of their own.
 */
#ifndef GRANARY_LABELS_SAMPLE_RULES_H
#define GRANARY_LABELS_SAMPLE_RULES_H

#include "labels/label_rules.h"

/* Lists all that may be samples. `has_labels`: something beside them may be labels, so that
   their names are no classes. 0 or -ENOMEM. */
int sample_rules_list(const struct catalogue *catalogue, bool has_labels,
		      struct binding_plan *out);

/* Is it shown, now that its labels are known? Numbers without labels are not. */
bool sample_rules_shown(const struct catalogue *catalogue, const struct binding *binding);

/* Is it shown for its shape alone, whatever its name? */
bool sample_rules_guessed(const struct catalogue *catalogue, const struct binding *binding);

#endif
