/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/log_writer.h"
#include "os/place.h"

static int log_file_refuse(const char *path, int errnum, const char *why, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, errnum,
			 "-o log=%s: %s; name a file in a directory that is "
			 "there and can be written", path, why);
}

int log_open_file(const char *path, struct error *e)
{
	/* do not wait for a FIFO's reader or a terminal's carrier */
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	const char *other = "is neither a file nor a device; name a file, or log to "
			    "standard error with -f";
	int fd = place_open_file(path, flags, 0640, e);
	struct stat st;

	if (fd == -EPERM)
		return fd;
	if (fd < 0)
		return log_file_refuse(path, -fd, fd == -ENXIO ? other : strerror(-fd),
				       e);
	if (fstat(fd, &st) < 0 || (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))) {
		close(fd);
		return log_file_refuse(path, EINVAL, other, e);
	}
	return log_writer_start(fd, e);
}

int log_to_file(const char *path, struct error *e)
{
	int fd = log_open_file(path, e);

	if (fd < 0)
		return fd;
	log_writer_use(fd);
	return 0;
}
