/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * label_words.h: what arrays and columns are called that hold images, labels, names of
 * classes or names of files. One table for each; formats read no other.
 *
 * A name is looked at word by word: "trainX", "x_train" and "train-images" have two. The
 * key of a name is the words that are left without those for images or labels, and arrays
 * with equal keys are a pair: "trainX" and "trainY", "digit_pixel" and "digit_label".
 *
 * Threads: any.
 */
#ifndef GRANARY_NAMES_LABEL_WORDS_H
#define GRANARY_NAMES_LABEL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "names/split_words.h"

enum { NAME_KEY_BYTES = 128 };

/* The words that are no images ("x") or labels ("y") by themselves: small letters, a blank
   between two; one word for each split. Cut at NAME_KEY_BYTES. */
void name_key(const char *name, char out[NAME_KEY_BYTES]);

/* Is one of its words, or all of it, one for images? "train_images", "encoded_data". */
bool name_has_image_word(const char *name);

/* Is one of its words one for labels? "fine_labels", "train_y". */
bool name_has_label_word(const char *name);

/* How usual the name is for labels, 0 is most; without the words of its key. */
unsigned name_label_rank(const char *name);

/* May it be labels although it goes with no name of an array? "fine_labels", but neither
   "center_y" nor "label_start_ix". */
bool name_may_label_any(const char *name);

/* Beside labels, may it be other labels? "label2", "superclass"; not "class_count". */
bool name_may_be_rival(const char *name);

/* Has it a part that hints at a label ("species_id"), or at what else is said of a sample
   ("width")? For items of unknown names: hints are no labels. */
bool name_hints_label(const char *name);
bool name_hints_other(const char *name);

/* Of another length, may it be something else than labels? "classes". */
bool name_is_vague(const char *name);

/* How usual the name is for a list of classes or of files; -1: it is none. */
int name_class_list_rank(const char *name);
int name_file_list_rank(const char *name);

/* Does a column of this name say the split of each row? "split", "subset". */
bool name_is_split_column(const char *name);

/* May values of any type there say the split of each row? "usage", "is_train", "test_mask". */
bool name_may_say_split(const char *name);

/* Does it list the rows of a split, which is left in `out`? "train_idx", "split/test",
   "splits/fold_0/test". */
bool name_is_split_list(const char *name, char out[SPLIT_BYTES]);

/* Has it a word for a split? */
bool name_has_split_word(const char *name);

/* "n01440764", as ImageNet names its classes. */
bool name_is_wnid(const char *name, size_t n);

/* False: the names say that the two are of different splits. */
bool names_splits_agree(const char *a, const char *b);

/* The part of a file in a pair, "train_x.h5" or "train_y.h5": both have one key. */
enum name_pair { NAME_NO_PAIR, NAME_PAIR_IMAGES, NAME_PAIR_LABELS };
enum name_pair name_pair(const char *name, char key[NAME_KEY_BYTES]);

/* Is `name` what labels=CHOSEN means for `array`: "attr", or "train_attr" of "train_x"? */
bool name_is_chosen(const char *name, const char *chosen, const char *array);

#endif
