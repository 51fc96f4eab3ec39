/* SPDX-License-Identifier: MIT */
/* Node files: values, links, and one clear line for each mistake. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "chip/chip.h"
#include "chip/node.h"
#include "ehp/ehp.h"

#define HEAD                                                                                                 \
    "title = \"Two\";\nchip = \"mi300a\";\npackages = 2;\n"                                                  \
    "link: { rate = (64, \"guess\"); latency = (80, \"guess\"); header = (8, \"guess\"); };\n"

static int load_text(const char *text, struct node *node, char *error, size_t bytes)
{
    char path[] = "nodeXXXXXX.cfg";
    int fd = mkstemps(path, 4);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    char relative[64];
    snprintf(relative, sizeof(relative), "./%s", path);
    int status = node_load(relative, node, error, bytes);
    unlink(path);
    return status;
}

static void expect_error(const char *text, const char *part)
{
    struct node node;
    char error[400] = "";
    CHECK(load_text(text, &node, error, sizeof(error)) == EHP_ERR_BAD_CHIP);
    if (!CHECK(strstr(error, part) != NULL))
        fprintf(stderr, "got: %s\n", error);
}

static void test_known(const char *name, unsigned packages, unsigned count)
{
    struct node node;
    struct chip chip;
    char error[256] = "";
    CHECK(node_load(name, &node, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(node.packages, packages);
    CHECK_EQ(node.links, packages * (packages - 1) / 2);
    CHECK(chip_load(node.chip, &chip, error, sizeof(error)) == EHP_OK);
    CHECK(node_check(&node, &chip, error, sizeof(error)));
    unsigned used = 0;
    for (unsigned b = 1; b < packages; b++) {
        const struct node_link to = node_link_of(&node, 0, b), back = node_link_of(&node, b, 0);
        CHECK_EQ(to.count, count);
        CHECK_EQ(back.count, count);
        CHECK_EQ(to.iod[0], back.iod[1]);
        CHECK_EQ(to.iod[1], back.iod[0]);
        used += to.count;
    }
    CHECK(used < chip_get(&chip, CHIP_iod_count) * chip_get(&chip, CHIP_iod_links));
    CHECK(node.value[NODE_link_rate] == 64.0);
    chip_free(&chip);
    node_free(&node);
}

/* A ring of four: ways to the other side go by the lower of two numbers, there and back. */
static void test_ways(void)
{
    static const char ring[] =
        "title = \"Ring\";\nchip = \"mi300a\";\npackages = 4;\n"
        "link: { rate = (64, \"guess\"); latency = (80, \"guess\"); header = (8, \"guess\"); };\n"
        "links = ( { packages = (0, 1); iods = (0, 0); }, { packages = (2, 1); iods = (1, 1); },\n"
        "          { packages = (2, 3); iods = (0, 0); }, { packages = (3, 0); iods = (1, 1); } );\n";
    struct node node;
    char error[400] = "";
    uint8_t way[NODE_MAX_PACKAGES];
    CHECK(load_text(ring, &node, error, sizeof(error)) == EHP_OK);
    CHECK_EQ(node_way(&node, 2, 2, way), 0);
    CHECK_EQ(node_way(&node, 3, 0, way), 1);
    CHECK(way[0] == 3 && way[1] == 0);
    CHECK_EQ(node_way(&node, 0, 2, way), 2);
    CHECK(way[0] == 0 && way[1] == 1 && way[2] == 2);
    CHECK_EQ(node_way(&node, 2, 0, way), 2);
    CHECK(way[0] == 2 && way[1] == 1 && way[2] == 0);
    CHECK_EQ(node_way(&node, 3, 1, way), 2);
    CHECK(way[0] == 3 && way[1] == 0 && way[2] == 1);
    node_free(&node);
}

static void test_mistakes(void)
{
    expect_error("packages = 2;\n", "title is missing");
    expect_error("title = \"Two\";\npackages = 2;\n", "chip is missing");
    expect_error("title = \"Two\";\nchip = ( \"mi300a\", \"mi300x\" );\npackages = 2;\n",
                 ":2: chip must be one name");
    expect_error("title = \"Two\";\nchip = \"mi300a\";\npackages = 9;\n",
                 "packages must be a number, 1 .. 8");
    expect_error("title = \"Two\";\nchip = \"mi300a\";\npackages = 2;\n", "link.rate is missing");
    expect_error("title = \"Two\";\nchip = \"mi300a\";\npackages = 2;\nlink: { speed = 3; };\n",
                 ":4: unknown key link.speed");
    expect_error("title = \"Two\";\nlinsk = 3;\n", ":2: unknown linsk");
    expect_error(HEAD, "links is missing");
    expect_error(HEAD "links = ( );\n", ":5: links: there is no way from package 0 to package 1");
    expect_error(
        "title = \"Four\";\nchip = \"mi300a\";\npackages = 4;\n"
        "link: { rate = (64, \"guess\"); latency = (80, \"guess\"); header = (8, \"guess\"); };\n"
        "links = ( { packages = (0, 1); iods = (0, 0); }, { packages = (2, 3); iods = (0, 0); } );\n",
        ":5: links: there is no way from package 0 to package 2, by others either: add { packages = (0, 2)");
    expect_error(HEAD "links = ( { packages = (0, 2); iods = (0, 0); } );\n",
                 ":5: packages of a link must be two numbers below 2");
    expect_error(HEAD "links = ( { packages = (1, 1); iods = (0, 0); } );\n", "must be two, not 1 twice");
    expect_error(HEAD "links = ( { packages = (0, 1); } );\n", "iods of a link must be two numbers");
    expect_error(HEAD "links = ( { packages = (0, 1); iods = (0, 0); lanes = 3; } );\n", "but no lanes");
    expect_error(HEAD "links = ( { packages = (0, 1); iods = (0, 0); count = 0; } );\n", "count of a link");
    expect_error(
        HEAD "links = ( { packages = (0, 1); iods = (0, 0); },\n{ packages = (1, 0); iods = (1, 1); } );\n",
        ":6: packages 1 and 0 have their links already");
    expect_error(HEAD "links = ( 3 );\n", "each of links must be {");
    expect_error("title = ", ":1: syntax error");
}

