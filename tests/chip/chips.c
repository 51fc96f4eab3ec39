/* SPDX-License-Identifier: MIT */
/* Chip files: values, inheritance, and one clear line for each mistake. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "chip/chip.h"
#include "ehp/ehp.h"

static int load_text(const char *text, struct chip *chip, char *error, size_t bytes)
{
    char path[] = "chipXXXXXX.cfg";
    int fd = mkstemps(path, 4);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    char relative[64];
    snprintf(relative, sizeof(relative), "./%s", path);
    int status = chip_load(relative, chip, error, bytes);
    unlink(path);
    return status;
}

static void expect_error(const char *text, const char *part)
{
    struct chip chip;
    char error[256] = "";
    CHECK(load_text(text, &chip, error, sizeof(error)) == EHP_ERR_BAD_CHIP);
    if (!CHECK(strstr(error, part) != NULL))
        fprintf(stderr, "got: %s\n", error);
}

static void test_known(void)
{
    struct chip chip;
    char error[256] = "";
    CHECK(chip_load("mi300a", &chip, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(chip_get(&chip, CHIP_xcd_count), 6);
    CHECK_EQ(chip_get(&chip, CHIP_xcd_cus), 38);
    CHECK_EQ(chip.value[CHIP_hbm_stacks] * chip.value[CHIP_hbm_stack_size], 128.0 * (1 << 30));
    CHECK_STR(chip.text[CHIP_TEXT_chip_isa], "gfx942:sramecc+:xnack-");
    CHECK_EQ(chip.iod[3].ccds, 3);
    chip_free(&chip);
    CHECK(chip_load("mi300x", &chip, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(chip_get(&chip, CHIP_xcd_count) * chip_get(&chip, CHIP_xcd_cus), 304);
    CHECK_EQ(chip.value[CHIP_hbm_stacks] * chip.value[CHIP_hbm_stack_size], 192.0 * (1 << 30));
    chip_free(&chip);
    CHECK(chip_load("mi300c", &chip, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(chip_get(&chip, CHIP_xcd_count), 0);
    CHECK_EQ(chip_get(&chip, CHIP_ccd_count) * chip_get(&chip, CHIP_ccd_cores), 96);
    CHECK_EQ(chip.partitions, 0);
    chip_free(&chip);
    static const struct {
        const char *name;
        unsigned xcds, ccds, iods, links;
    } others[] = {
        {"ehpv3", 8, 4, 3, 2}, {"ehpv4", 4, 2, 3, 3}, {"mi300-4-2", 4, 2, 4, 4}, {"mi300-4-6", 4, 6, 4, 4}};
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CHECK(chip_load(others[i].name, &chip, error, sizeof(error)) == EHP_OK);
        CHECK_EQ(chip_get(&chip, CHIP_xcd_count), others[i].xcds);
        CHECK_EQ(chip_get(&chip, CHIP_ccd_count), others[i].ccds);
        CHECK_EQ(chip.iods, others[i].iods);
        CHECK_EQ(chip.links, others[i].links);
        CHECK_EQ(chip_get(&chip, CHIP_hbm_stacks), 8); /* ISCA'24, V.F: as many in all of them */
        chip_free(&chip);
    }
    CHECK(chip_load("mi300q", &chip, error, sizeof(error)) == EHP_ERR_NOT_FOUND);
    CHECK(strstr(error, "mi300a") && strstr(error, "mi300x"));
}

static void test_override(void)
{
    struct chip chip;
    char error[256] = "";
    int status = load_text("base = \"mi300a\"; xcd: { cus = (40, \"guess: all of them\"); };", &chip, error,
                           sizeof(error));
    CHECK(status == EHP_OK);
    CHECK_EQ(chip_get(&chip, CHIP_xcd_cus), 40);
    CHECK_EQ(chip_get(&chip, CHIP_xcd_count), 6);
    CHECK_STR(chip.source[CHIP_xcd_cus], "guess: all of them");
    chip_free(&chip);
}

