/* SPDX-License-Identifier: MIT */
/* What the files that read a chip share. */
#ifndef EHP_CHIP_INTERNAL_H
#define EHP_CHIP_INTERNAL_H

#include <libconfig.h>

#include "chip/chip.h"

/* Says what is wrong with a setting, and where it stands in the file; returns EHP_ERR_BAD_CHIP. */
__attribute__((format(printf, 5, 6))) int chip_wrong(const config_setting_t *setting, const char *path,
                                                     char *error, size_t bytes, const char *format, ...);
/* The value of a setting that is a number; false: it is none. */
bool chip_number(const config_setting_t *setting, double *number);
/* A source is its kind, and where that is: "documented: ISCA'24, IV.B". */
bool chip_is_source(const char *source);
/* What people write into chip files is for people to read. */
bool chip_put_words(char **slot, const char *text);

/* links.c: the list `links`, and whether they join the IODs. */
int links_read(const config_t *config, struct chip *chip, const char *path, char *error, size_t bytes);
int links_check(struct chip *chip, char *error, size_t bytes);
void links_free(struct chip *chip);

#endif