#define TWO HEAD "links = ( { packages = (0, 1); iods = (0, 0); } );\n"
#define NETWORK(latency, ranks)                                                                              \
    "network: { latency = " latency "; rate = (25, \"guess\");\nports = (2, \"guess\"); ranks = " ranks      \
    "; };\n"

/* A node with a network, one without, and a package alone that has a network and no links. */
static void test_network(void)
{
    struct node node;
    char error[400] = "";
    CHECK(load_text(TWO NETWORK("(900, \"guess: far\")", "(4, \"guess\")"), &node, error, sizeof(error)) ==
          EHP_OK);
    CHECK(node.value[NODE_network_latency] == 900 && node.value[NODE_network_rate] == 25 &&
          node.value[NODE_network_ports] == 2 && node.value[NODE_network_ranks] == 4);
    CHECK(!strcmp(node.source[NODE_network_latency], "guess: far"));
    node_free(&node);
    CHECK(load_text(TWO, &node, error, sizeof(error)) == EHP_OK);
    CHECK(node.value[NODE_network_ranks] == 0 && !node.source[NODE_network_ranks]);
    node_free(&node);
    CHECK(load_text("title = \"One\";\nchip = \"mi300a\";\npackages = 1;\n" NETWORK("(900, \"guess\")",
                                                                                    "(1, \"guess\")"),
                    &node, error, sizeof(error)) == EHP_OK);
    CHECK(node.value[NODE_network_ranks] == 1 && !node.source[NODE_link_rate]);
    node_free(&node);
    expect_error(TWO NETWORK("900", "(4, \"guess\")"), ":6: network.latency must be (value, \"source\")");
    expect_error(TWO NETWORK("(0, \"guess\")", "(4, \"guess\")"),
                 ":6: network.latency must be a number, 1 ..");
    expect_error(TWO NETWORK("(900, \"guess\")", "(0, \"guess\")"),
                 ":7: network.ranks must be a whole number, 1");
    expect_error(TWO NETWORK("(900, \"guess\")", "(1.5, \"guess\")"),
                 ":7: network.ranks must be a whole number");
    expect_error(TWO "network: { latency = (900, \"guess\"); };\n", "network.rate is missing");
    expect_error(TWO "network: { width = (900, \"guess\"); };\n",
                 ":6: unknown key network.width; a node has link");
    expect_error(TWO "network = 3;\n", ":6: unknown network");
}

/* What a node needs, and a chip has not. */
static void test_ports(void)
{
    struct node node;
    struct chip chip;
    char error[400] = "";
    CHECK(chip_load("mi300a", &chip, error, sizeof(error)) == EHP_OK);
    CHECK(load_text(HEAD "links = ( { packages = (0, 1); iods = (3, 4); } );\n", &node, error,
                    sizeof(error)) == EHP_OK);
    CHECK(!node_check(&node, &chip, error, sizeof(error)));
    CHECK(strstr(error, ":5: iods of a link: chip mi300a has 4 IODs") != NULL);
    node_free(&node);
    CHECK(load_text(HEAD "links = ( { packages = (0, 1); iods = (3, 2); count = 3; } );\n", &node, error,
                    sizeof(error)) == EHP_OK);
    CHECK(!node_check(&node, &chip, error, sizeof(error)));
    CHECK(strstr(error, "IOD 3 of package 0 would have 3, but iod.links of chip mi300a is 2") != NULL);
    node_free(&node);
    chip_free(&chip);
}

int main(void)
{
    test_known("mi300a-x4", 4, 2);
    test_known("mi300x-x8", 8, 1);
    test_ways();
    test_mistakes();
    test_network();
    test_ports();
    struct node node;
    char error[256] = "";
    CHECK(node_load("nosuch", &node, error, sizeof(error)) == EHP_ERR_NOT_FOUND);
    CHECK(strstr(error, "no node \"nosuch\"; there are: mi300a-cluster, mi300a-x4, mi300x-x8") != NULL);
    return check_status();
}
