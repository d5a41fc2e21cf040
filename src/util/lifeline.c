#include "util/lifeline.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

struct lifeline {
	pthread_mutex_t mutex;
};

struct lifeline *lifeline_new(void)
{
	struct lifeline *line = mmap(NULL, sizeof(*line), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;

	if (line == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&line->mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return line;
}

void lifeline_free(struct lifeline *line)
{
	if (line)
		munmap(line, sizeof(*line));
}

int lifeline_hold(struct lifeline *line)
{
	int err = pthread_mutex_lock(&line->mutex);

	if (err == EOWNERDEAD)
		err = pthread_mutex_consistent(&line->mutex);
	return -err;
}

bool lifeline_is_cut(struct lifeline *line)
{
	int err = pthread_mutex_trylock(&line->mutex);

	if (err == EOWNERDEAD)
		pthread_mutex_consistent(&line->mutex);
	if (err == 0 || err == EOWNERDEAD)
		pthread_mutex_unlock(&line->mutex);
	return err == EOWNERDEAD;
}

void lifeline_reset(struct lifeline *line)
{
	/* asking does it: who finds it cut mends it */
	lifeline_is_cut(line);
}
