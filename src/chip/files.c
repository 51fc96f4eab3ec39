/* SPDX-License-Identifier: MIT */
#include "chip/files.h"

#include <dirent.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ehp/ehp.h"

void files_add_name(const char *name, const char *path, const char *title, void *user)
{
    char *list = user;
    (void)path;
    (void)title;
    if (strlen(list) + strlen(name) + 3 < FILES_NAMES)
        strcat(strcat(list, *list ? ", " : ""), name);
}

static int is_wanted(const struct dirent *entry)
{
    const size_t n = strlen(entry->d_name);
    return n > 4 && !strcmp(entry->d_name + n - 4, ".cfg");
}

static const char *title_of(const config_t *config, const char *key)
{
    const config_setting_t *s = config_lookup(config, key);
    if (!s)
        return NULL;
    return config_setting_is_list(s) ? config_setting_get_string_elem(s, 0) : config_setting_get_string(s);
}

int files_each(const char *directory, const char *key, files_fn *fn, void *user)
{
    struct dirent **entries;
    const int n = scandir(directory, &entries, is_wanted, alphasort);
    if (n < 0)
        return EHP_ERR_NOT_FOUND;
    for (int i = 0; i < n; i++) {
        char path[1400], name[64];
        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(entries[i]->d_name, "."), entries[i]->d_name);
        config_t config;
        config_init(&config);
        const char *title = config_read_file(&config, path) == CONFIG_TRUE ? title_of(&config, key) : NULL;
        if (title)
            fn(name, path, title, user);
        config_destroy(&config);
        free(entries[i]);
    }
    free(entries);
    return EHP_OK;
}
