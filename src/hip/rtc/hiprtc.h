/* SPDX-License-Identifier: MIT */
/* hipRTC inside: programs, and running the compiler on them. */
#ifndef HIP_HIPRTC_H
#define HIP_HIPRTC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ehp/ehp.h"
#include "hip/core/handle.h"

#define RTC_ENTRY __attribute__((visibility("default")))

/* Public values (hiprtc.h). */
typedef enum hiprtcResult {
    HIPRTC_SUCCESS = 0,
    HIPRTC_ERROR_OUT_OF_MEMORY = 1,
    HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    HIPRTC_ERROR_INVALID_INPUT = 3,
    HIPRTC_ERROR_INVALID_PROGRAM = 4,
    HIPRTC_ERROR_INVALID_OPTION = 5,
    HIPRTC_ERROR_COMPILATION = 6,
    HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    HIPRTC_ERROR_INTERNAL_ERROR = 11,
    HIPRTC_ERROR_LINKING = 100,
} hiprtcResult;

struct rtc_file {
    char *name;
    char *bytes;
    size_t count;
};

/* A growing list of owned strings that ends in NULL. */
struct rtc_words {
    char **word;
    size_t count;
};

bool rtc_words_add(struct rtc_words *words, const char *text);
void rtc_words_free(struct rtc_words *words);

struct rtc_place;
/* A word of `prefix` and the path of `name` in the place. */
bool rtc_words_add_in(struct rtc_words *words, const char *prefix, const struct rtc_place *place,
                      const char *name);

/*
 * A directory of its own for one run of the compiler, below TMPDIR.  It is gone
 * with the process too, whatever ends that.
 */
struct rtc_place {
    char dir[PATH_MAX];
    pid_t keeper; /* a process that removes it when it reads the end of `leash`, or -1 */
    int leash;
};

/* False: *why says what is wrong, malloc'ed, or is NULL. */
bool rtc_place_make(struct rtc_place *place, char **why);
void rtc_place_remove(struct rtc_place *place);
/* Writes a file below it, making the directories that its name has. */
bool rtc_place_write(const struct rtc_place *place, const char *name, const void *bytes, size_t count);
bool rtc_place_read(const struct rtc_place *place, const char *name, char **bytes, size_t *count);

/*
 * Runs hipcc (or the clang beside it) of the tree this library belongs to, with
 * these arguments, in the program's directory: that is what its relative paths
 * mean.  What it prints is in the place's file "log".  Returns its exit code, -1
 * when it could not be run.
 */
int rtc_run(const struct rtc_place *place, bool clang, const struct rtc_words *arguments);

/* The symbol that the pointer variable `variable` of a code object points to, as a malloc'ed string, or NULL.
 */
char *rtc_lowered_name(const char *image, size_t bytes, const char *variable);

/*
 * Linking bitcode: what hiprtcLink*() and hipLink*() share.  The types of input
 * and the options have the same numbers in both.
 */
typedef struct ihiprtcLinkState *hiprtcLinkState;

hiprtcResult hiprtcLinkCreate(unsigned int num_options, int *option_ptr, void **option_vals_pptr,
                              hiprtcLinkState *hip_link_state_ptr);
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState hip_link_state, int input_type, const char *file_path,
                               unsigned int num_options, int *options_ptr, void **option_values);
hiprtcResult hiprtcLinkAddData(hiprtcLinkState hip_link_state, int input_type, void *image, size_t image_size,
                               const char *name, unsigned int num_options, int *options_ptr,
                               void **option_values);
hiprtcResult hiprtcLinkComplete(hiprtcLinkState hip_link_state, void **bin_out, size_t *size_out);
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState hip_link_state);

#endif
