/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzzer's entry on files and directories, without libFuzzer: the seeds
 * stay tested where there is no clang.
 *   replay FILE|DIRECTORY...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static unsigned files;

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    long end = ftell(f);
    if (end < 0 || fseek(f, 0, SEEK_SET) != 0) {
        perror(path);
        exit(1);
    }
    size_t bytes = (size_t)end;
    /* Exactly as large as the input: a sanitizer or valgrind sees a read behind it. */
    uint8_t *data = malloc(bytes ? bytes : 1);
    if (!data || fread(data, 1, bytes, f) != bytes) {
        perror(path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, bytes);
    free(data);
    files++;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        if (!directory) {
            replay_file(argv[i]);
            continue;
        }
        for (struct dirent *e; (e = readdir(directory));) {
            char path[4096];
            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            replay_file(path);
        }
        closedir(directory);
    }
    printf("%u inputs\n", files);
    return files ? 0 : 1;
}
