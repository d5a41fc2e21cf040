#include "indexer/maps_texts.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "tree/paths.h"
#include "util/bytes.h"
#include "util/filename.h"

static uint64_t word_at(const unsigned char *bytes)
{
	uint64_t word;

	/* whatever the order of its bytes: hashes do not leave the process */
	memcpy(&word, bytes, sizeof(word));
	return word;
}

enum { COMPONENT_MOST = 255, PATH_MOST = 4096 };

static uint64_t secret[2];
static atomic_int secret_made;

static void make_secret(void)
{
	if (atomic_load(&secret_made))
		return;
	/* without one it is slower with hostile names, and right all the same */
	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) < 0)
		secret[0] = 0x736563726574;
	atomic_store(&secret_made, 1);
}

static uint64_t rotate(uint64_t value, unsigned by)
{
	return value << by | value >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

uint32_t map_hash(const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	uint64_t v[4], word;

	make_secret();
	v[0] = secret[0] ^ 0x736f6d6570736575;
	v[1] = secret[1] ^ 0x646f72616e646f6d;
	v[2] = secret[0] ^ 0x6c7967656e657261;
	v[3] = secret[1] ^ 0x7465646279746573;
	for (size_t i = 0; i <= n / 8; i++) {
		if (i < n / 8)
			word = word_at(at + 8 * i);
		else
			word = little_endian(at + 8 * i, n % 8) | (uint64_t)n << 56;
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	word = v[0] ^ v[1] ^ v[2] ^ v[3];
	return (uint32_t)(word ^ word >> 32);
}

struct wanted {
	const char *text;
	size_t size;
};

static bool is_wanted(const void *context, uint32_t id, const void *key)
{
	const struct map_texts *texts = context;
	const struct wanted *wanted = key;
	const char *text = texts->items.items[id];

	return strncmp(text, wanted->text, wanted->size) == 0 && !text[wanted->size];
}

const char *map_texts_keep(struct map_texts *texts, const char *text, size_t size)
{
	struct wanted wanted = { text, size };
	uint32_t hash = map_hash(text, size);
	struct idmap_slot *slot =
		idmap_find(&texts->ids, hash, is_wanted, texts, &wanted);
	const char *kept;

	if (slot)
		return texts->items.items[slot->id_plus_1 - 1];
	kept = arena_copy(&texts->arena, text, size);
	if (!kept || vec_push(&texts->items, kept) < 0 ||
	    idmap_insert(&texts->ids, hash, (uint32_t)texts->items.count - 1) < 0)
		return NULL;
	return kept;
}

void map_texts_free(struct map_texts *texts)
{
	idmap_free(&texts->ids);
	vec_free(&texts->items);
	arena_free(&texts->arena);
}

static const char *component_fault(const char *text, size_t size)
{
	if (size > COMPONENT_MOST)
		return "has a name of more than 255 bytes";
	return memchr(text, '\0', size) ? "has a byte 0 in it" : NULL;
}

const char *map_path_fault(const char *text, size_t size)
{
	const char *fault = NULL;

	if (size == 0)
		return "is empty";
	if (size >= PATH_MOST)
		return "has more than 4095 bytes";
	if (text[size - 1] == '/')
		return "ends with a slash";
	for (size_t start = 0; start < size && !fault;) {
		const char *slash = memchr(text + start, '/', size - start);
		size_t end = slash ? (size_t)(slash - text) : size;

		fault = component_fault(text + start, end - start);
		start = end + 1;
	}
	return fault;
}

const char *map_class_fault(const char *text, size_t size)
{
	if (size == 0)
		return "is empty";
	if (memchr(text, '/', size))
		return "has a slash in it, and a folder's name cannot";
	if ((size == 1 && *text == '.') || (size == 2 && memcmp(text, "..", 2) == 0))
		return "cannot be a folder's name";
	if (size == strlen(PATH_RESERVED) && memcmp(text, PATH_RESERVED, size) == 0)
		return "is .granaryfs, a name that every mount has for itself";
	return component_fault(text, size);
}

bool map_has_folder(const char *path, const char *name, size_t size)
{
	const char *end;

	for (; (end = strchr(path, '/')); path = end + 1)
		if ((size_t)(end - path) == size && memcmp(path, name, size) == 0)
			return true;
	return false;
}

bool map_folders_agree(const char *key, const char *path)
{
	const char *folder;
	size_t n = folder_name_of(path, &folder);

	return n == 0 || !strchr(key, '/') || map_has_folder(key, folder, n);
}