/* Each names its file and line, the key, and what would be right. */
static void test_mistakes(void)
{
    expect_error("base = \"mi300a\";\nxcd: { cuss = (40, \"guess\"); };",
                 ".cfg:2: unknown key xcd.cuss; near it is xcd.cus");
    expect_error("base = \"mi300a\"; xdc: { count = (6, \"guess\"); };",
                 "unknown key xdc.count; near it is xcd.count");
    expect_error("base = \"mi300a\";\ncus = 40;", ".cfg:2: cus is no group");
    expect_error("base = \"mi300a\"; xcd: {\n cus = 40; };",
                 ".cfg:2: xcd.cus must be (value, \"source\"), as cus = (1, ");
    expect_error("base = \"mi300a\"; xcd: { cus = (40); };", "xcd.cus must be (value, \"source\")");
    expect_error("base = \"mi300a\";\nxcd: { cus = (40, \"rumour: all of them\"); };",
                 ".cfg:2: xcd.cus: the source \"rumour: all of them\" must be documented, measured or guess");
    expect_error("base = \"mi300a\"; xcd: { cus = (40, \"guessed\"); };",
                 "xcd.cus: the source \"guessed\" must");
    expect_error("base = \"mi300a\"; xcd: { cus = (40, \"\"); };", "xcd.cus: the source \"\" must");
    expect_error(
        "", ".cfg: sets nothing; base = \"NAME\"; takes everything from another: ehpv3, ehpv4, mi300-4-2, "
            "mi300-4-6, mi300a, mi300c, mi300x");
    expect_error("# later\n", ".cfg: sets nothing");
    expect_error("base = \"mi300a\"; xcd: {\n\n cus = (4000, \"guess\"); };",
                 ".cfg:3: xcd.cus = 4000 is outside of 1 .. 128");
    expect_error("base = \"mi300a\"; hbm: { trcd_read = (-1, \"guess\"); };", " ns (");
    expect_error("base = \"mi300a\"; xcd: { cus = (\"many\", \"guess\"); };", "must be a number, 1 .. 128");
    expect_error("base = \"mi300a\"; xcd: { cus = (37.5, \"guess\"); };", "must be a whole number");
    expect_error("base = \"mi300a\"; chip: { title = (3, \"guess\"); };",
                 "chip.title (product name) must be a string");
    expect_error("base = \"mi300a\";\nxcd: { count = (7, \"guess\"); };",
                 ".cfg:2: xcd.count = 7: iods carry 6 XCDs");
    expect_error("base = \"mi300a\";\nhbm: { stacks = (4, \"guess\"); };",
                 ".cfg:2: hbm.stacks = 4: iods carry 8");
    expect_error("base = \"mi300a\";\nxcd: { cus_physical = (8, \"guess\"); };",
                 ".cfg:2: xcd.cus_physical = 8: xcd.cus = 38 must");
    expect_error(
        "base = \"cdna3\";\n\n# that is all\n",
        ".cfg:3: chip.pci_id is missing: chip: { pci_id = (number, \"guess: why\"); }, PCI device id");
    expect_error("base = \"cdna3\";\nchip: {\n isa = (\"gfx942\", \"guess\");\n};\n",
                 ".cfg:3: chip.pci_id is missing, beside chip.isa: pci_id = (number, \"guess: why\")");
    expect_error("xcd: { cus = ", ".cfg:1");
    expect_error("\nbase = \"mi300b\";", ".cfg:2: base = \"mi300b\": there is no mi300b.cfg");
    expect_error("base = \"mi300a\";\npartitions = ( (\"odd\", 4) );",
                 ".cfg:2: partitions: the 4 devices of partition odd do not divide xcd.count = 6");
    expect_error("base = \"mi300a\";\npartitions = ( (\"odd\", 0) );",
                 ".cfg:2: partitions are (\"name\", devices)");
    expect_error("base = \"mi300a\"; iods = (\n { xcds = 2; stacks = 2; } );",
                 ".cfg:2: an IOD has xcds, ccds, hbm and mirrored, but no stacks");
    expect_error("base = \"mi300a\"; iods = ( { xcds = \"2\"; } );",
                 "xcds of an IOD must be a number, 0 .. 64 XCDs");
    expect_error("base = \"mi300a\"; iods = ( { hbm = 65; } );",
                 "hbm of an IOD must be a number, 0 .. 64 HBM stacks");
    expect_error("base = \"mi300a\";\niods = ( { xcds = 6; hbm = 8; } );",
                 ".cfg:2: iods list 1 IODs, but iod.count = 4");
    expect_error("base = \"mi300a\";\niod: { columns = (3, \"guess\"); };",
                 ".cfg:2: iod.columns = 3: must divide iod.count");
    expect_error("base = \"mi300a\";\nvm: { touch_stacks = (9, \"guess\"); };",
                 ".cfg:2: vm.touch_stacks = 9: must be no more than hbm.stacks");
    /* More than our structures have room for. */
    expect_error("base = \"mi300a\";\nxcd: { count = (16, \"guess\"); };",
                 ".cfg:2: xcd.count = 16 is outside of 0 .. 15");
    expect_error("base = \"mi300a\";\ncu: { waves_per_simd = (17, \"guess\"); };",
                 ".cfg:2: cu.waves_per_simd = 17 is outside of 1 .. 16");
    expect_error("base = \"mi300a\";\ncu: { workgroup_items = (2048, \"guess\"); };",
                 ".cfg:2: cu.workgroup_items = 2048 is outside of 64 .. 1024");
}

