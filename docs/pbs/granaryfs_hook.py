# SPDX-License-Identifier: GPL-3.0-or-later
"""granaryfs_hook.py: a hook of OpenPBS and PBS Professional that mounts what a job asks for.

    qsub -v 'GRANARYFS=/p/data/imagenet.tar train:/p/data/train.tar' job.sh

and the job finds both below $GRANARYFS_DATASETS. The hook reads the request, and leaves the work
to Slurm's scripts, prolog.sh and epilog.sh, which check it, mount with the rights of the job's
user, and unmount whatever hangs. No job is refused, and no node goes offline, whatever a user
wrote: every event is accepted.
"""
import grp
import json
import os
import pwd
import re
import subprocess

import pbs

# Lines of the hook's configuration file, in JSON, override them.
SETTINGS = {
    "scripts": "/usr/libexec/granaryfs/slurm",
    "config": "/etc/granaryfs/slurm.conf",  # the scripts' own
    "variable": "GRANARYFS",
}
LIMIT_SECONDS = 600  # the scripts end by themselves, long before
ARRAY_JOBS = 9 * 10 ** 17  # no other job has such a number


def read_settings():
    settings = dict(SETTINGS)
    path = getattr(pbs, "hook_config_filename", None)
    if path:
        with open(path) as file:
            settings.update(json.load(file))
    return settings


def base_of(settings):
    """Where the scripts mount, as they find it."""
    base = "/run/granaryfs"
    if os.path.exists(settings["config"]):
        with open(settings["config"], errors="replace") as file:
            for line in file:
                if line.startswith("base=/"):
                    base = line[5:].rstrip("\n")
    return base


def job_number(job_id):
    """A number for 123.server, and another one for 123[45].server: the scripts take digits."""
    found = re.match(r"([1-9][0-9]{0,11})(?:\[([0-9]{1,5})\])?(?:\.|$)", job_id)
    if not found:
        raise ValueError("%r is no id of a job" % job_id)
    sequence, index = found.groups()
    if index is None:
        return int(sequence)
    return ARRAY_JOBS + int(sequence) * 10 ** 5 + int(index)


def requested(job, variable):
    """The words of a job's request, as prolog.sh takes them, or an empty text."""
    try:
        words = str(job.Variable_List[variable]).split()
    except (KeyError, TypeError):
        return ""
    return " ".join("granaryfs" + ("" if word.startswith("[") else "=") + word for word in words)


def user_of(job):
    """(user id, group id)"""
    entry = pwd.getpwnam(str(job.euser))
    try:
        return entry.pw_uid, grp.getgrnam(str(job.egroup)).gr_gid
    except (AttributeError, KeyError):
        return entry.pw_uid, entry.pw_gid


def run(script, environment):
    environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    process = subprocess.Popen([script], env=environment, cwd="/", stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def mount(settings, job):
    words = requested(job, settings["variable"])
    if not words:
        return
    uid, gid = user_of(job)
    run(os.path.join(settings["scripts"], "prolog.sh"), {
        "SLURM_JOB_ID": str(job_number(job.id)), "SLURM_JOB_UID": str(uid),
        "SLURM_JOB_GID": str(gid), "SLURM_JOB_COMMENT": words})


def name_datasets(settings, event):
    """The programs of the job learn where its datasets are."""
    if requested(event.job, settings["variable"]):
        event.env["GRANARYFS_DATASETS"] = os.path.join(base_of(settings),
                                                       str(job_number(event.job.id)))


def unmount(settings, job):
    number = str(job_number(job.id))
    # a job that asked for nothing starts no process
    if (requested(job, settings["variable"]) or
            os.path.lexists(os.path.join(base_of(settings), number))):
        run(os.path.join(settings["scripts"], "epilog.sh"), {"SLURM_JOB_ID": number})


def handle(event):
    settings = read_settings()
    if event.type == pbs.EXECJOB_PROLOGUE:
        mount(settings, event.job)
    elif event.type == pbs.EXECJOB_LAUNCH:
        name_datasets(settings, event)
    else:
        unmount(settings, event.job)


def main():
    event = pbs.event()
    try:
        handle(event)
    except Exception as error:  # pylint: disable=broad-except; no fault of ours stops a job
        pbs.logmsg(pbs.EVENT_ERROR, "granaryfs: %s: %s" % (event.job.id, error))
    event.accept()


main()
