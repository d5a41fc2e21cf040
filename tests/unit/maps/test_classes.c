/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of classes, as people and programs write them. */
#include "maps_kit.h"

#include "maps/class_columns.h"
#include "maps/name_map.h"

static const struct fixture lists[] = {
	CASE("n01440764 tench, Tinca tinca\nn01443537 goldfish, Carassius auratus\n",
	     "0=n01440764\n1=n01443537\n"),
	CASE("\xef\xbb\xbf"
	     "tench, Tinca\r\ngreat white shark\r\n\r\n",
	     "0=tench, Tinca\n1=great white shark\n"),
	CASE("n01440764\nn0144 tench", "0=n01440764\n1=n0144 tench\n"),
	CASE("[\"cat\", \"dog\"]", "0=cat\n1=dog\n"),
	CASE("{\"1\": [\"n01443537\", \"goldfish\"], \"0\": [\"n01440764\", \"tench\"]}",
	     "0=n01440764\n1=n01443537\n"),
	CASE("{\"10\": \"dog\", \"-3\": \"cat\"}", "-3=cat\n10=dog\n"),
	CASE("{\"dog\": 1, \"cat\": 0}", "0=cat\n1=dog\n"),
	CASE("\x80\x04}(K\x05\x8c\x03"
	     "catK\x01\x8c\x03"
	     "dogu.",
	     "1=dog\n5=cat\n"),
	CASE("\x80\x04](\x8c\x03"
	     "cat\x8c\x03"
	     "doge.",
	     "0=cat\n1=dog\n"),

	CASE("", "list: it is empty"),
	CASE("\n\n", "list: it is empty"),
	CASE("ImageId,PredictionString\nx,n01440764 1 2 3 4\n",
	     "list: line 1: a table of files is no list of classes; give it to names="),
	CASE("cat\n\ndog\n", "list: line 2 is empty"),
	CASE("tench\ncrane\ncrane\n",
	     "list: line 2 and line 3: labels 1 and 2 are both called "
	     "'crane'"),
	CASE("{\"0\": \"a\", \"00\": \"b\"}", "item 2: label 0 is called 'b' here"),
	CASE("{\"a\": \"b\"}", "list: item 1: neither its key nor its value is a number"),
	CASE("{\"0\": null}", "list: item 1: is not the name of a class"),
	CASE("[[]]", "list: item 1: is not the name"),
	CASE("[\"a/b\"]", "list: item 1: the class 'a/b' has a slash"),
	CASE("[\"..\"]", "cannot be a directory's name"),
	CASE("a\0b\n", "byte 1 is 0"),
	CASE("7", "0=7\n"),
};

static void test_lists(void **state)
{
	check_case(&lists[unit_row(state)], read_list);
}

static void test_lists_damaged(void **state)
{
	check_damage(&lists[unit_row(state)], read_list);
}

#define FOUR "0=added\n1=curve\n2=stop\n3=yield\n"