/* Dies of either kind on any IOD, but some. */
static void test_dies(void)
{
    struct chip chip;
    char error[256] = "";
    /* ISCA'24, V.B: an IOD has interfaces for two XCDs or three CCDs. */
    CHECK(load_text("base = \"mi300a\"; xcd: { count = (4, \"guess\"); }; ccd: { count = (6, \"guess\"); };\n"
                    "iods = ( { xcds = 2; hbm = 2; }, { xcds = 2; hbm = 2; }, { ccds = 3; hbm = 2; },"
                    " { ccds = 3; hbm = 2; } ); partitions = ( (\"spx\", 1), (\"dpx\", 2) );",
                    &chip, error, sizeof(error)) == EHP_OK);
    chip_free(&chip);
    expect_error("base = \"mi300a\";\nccd: { count = (4, \"guess\"); };",
                 ".cfg:2: ccd.count = 4: iods carry 3 CCDs");
    expect_error("base = \"mi300a\";\nccd: { cores = (0, \"guess\"); };",
                 ".cfg:2: ccd.cores = 0: must be at least 1 where ccd.count is");
    expect_error("base = \"mi300x\"; iods = ( { hbm = 2; }, { hbm = 2; }, { hbm = 2; }, { hbm = 2; } );\n"
                 "xcd: { count = (0, \"guess\"); };",
                 ".cfg:2: xcd.count = 0: must be at least 1 without CCDs (ccd.count)");
    expect_error("base = \"mi300c\"; iods = ( { hbm = 2; }, { hbm = 2; }, { hbm = 2; }, { hbm = 2; } );\n"
                 "ccd: { count = (0, \"guess\"); };",
                 ".cfg:2: ccd.count = 0: xcd.count = 0 must be at least 1 without CCDs");
    expect_error("base = \"mi300c\";\npartitions = ( (\"spx\", 1) );",
                 ".cfg:2: partitions: there are no XCDs to divide: partitions = ( );");
    expect_error("base = \"mi300a\";\npartitions = ( );", "xcd.count = 6: XCDs need partitions");
}

