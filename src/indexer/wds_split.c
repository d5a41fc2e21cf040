#include "indexer/wds_split.h"

#include <ctype.h>
#include <string.h>

#include "util/filename.h"
#include "util/split.h"

const char *wds_split_of(const char *path, char out[WDS_SPLIT_BYTES])
{
	const char *at = filename_of(path);

	while (*at) {
		size_t n = 0;

		while (isalpha((unsigned char)at[n]))
			n++;
		if (n && n < WDS_SPLIT_BYTES && split_is_word(at, n)) {
			memcpy(out, at, n);
			out[n] = '\0';
			return out;
		}
		at += n ? n : 1;
	}
	return NULL;
}

bool wds_several_splits(const struct source_set *sources)
{
	char first[WDS_SPLIT_BYTES] = "", other[WDS_SPLIT_BYTES];

	for (size_t i = 0; i < sources->count; i++) {
		const char *path = source_path(sources->sources[i]);

		if (!*first)
			(void)wds_split_of(path, first);
		else if (wds_split_of(path, other) && strcmp(first, other) != 0)
			return true;
	}
	return false;
}