/* Lines that say their labels are read by them, in whatever order they are. */
static const struct fixture numbered[] = {
	CASE("ClassId,SignName\n0,added\n1,curve\n2,stop\n3,yield\n", FOUR),
	CASE("stop,2\nadded,0\nyield,3\ncurve,1\n", FOUR),
	CASE("stop 2\nadded 0\nyield 3\ncurve 1\n", FOUR),
	CASE("2 stop\n0 added\n3 yield\n1 curve\n", FOUR),
	CASE("id\tname\n2\tstop\n0\tadded\n3\tyield\n1\tcurve\n", FOUR),
	CASE("stop;2\r\nadded;0\r\nyield;3\r\ncurve;1\r\n\r\n", FOUR),
	CASE("stop|2\nadded|0\nyield|3\ncurve|1", FOUR),
	CASE("stop\t2\radded\t0\ryield\t3\rcurve\t1\r", FOUR),
	CASE("0: added\n1: curve\n2: stop\n3: yield\n", FOUR),
	CASE("0 : added\n1:curve\n2 :stop\n3: yield\n", FOUR),
	CASE("'3': 'yield'\n'0': 'added'\n'1': \"curve\"\n'2': stop\n", FOUR),
	CASE("added=0\ncurve = 1\nstop=2\nyield= 3\n", FOUR),
	CASE("0. added\n1. curve\n2. stop\n3. yield\n", FOUR),
	CASE("0) added\n1) curve\n2) stop\n3) yield\n", FOUR),
	CASE("[0] added\n[1] curve\n[2] stop\n[3] yield\n", "cannot be read"),
	CASE("added -> 0\ncurve => 1\nstop - 2\nyield -> 3\n", FOUR),
	CASE("0 -> added\n1 => curve\n2 -> stop\n3 - yield\n", FOUR),
	CASE("id name\n0 7\n1 3\n", "0=7\n1=3\n"),
	CASE("id,x,name\n0,1,a\n1,0,b\n", "0=a\n1=b\n"),
	CASE("3 - yield\n0 - added\n1 - curve\n2 - stop\n", FOUR),
	CASE("# classes\n# of signs\n0,added\n1,curve\n\n2,stop\n3,yield\n", FOUR),
	CASE("id name\n2 stop\n0 added\n3 yield\n1 curve\n", FOUR),
	CASE("name id\nstop 2\nadded 0\nyield 3\ncurve 1\n", FOUR),
	CASE(",name\n0,added\n1,curve\n2,stop\n3,yield\n", FOUR),
	CASE("\"id\",\"name\"\n\"0\",\"added\"\n\"1\",\"curve\"\n\"2\",\"stop\"\n\"3\",\"yield\"\n", FOUR),
	CASE("\xef\xbb\xbf" "id,name\r\n0,added\r\n1,curve\r\n2,stop\r\n3,yield\r\n", FOUR),
	CASE("id,name\n0.0,added\n1.0,curve\n2.0,stop\n3.0,yield\n", FOUR),
	CASE("0,\"tench, Tinca tinca\"\n1,\"the \"\"big\"\" one\"\n",
	     "0=tench, Tinca tinca\n1=the \"big\" one\n"),
	CASE("id,name\n0,tench, Tinca tinca\n1,goldfish\n", "0=tench, Tinca tinca\n1=goldfish\n"),
	CASE("tench, Tinca tinca,1\ngoldfish,0\n", "0=goldfish\n1=tench, Tinca tinca\n"),
	CASE("id,name,supercategory\n2,dog,animal\n0,car,vehicle\n1,bus,vehicle\n",
	     "0=car\n1=bus\n2=dog\n"),
	CASE("index,wnid,name\n1,n01443537,goldfish\n0,n01440764,tench\n",
	     "0=n01440764\n1=n01443537\n"),
	CASE("n02119789 1 kit_fox\nn02100735 2 English_setter\nn02110185 3 Siberian_husky\n",
	     "1=n02119789\n2=n02100735\n3=n02110185\n"),
	CASE("n01443537 1\nn01440764 0\n", "0=n01440764\n1=n01443537\n"),
	CASE("1 n01443537 goldfish\n0 n01440764 tench\n", "0=n01440764\n1=n01443537\n"),
	CASE("-1,none\n0,a\n90,b\n", "-1=none\n0=a\n90=b\n"),
	CASE("1 001.Black_footed_Albatross\n2 002.Laysan_Albatross\n",
	     "1=001.Black_footed_Albatross\n2=002.Laysan_Albatross\n"),
	CASE("name,id\n7,0\n3,1\n", "0=7\n1=3\n"),

	CASE("0,added\ncurve\n2,stop\n3,yield\n", "list: line 2: it has no number"),
	CASE("0,added\n,curve\n2,stop\n3,yield\n", "list: line 2: it has no number"),
	CASE("0 added\n1 curve\n2\n3 yield\n", "list: line 3: it has no number"),
	CASE("added\n1 curve\n2 stop\n3 yield\n", "list: line 1: it has no number"),
	CASE("0,added\n1,curve\n1,stop\n3,yield\n", "list: line 3: label 1 is called 'stop' here"),
	CASE("stop 2\nadded 0\nyield 2\ncurve 1\n", "list: line 3: label 2 is called 'yield'"),
	CASE("0,7\n1,3\n", "list: line 1: it is not clear which column"),
	CASE("0,1,a\n1,0,b\n", "list: line 1: it is not clear which column"),
};

static void test_numbered(void **state)
{
	check_case(&numbered[unit_row(state)], read_list);
}

static void test_numbered_damaged(void **state)
{
	check_damage(&numbered[unit_row(state)], read_list);
}

