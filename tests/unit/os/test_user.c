/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rights of a user that is named: its numbers, groups and home. */
#include "os/rights_kit.h"

#include <pwd.h>

static const char *const names[] = {
	"no such user", "", "-1", "4294967295", "4294967296", "99999999999999999999",
	"0x0", " 0", "0 ", "3999999999", "root/daemon",
};

static void test_unknown_users(void **state)
{
	size_t i = unit_row(state);
	struct rights rights = { .uid = 7 };
	struct error e = { 0 };

	assert_int_equal(rights_of_user(names[i], &rights, &e), -ENOENT);
	assert_int_equal(e.status, ERROR_USAGE);
	if (!strstr(e.text, names[i]) || strchr(e.text, '\n'))
		fail_msg("%s", e.text);
	assert_null(rights.groups);
	assert_null(rights.home);
}

static void same_as_now(const struct rights *rights)
{
	gid_t groups[1024];
	int n = getgroups(1024, groups);

	assert_int_equal(rights->uid, geteuid());
	assert_int_equal(rights->gid, getegid());
	assert_int_equal(rights->group_count, n);
	assert_memory_equal(rights->groups, groups, (size_t)n * sizeof(*groups));
}

static void test_oneself_by_name_and_number(void **state)
{
	const struct passwd *me = getpwuid(geteuid());
	struct rights rights;
	char number[16];

	(void)state;
	snprintf(number, sizeof(number), "%u", geteuid());
	assert_int_equal(rights_of_user(number, &rights, NULL), 0);
	same_as_now(&rights);
	assert_int_equal(rights_assume(&rights, NULL), 0); /* changes nothing */
	rights_free(&rights);
	rights_free(&rights);
	if (!me)
		return;
	assert_int_equal(rights_of_user(me->pw_name, &rights, NULL), 0);
	same_as_now(&rights);
	assert_string_equal(rights.home, me->pw_dir);
	rights_free(&rights);
}

/* id(1) asks the same database. */
static void compare_with_id(const struct passwd *one)
{
	struct rights by_name, by_number;
	char command[256], line[8192] = "", ours[8192] = "";
	FILE *id;

	snprintf(command, sizeof(command), "%u", one->pw_uid);
	assert_int_equal(rights_of_user(one->pw_name, &by_name, NULL), 0);
	assert_int_equal(rights_of_user(command, &by_number, NULL), 0);
	assert_int_equal(by_name.uid, by_number.uid);
	assert_int_equal(by_name.gid, by_number.gid);
	snprintf(command, sizeof(command), "id -G '%s'", one->pw_name);
	id = popen(command, "r");
	assert_non_null(id);
	assert_non_null(fgets(line, sizeof(line), id));
	pclose(id);
	for (size_t i = 0; i < by_name.group_count; i++)
		snprintf(ours + strlen(ours), sizeof(ours) - strlen(ours), "%s%u",
			 i ? " " : "", by_name.groups[i]);
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(ours, line);
	rights_free(&by_name);
	rights_free(&by_number);
}

static void test_every_user_of_this_machine(void **state)
{
	unsigned compared = 0;

	(void)state;
	for (unsigned uid = 1; uid < 100; uid++) {
		const struct passwd *one = getpwuid(uid);
		struct passwd copy;
		char name[64];

		if (!one || strlen(one->pw_name) >= sizeof(name))
			continue;
		copy = *one;
		snprintf(name, sizeof(name), "%s", one->pw_name);
		copy.pw_name = name;
		compare_with_id(&copy);
		compared++;
	}
	assert_true(compared > 0);
}

static int ask_for_another(void *argument)
{
	const char *whom = argument;
	struct rights rights;
	struct error e = { 0 };

	if (!become_plain())
		return NOT_HERE;
	WANT(rights_of_user(whom, &rights, &e) == -EPERM);
	WANT(e.status == ERROR_SYSTEM && strstr(e.text, "only root"));
	WANT(!rights.groups);
	return 0;
}

static void test_another_user_is_only_for_root(void **state)
{
	(void)state;
	where_possible(ask_for_another, (char[]){ "root" });
	where_possible(ask_for_another, (char[]){ "0" });
}

static const struct CMUnitTest plain[] = {
	unit_texts(test_unknown_users, names),
	cmocka_unit_test(test_oneself_by_name_and_number),
	cmocka_unit_test(test_another_user_is_only_for_root),
};

static const struct CMUnitTest privileged[] = {
	unit_texts(test_unknown_users, names),
	cmocka_unit_test(test_oneself_by_name_and_number),
	cmocka_unit_test(test_every_user_of_this_machine),
	cmocka_unit_test(test_another_user_is_only_for_root),
	cmocka_unit_test(test_all_of_it_as_a_user),
};

RIGHTS_MAIN(plain, privileged)
