#include "util/split.h"

#include <string.h>
#include <strings.h>

static bool is_word(const char *text, size_t n,
		    int (*compare)(const char *word, const char *text, size_t n))
{
	static const char *const words[] = { "train", "training", "val", "valid",
					     "validation", "test", "testing" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == n && compare(words[i], text, n) == 0)
			return true;
	return false;
}

bool split_is_word(const char *text, size_t n)
{
	return is_word(text, n, strncasecmp);
}

bool split_is_small_word(const char *text, size_t n)
{
	return is_word(text, n, strncmp);
}