/* Names with numbers in them that are no labels, and lines that are none of names. */
static const struct fixture named[] = {
	CASE("# classes\nadded\ncurve\nstop\nyield\n", FOUR),
	CASE("added\n# the rest\ncurve\nstop  \n  yield\n\n\n", FOUR),
	CASE("\"added\"\n\"curve\"\n'stop'\nyield\n", FOUR),
	CASE("- added\n- curve\n- 'stop'\n- yield\n", FOUR),
	CASE("\xff\xfe" "a\0\n\0\x2b\x73\n\0", "0=a\n1=\xe7\x8c\xab\n"),
	CASE("\xfe\xff" "\0a\0\n\xd8\x3d\xdc\x08", "0=a\n1=\xf0\x9f\x90\x88\n"),
	CASE("synset,name\nn01440764,tench\nn01443537,goldfish\n",
	     "0=n01440764\n1=n01443537\n"),
	CASE("n01440764\ttench, Tinca\nn01443537\tgoldfish\n", "0=n01440764\n1=n01443537\n"),
	CASE("0\n1\n2\n", "0=0\n1=1\n2=2\n"),
	CASE("0000-non-cat\n0001-cat\n", "0=0000-non-cat\n1=0001-cat\n"),
	CASE("class 1\nclass 2\nclass 3\n", "0=class 1\n1=class 2\n2=class 3\n"),
	CASE("Acura RL Sedan 2012\nAcura TL Sedan 2012\nAM General SUV 2000\nFiat 500 2012\n",
	     "0=Acura RL Sedan 2012\n1=Acura TL Sedan 2012\n2=AM General SUV 2000\n"
	     "3=Fiat 500 2012\n"),
	CASE("speed limit 20\nspeed limit 30\nspeed limit 50\n",
	     "0=speed limit 20\n1=speed limit 30\n2=speed limit 50\n"),
	CASE("C#\nF#\n", "0=C#\n1=F#\n"),

	CASE("name\nadded\ncurve\n", "list: line 1: it reads like the title"),
	CASE("Class\nadded\ncurve\n", "list: line 1: it reads like the title"),
	CASE("4\nadded\ncurve\nstop\nyield\n", "list: line 1: it is a number"),
	CASE("added\n#curve\nstop\n", "list: line 2: it reads like a comment"),
	CASE("% classes\nadded\n", "list: line 1: it reads like a comment"),
	CASE("\nadded\ncurve\n", "list: line 1 is empty"),
	CASE("\xff\xfe" "a\0\x3d\xd8", "no character at byte 4"),
	CASE("\xff\xfe" "a\0b", "no character at byte 4"),
	CASE("a\0\n\0b\0", "UTF-16 with a mark at its beginning"),
};

static void test_named(void **state)
{
	check_case(&named[unit_row(state)], read_list);
}

static void test_named_damaged(void **state)
{
	check_damage(&named[unit_row(state)], read_list);
}

