/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands: argp's, but what it says of an option that it does not know has the option's name
 * in it as it is, for a terminal to obey. No option's name needs to be escaped, so one that does is refused
 * before.
 */
#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "tool.h"

/* Whether a parser, or one of those in it, has an option like this one whose value is the next word. */
static bool any_option(const struct argp *parser,
                       bool (*like)(const struct argp_option *option, const char *word), const char *word)
{
    for (const struct argp_option *o = parser->options; o && (o->name || o->key || o->doc); o++)
        if (o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && like(o, word))
            return true;
    for (const struct argp_child *child = parser->children; child && child->argp; child++)
        if (any_option(child->argp, like, word))
            return true;
    return false;
}

/* By its name, or the beginning of it. */
static bool is_named(const struct argp_option *option, const char *word)
{
    return option->name && strncmp(option->name, word, strlen(word)) == 0;
}

static bool has_letter(const struct argp_option *option, const char *word)
{
    return option->key == *word;
}

static bool next_is_value(const struct argp *parser, const char *word)
{
    if (word[1] == '-')
        return !strchr(word, '=') && any_option(parser, is_named, word + 2);
    for (word++; *word; word++) /* "-vt4": what follows the first letter that has a value is its value */
        if (any_option(parser, has_letter, word))
            return !word[1];
    return false;
}

static bool is_plain(const char *word)
{
    char *name = strndup(word, strcspn(word, "="));
    struct room room;
    const bool plain = !name || strcmp(printable(name, &room), name) == 0;
    free(name);
    return plain;
}

int tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (flags & ARGP_IN_ORDER)
                break;
        } else if (!is_plain(argv[i])) {
            tool_say("%s: there is no option \"%s\"", argv[0], argv[i]);
            exit(EX_USAGE);
        } else if (next_is_value(parser, argv[i])) {
            i++;
        }
    }
    return argp_parse(parser, argc, argv, flags, NULL, input);
}
