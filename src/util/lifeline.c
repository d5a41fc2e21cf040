#include "util/lifeline.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/cleanup.h"

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

/* From /proc/PID/task/TID/stat: behind the name, which may hold anything. */
static char state_of(int folder, const char *thread)
{
	char path[300], line[512];
	CLEANUP(cleanup_close) int fd = -1;
	const char *end;
	ssize_t n;

	snprintf(path, sizeof(path), "%.255s/stat", thread);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (n <= 0)
		return 'X'; /* gone since it was listed */
	line[n] = '\0';
	end = strrchr(line, ')');
	return end && end[1] == ' ' ? end[2] : '?';
}

bool lifeline_rest_is_stuck(pid_t process)
{
	char path[64];
	struct dirent *entry;
	bool stuck = true;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)process);
	folder = opendir(path);
	if (!folder)
		return errno == ENOENT;
	while (stuck && (entry = readdir(folder))) {
		if (entry->d_name[0] != '.')
			stuck = strchr("DZX", state_of(dirfd(folder), entry->d_name));
	}
	closedir(folder);
	return stuck;
}

void lifeline_reset(struct lifeline *line)
{
	/* asking does it: who finds it cut mends it */
	lifeline_is_cut(line);
}
