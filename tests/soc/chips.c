/* SPDX-License-Identifier: MIT */
/* Chip files: values, inheritance, and one clear line for each mistake. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "soc/chip.h"
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

static void test_mistakes(void)
{
    expect_error("base = \"mi300a\"; xcd: { cuss = (40, \"guess\"); };", "unknown key xcd.cuss");
    expect_error("base = \"mi300a\"; xcd: { cus = 40; };", "(value, \"source\")");
    expect_error("base = \"mi300a\"; xcd: { cus = (4000, \"guess\"); };", "outside of");
    expect_error("base = \"mi300a\"; xcd: { cus = (\"many\", \"guess\"); };", "must be a number");
    expect_error("base = \"mi300a\"; xcd: { count = (7, \"guess\"); };", "iods carry 6 XCDs");
    expect_error("base = \"cdna3\";", "is missing");
    expect_error("xcd: { cus = ", ".cfg:1");
    expect_error("base = \"mi300a\"; partitions = ( (\"odd\", 4) );", "do not divide");
}

int main(void)
{
    test_known();
    test_override();
    test_mistakes();
    return check_status();
}