static const struct fixture programs[] = {
	CASE("names:\n  0: added\n  1: curve\n  2: stop\n  3: yield\n", FOUR),
	CASE("# YOLO\npath: ../x\ntrain: images/train\n\nnc: 4  # classes\n"
	     "names: ['added', \"curve\", stop, yield]  # all\nroboflow:\n  version: 1\n", FOUR),
	CASE("names:\n- added\n- 'curve'\n- \"stop\"  # red\n- yield\nnc: 4\n", FOUR),
	CASE("nc: 4\nnames:\n    - added\n    - curve\n    - stop\n    - yield\n\nval: x\n", FOUR),
	CASE("names: [added, curve,\n  stop, # red\n  yield]\n", FOUR),
	CASE("names: {0: added, 1: curve, 2: stop, 3: yield}\n", FOUR),
	CASE("names:\n  stop: 2\n  added: 0\n  yield: 3\n  curve: 1\n", FOUR),
	CASE("names:\r\n  3: 'yi''eld'\r\n  0: \"a: b\"\r\n", "0=a: b\n3=yi'eld\n"),
	CASE("{0: 'added',\n 1: 'curve',\n 2: 'stop',\n 3: 'yield'}\n", FOUR),
	CASE("{'added': 0, 'curve': 1, 'stop': 2, 'yield': 3}", FOUR),
	CASE("{0: 'added', 1: \"curve\", 2: 'stop', 3: 'yield',}\n", FOUR),
	CASE("['added', 'curve', 'stop', \"yield\"]\n", FOUR),
	CASE("('added', 'curve', 'stop', 'yield')\n", FOUR),
	CASE("(unknown)\nadded\n", "0=(unknown)\n1=added\n"),
	CASE("CLASSES = ('added', 'curve',\n           'stop', 'yield')\n", FOUR),
	CASE("# model.py\nclass_names=['added', 'curve', 'stop', 'yield']\n", FOUR),
	CASE("names = 4\nadded\n", "0=names = 4\n1=added\n"),
	CASE("{\"added\": \"0\", \"curve\": \"1\", \"stop\": \"2\", \"yield\": \"3\"}", FOUR),
	CASE("{\"categories\": [{\"id\": 18, \"name\": \"dog\"}, {\"id\": 3, \"name\": \"car\"}]}",
	     "3=car\n18=dog\n"),
	CASE("{0: ['n01440764', 'tench'], 1: ('n01443537', 'goldfish')}",
	     "0=n01440764\n1=n01443537\n"),
	CASE("{0: \"yellow lady's slipper\", 1: 'don\\'t', 2: 'caf\\xe9'}",
	     "0=yellow lady's slipper\n1=don't\n2=caf\xc3\xa9\n"),
	CASE("{\"0\": \"added\", \"2\": \"stop\", \"1\": \"curve\", \"3\": \"yield\"}", FOUR),
	CASE("{\"yield\": 3.0, \"added\": 0.0, \"curve\": 1.0, \"stop\": 2.0}", FOUR),
	CASE("{\"model\": \"x\", \"id2label\": {\"0\": \"added\", \"1\": \"curve\", \"2\": \"stop\","
	     " \"3\": \"yield\"}}", FOUR),
	CASE("[{\"id\": 1, \"name\": \"person\"}, {\"id\": 3, \"name\": \"car\"}]", "1=person\n3=car\n"),
	CASE("{\"names\": [\"car\", \"dog\"], \"nc\": 2}", "0=car\n1=dog\n"),
	CASE("item {\n  id: 1\n  name: 'cat'\n}\nitem {\n  id: 2\n  name: 'dog'\n}\n",
	     "1=cat\n2=dog\n"),
	CASE("# map\nitem {\n  name: \"/m/01g317\"\n  id: 1\n  display_name: \"person\"\n}\n"
	     "item{ id:3, display_name:'car' keypoints { id: 7 label: 'x' } }", "1=person\n3=car\n"),
	CASE("item\n{\n id: 2;\n name: \"it's\"\n}\n", "2=it's\n"),

	CASE("nc: 3\nnames: [added, curve, stop, yield]\n", "line 1: nc is 3, and there are 4"),
	CASE("names:\n  0: added\n  0: curve\n", "label 0 is called 'curve' here"),
	CASE("names:\n  - a: b\n", "line 2: a mapping in the list"),
	CASE("names:\n  - a\n    - b\n", "line 3: it is indented otherwise"),
	CASE("names:\n  0:\n  1: b\n", "line 2: a number without a name"),
	CASE("names:\nnc: 3\n", "line 1: no names are there"),
	CASE("names: [a, b\n", "line 2: a bracket that is not closed"),
	CASE("names: [a, b] c\n", "something follows the names' brackets"),
	CASE("{0: 'a' 1: 'b'}", "a comma is missing"),
	CASE("{0: 'a'", "a bracket that is not closed"),
	CASE("{0: {1: 'a'}}", "nests deeper"),
	CASE("item {\n name: 'cat'\n}\n", "line 1: an item without an id"),
	CASE("item {\n id: 1\n", "a bracket that is not closed"),
	CASE("item { id: 1 name: 'a' }\nfoo { }\n", "line 2: something else"),
	CASE("item { id: 1 name: 'a' }\nitem { id: 1 name: 'b' }\n", "line 2: label 1 is called 'b'"),
};

static void test_programs(void **state)
{
	check_case(&programs[unit_row(state)], read_list);
}

static void test_programs_damaged(void **state)
{
	check_damage(&programs[unit_row(state)], read_list);
}

/* Rules without a file: "ni" is a column of numbers called id, "w" one of words. */
static void test_columns(void **state)
{
	static const struct class_column id = { "ClassId", 7, false, 3, 0 };
	static const struct class_column other = { "ShapeId", 7, false, 3, 0 };
	static const struct class_column name = { "SignName", 8, false, 0, 0 };
	static const struct class_column wnid = { "what", 4, false, 0, 3 };
	const struct class_column both[] = { id, other, name }, wnids[] = { name, wnid, id };
	const struct class_column words[] = { name, name };
	struct class_columns_choice choice = class_columns_choose(both, 3, 4);

	(void)state;
	assert_int_equal(choice.found, CLASS_COLUMNS_NUMBERED);
	assert_true(choice.titles);
	assert_int_equal(choice.label, 0);
	assert_int_equal(choice.name, 2);
	choice = class_columns_choose(wnids, 3, 4);
	assert_int_equal(choice.label, 2);
	assert_int_equal(choice.name, 1);
	choice = class_columns_choose(words, 2, 4);
	assert_int_equal(choice.found, CLASS_COLUMNS_TITLED);
	assert_int_equal(choice.name, 0);
}

static const struct CMUnitTest classes[] = {
	unit_table(test_lists, lists, bytes),
	unit_table(test_lists_damaged, lists, bytes),
	unit_table(test_numbered, numbered, bytes),
	unit_table(test_numbered_damaged, numbered, bytes),
	unit_table(test_named, named, bytes),
	unit_table(test_named_damaged, named, bytes),
	unit_table(test_programs, programs, bytes),
	unit_table(test_programs_damaged, programs, bytes),
	cmocka_unit_test(test_columns),
};

UNIT_MAIN(classes)