/* Interfaces of IODs, links between them, and ways over those. */
static void test_topology(void)
{
#define LINKED(a, b) "{ iods = (" #a ", " #b "); rate = \"usr.vertical\"; latency = \"usr.latency\"; }"
    struct chip chip;
    char error[256] = "";
    /* The files' own, and one with its source that stands in the list. */
    CHECK(chip_load("mi300a", &chip, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(chip.links, 4);
    CHECK(chip.link[0].rate.value == chip.value[CHIP_usr_horizontal]);
    CHECK(chip.link[3].rate.value == chip.value[CHIP_usr_vertical]);
    CHECK(chip.link[3].latency.value == chip.value[CHIP_usr_latency]);
    chip_free(&chip);
    CHECK(
        load_text(
            "base = \"mi300a\"; usr: { vertical = (1234, \"guess\"); };\nlinks = ( " LINKED(0, 1) ", " LINKED(
                1, 2) ",\n{ iods = (2, 3); rate = (56.5, \"documented: here\"); latency = (30, "
                      "\"guess: why\"); } );",
            &chip, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(chip.links, 3);
    CHECK(chip.link[0].rate.value == 1234);
    CHECK(chip.link[2].rate.value == 56.5 && chip.link[2].latency.value == 30);
    CHECK_STR(chip.link[2].rate.source, "documented: here");
    chip_free(&chip);
    expect_error("base = \"mi300a\";\nlinks = (\n" LINKED(0, 4) " );",
                 ".cfg:3: links joins IODs 0 and 4, but there are 4, from 0 on");
    expect_error("base = \"mi300a\";\niod: { count = (1, \"guess\"); xcd_ports = (6, \"guess\"); };"
                 "ccd: { count = (0, \"guess\"); };\niods = ( { xcds = 6; hbm = 8; } );",
                 ".cfg:3: iods: links joins IODs 0 and 1, but there are 1");
    expect_error("base = \"mi300a\";\nlinks = ( " LINKED(0, 1) ", " LINKED(2, 3) " );",
                 ".cfg:2: links has no way from IOD 0 to IOD 2: every IOD must be joined");
    expect_error("base = \"mi300a\";\nlinks = ( );", ".cfg:2: links has no way from IOD 0 to IOD 1");
    expect_error("base = \"mi300a\"; links = (\n" LINKED(1, 1) " );",
                 ".cfg:2: iods of a link must be two, not 1 twice");
    expect_error("base = \"mi300a\"; links = (" LINKED(0, 1) ",\n" LINKED(1, 0) " );",
                 ".cfg:2: links has IODs 1 and 0 already: several side by side are one");
    expect_error("base = \"mi300a\"; links = (\n{ rate = (1, \"guess\"); } );",
                 ".cfg:2: iods of a link must be two of the list iods: { iods = (0, 1); rate = ");
    expect_error("base = \"mi300a\"; links = (\n{ iods = (0, 1); latency = \"usr.latency\"; } );",
                 ".cfg:2: a link has no rate");
    expect_error("base = \"mi300a\"; links = (\n{ iods = (0, 1); rate = \"usr.latency\"; } );",
                 ".cfg:2: rate of a link: there is no key \"usr.latency\" in GB/s");
    expect_error("base = \"mi300a\"; links = (\n{ iods = (0, 1); rate = 200; } );",
                 ".cfg:2: rate of a link must be a key's name, or (number, \"source\")");
    expect_error("base = \"mi300a\"; links = (\n{ iods = (0, 1); rate = (0, \"guess\"); } );",
                 ".cfg:2: rate of a link = 0 is outside of 1 .. 1e+06 GB/s");
    expect_error("base = \"mi300a\"; links = (\n{ iods = (0, 1); rate = (200, \"rumour\"); } );",
                 ".cfg:2: rate of a link: the source \"rumour\" must");
    expect_error("base = \"mi300a\"; links = (\n{ iods = (0, 1); width = 16; } );",
                 ".cfg:2: a link has iods, rate and latency, but no width");
    expect_error("base = \"mi300a\"; links =\n( 3 );", "each of links must be { iods = (0, 1); rate = ");
    /* ISCA'24, V.B: interfaces for two XCDs or three CCDs, in one place. */
    expect_error("base = \"mi300a\"; xcd: { count = (7, \"guess\"); };\niods = ( { xcds = 2; hbm = 2; },\n"
                 "{ xcds = 3; hbm = 2; }, { xcds = 2; hbm = 2; }, { ccds = 3; hbm = 2; } );",
                 ".cfg:3: IOD 1 of iods carries 3 XCDs, but iod.xcd_ports = 2");
    expect_error("base = \"mi300a\";\niod: { xcd_ports = (1, \"guess\"); };",
                 ".cfg:2: iod.xcd_ports = 1: IOD 0 of iods carries 2 XCDs");
    expect_error("base = \"mi300a\"; ccd: { count = (4, \"guess\"); };\niods = ( { xcds = 2; hbm = 2; },"
                 " { xcds = 2; ccds = 1;\nhbm = 2; }, { xcds = 2; hbm = 2; }, { ccds = 3; hbm = 2; } );",
                 ": IOD 1 of iods carries XCDs and CCDs: give each kind IODs of its own, but iod.either = 1");
#undef LINKED
}

static void expect_refused(const char *text, const char *part)
{
    char path[] = "chipXXXXXX.cfg", relative[64];
    int fd = mkstemps(path, 4);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    snprintf(relative, sizeof(relative), "./%s", path);
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.chip = relative;
    options.timing = true;
    ehp_machine *m;
    CHECK(ehp_open(&options, &m) == EHP_ERR_BAD_CHIP);
    if (!CHECK(strstr(options.error, part) != NULL))
        fprintf(stderr, "got: %s\n", options.error);
    unlink(path);
}

/* Nothing would decode its code. */
static void test_unknown_isa(void)
{
    expect_refused("base = \"mi300a\";\nchip: { isa = (\"gfx90a:xnack-\", \"guess\"); };",
                   "the instructions of chip.isa = \"gfx90a:xnack-\"");
}

/* Sizes that only simulated time looks at. */
static void test_sizes(void)
{
    expect_refused("base = \"mi300a\";\nl2: { size = (3000000, \"guess\"); };",
                   ".cfg:2: l2.size = 3000000: must be a power of two");
    expect_refused("base = \"mi300a\";\nvl1: { ways = (60, \"guess\"); };",
                   ".cfg:2: vl1.ways = 60: vl1.size = 32768 must be");
    expect_refused("base = \"mi300a\";\nl2: { interleave = (200, \"guess\"); };",
                   ".cfg:2: l2.interleave = 200: must be a power of two");
    expect_refused("base = \"mi300a\";\nvm: { host_fragment = (5000, \"guess\"); };",
                   ".cfg:2: vm.host_fragment = 5000: must be a power of two");
    expect_refused("base = \"mi300a\";\nl2: { ways = (7, \"guess\"); };",
                   ".cfg:2: l2.ways = 7: l2.size = 4194304 must be");
    expect_refused("base = \"mi300a\";\nhbm: { queue = (16, \"guess\"); };",
                   ".cfg:2: hbm.queue = 16: hbm.write_low");
    expect_refused("base = \"mi300a\";\ncu: { simds = (8, \"guess\"); waves_per_simd = (16, \"guess\"); };",
                   ".cfg:2: cu.waves_per_simd = 16: must leave a CU no more than 64 waves in simulated time");
    expect_refused("base = \"mi300a\";\ncu: { lds_banks = (24, \"guess\"); };",
                   ".cfg:2: cu.lds_banks = 24: must be a power of two");
    expect_refused("base = \"mi300a\";\nhbm: { trfc = (1925, \"guess\"); };",
                   ".cfg:2: hbm.trfc = 1925: hbm.trefi = 1950 must leave");
    expect_refused("base = \"mi300a\";\nhbm: { tccd_l = (3, \"guess\"); };",
                   ".cfg:2: hbm.tccd_l = 3: must be");
    expect_refused("base = \"mi300a\";\ninfinity_cache: { slices = (100, \"guess\"); };",
                   ".cfg:2: infinity_cache.slices = 100: must be 0");
    expect_refused(
        "base = \"mi300a\"; iod: { ccd_ports = (10, \"guess\"); };\nccd: { count = (10, \"guess\"); };\n"
        "iods = ({ xcds = 2; ccds = 0; hbm = 2; mirrored = false; },"
        " { xcds = 2; ccds = 0; hbm = 2; mirrored = true; },"
        " { xcds = 2; ccds = 0; hbm = 2; mirrored = false; },"
        " { xcds = 0; ccds = 10; hbm = 2; mirrored = true; });",
        ".cfg:2: ccd.count = 10: must leave no more than 15 with xcd.count");
}

/* Of 40 CUs in four engines 38 are active: the last of two engines are not, so no pair lacks both. */
static void test_cu_places(void)
{
    struct chip chip;
    char error[512];
    CHECK_EQ(chip_load("mi300a", &chip, error, sizeof(error)), 0);
    unsigned of_engine[4] = {0}, of_pair[20] = {0};
    for (unsigned cu = 0; cu < 38; cu++) {
        const struct chip_place p = chip_cu_place(&chip, cu);
        CHECK_EQ(p.index, of_engine[p.engine]);
        CHECK_EQ(p.number, p.engine * 10 + p.index);
        of_engine[p.engine]++;
        of_pair[p.number / 2]++;
    }
    CHECK(of_engine[0] == 10 && of_engine[1] == 10 && of_engine[2] == 9 && of_engine[3] == 9);
    for (unsigned i = 0; i < 20; i++)
        CHECK_EQ(of_pair[i], i == 14 || i == 19 ? 1 : 2);
    chip_free(&chip);
}

int main(void)
{
    test_cu_places();
    test_known();
    test_override();
    test_mistakes();
    test_dies();
    test_topology();
    test_sizes();
    test_unknown_isa();
    return check_status();
}
