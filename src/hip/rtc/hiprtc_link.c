/* SPDX-License-Identifier: MIT */
/*
 * Linking LLVM bitcode into a code object: plain, in clang's offload bundles
 * (Clang documentation, "Clang Offload Bundler"), and in archives of those.
 */
#include "hip/rtc/hiprtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hiprtcJITInputType, hiprtcJIT_option */
enum {
    LINK_BITCODE = 100,
    LINK_BUNDLED = 101,
    LINK_ARCHIVE = 102,
    LINK_OPTIONS = 10000, /* an array of the code generator's options, and its length: */
    LINK_OPTION_COUNT = 10001,
};

struct ihiprtcLinkState {
    struct hip_handle head;
    struct rtc_place place;
    struct rtc_words inputs, options;
    char *code;
    size_t code_bytes;
};

static bool link_ok(hiprtcLinkState state)
{
    return hip_handle_ok(HIP_KIND_RTC_LINK, state);
}

/* Options for the code generator are taken; the others steer compilers that are not here. */
static bool link_options(struct rtc_words *words, unsigned count, const int *options, void *const *values)
{
    const char *const *texts = NULL;
    size_t length = 0;

    for (unsigned i = 0; i < count; i++)
        if (options[i] == LINK_OPTIONS)
            texts = values[i];
        else if (options[i] == LINK_OPTION_COUNT)
            length = (size_t)(uintptr_t)values[i];
    for (size_t i = 0; texts && i < length; i++)
        if (!texts[i] || !rtc_words_add(words, texts[i]))
            return false;
    return true;
}

RTC_ENTRY hiprtcResult hiprtcLinkCreate(unsigned int num_options, int *option_ptr, void **option_vals_pptr,
                                        hiprtcLinkState *hip_link_state_ptr)
{
    if (!hip_link_state_ptr || (num_options && (!option_ptr || !option_vals_pptr)))
        return HIPRTC_ERROR_INVALID_INPUT;
    struct ihiprtcLinkState *state = hip_handle_new(HIP_KIND_RTC_LINK, sizeof *state);
    hiprtcResult result = HIPRTC_SUCCESS;
    char *why = NULL;
    if (!state)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    if (!link_options(&state->options, num_options, option_ptr, option_vals_pptr))
        result = HIPRTC_ERROR_INVALID_OPTION;
    else if (!rtc_place_make(&state->place, &why))
        result = HIPRTC_ERROR_INTERNAL_ERROR;
    if (result == HIPRTC_SUCCESS) {
        *hip_link_state_ptr = state;
        return result;
    }
    if (why) /* a linker has no log */
        fprintf(stderr, "ehp: %s", why);
    free(why);
    rtc_words_free(&state->options);
    hip_handle_free(state);
    return result;
}

/* ---- inputs -------------------------------------------------------------------------------------------- */

struct link_bytes {
    const unsigned char *data;
    size_t count;
};

static hiprtcResult link_add(struct ihiprtcLinkState *state, struct link_bytes image)
{
    char file[32];

    snprintf(file, sizeof file, "input%zu.bc", state->inputs.count);
    if (!rtc_place_write(&state->place, file, image.data, image.count) ||
        !rtc_words_add_in(&state->inputs, "", &state->place, file))
        return HIPRTC_ERROR_INTERNAL_ERROR;
    return HIPRTC_SUCCESS;
}

/* The little-endian number at `at`, which moves behind it; false when it is not there. */
static bool link_number(struct link_bytes image, size_t *at, uint64_t *number)
{
    if (image.count < 8 || *at > image.count - 8)
        return false;
    memcpy(number, image.data + *at, 8);
    *at += 8;
    return true;
}

static bool link_is_target(const char *id, size_t bytes)
{
    char text[256];

    if (bytes >= sizeof text)
        return false;
    memcpy(text, id, bytes);
    text[bytes] = 0;
    return strstr(text, "amdgcn") && strstr(text, EHP_PROCESSOR);
}

/* The entry for this chip; the host's entry of a bundle is empty and of no use. */
static hiprtcResult link_add_bundle(struct ihiprtcLinkState *state, struct link_bytes image)
{
    static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
    size_t at = sizeof magic - 1;
    uint64_t count, offset, bytes, name;

    if (image.count < at || memcmp(image.data, magic, at) != 0 || !link_number(image, &at, &count))
        return HIPRTC_ERROR_INVALID_INPUT;
    for (uint64_t i = 0; i < count; i++) {
        if (!link_number(image, &at, &offset) || !link_number(image, &at, &bytes) ||
            !link_number(image, &at, &name) || name > image.count - at || offset > image.count ||
            bytes > image.count - offset)
            return HIPRTC_ERROR_INVALID_INPUT;
        if (link_is_target((const char *)image.data + at, name))
            return link_add(state, (struct link_bytes){image.data + offset, bytes});
        at += name;
    }
    return HIPRTC_ERROR_INVALID_INPUT;
}

/* Members of an archive begin with 60 bytes of text, the size in ten digits at 48, and at even places. */
static hiprtcResult link_add_archive(struct ihiprtcLinkState *state, struct link_bytes image)
{
    hiprtcResult result = HIPRTC_ERROR_INVALID_INPUT;

    if (image.count < 8 || memcmp(image.data, "!<arch>\n", 8) != 0)
        return result;
    for (size_t at = 8; image.count - at >= 60;) {
        const char *head = (const char *)image.data + at;
        char digits[11] = {0};
        memcpy(digits, head + 48, 10);
        unsigned long long bytes = strtoull(digits, NULL, 10);
        at += 60;
        if (bytes > image.count - at)
            return HIPRTC_ERROR_INVALID_INPUT;
        if (head[0] != '/') { /* "/" and "//" are tables of symbols and of names */
            result = link_add_bundle(state, (struct link_bytes){image.data + at, bytes});
            if (result != HIPRTC_SUCCESS)
                return result;
        }
        at += bytes + (bytes & 1);
        if (at > image.count)
            break;
    }
    return result;
}

RTC_ENTRY hiprtcResult hiprtcLinkAddData(hiprtcLinkState hip_link_state, int input_type, void *image,
                                         size_t image_size, const char *name, unsigned int num_options,
                                         int *options_ptr, void **option_values)
{
    const struct link_bytes bytes = {image, image_size};

    (void)name;
    if (!link_ok(hip_link_state) || !image || !image_size ||
        (num_options && (!options_ptr || !option_values)))
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!link_options(&hip_link_state->options, num_options, options_ptr, option_values))
        return HIPRTC_ERROR_INVALID_OPTION;
    switch (input_type) {
    case LINK_BITCODE:
        return link_add(hip_link_state, bytes);
    case LINK_BUNDLED:
        return link_add_bundle(hip_link_state, bytes);
    case LINK_ARCHIVE:
        return link_add_archive(hip_link_state, bytes);
    default:
        return HIPRTC_ERROR_INVALID_INPUT;
    }
}

RTC_ENTRY hiprtcResult hiprtcLinkAddFile(hiprtcLinkState hip_link_state, int input_type,
                                         const char *file_path, unsigned int num_options, int *options_ptr,
                                         void **option_values)
{
    if (!link_ok(hip_link_state) || !file_path)
        return HIPRTC_ERROR_INVALID_INPUT;
    FILE *file = fopen(file_path, "rb");
    if (!file)
        return HIPRTC_ERROR_PROGRAM_CREATION_FAILURE;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    void *bytes = size > 0 && fseek(file, 0, SEEK_SET) == 0 ? malloc((size_t)size) : NULL;
    hiprtcResult result = HIPRTC_ERROR_INVALID_INPUT;
    if (bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size)
        result = hiprtcLinkAddData(hip_link_state, input_type, bytes, (size_t)size, file_path, num_options,
                                   options_ptr, option_values);
    free(bytes);
    fclose(file);
    return result;
}

/* ---- linking ------------------------------------------------------------------------------------------- */

RTC_ENTRY hiprtcResult hiprtcLinkComplete(hiprtcLinkState hip_link_state, void **bin_out, size_t *size_out)
{
    static const char *const always[] = {"--target=amdgcn-amd-amdhsa",
                                         ("-mcpu=" EHP_PROCESSOR),
                                         "-O3",
                                         "-nogpulib",
                                         "-Wno-override-module",
                                         "-o"};
    struct ihiprtcLinkState *state = hip_link_state;
    struct rtc_words words = {0};
    bool right = true;

    if (!link_ok(state) || !bin_out || !size_out || !state->inputs.count)
        return HIPRTC_ERROR_INVALID_INPUT;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        right &= rtc_words_add(&words, always[i]);
    right &= rtc_words_add_in(&words, "", &state->place, "code");
    for (size_t i = 0; i < state->options.count; i++)
        right &= rtc_words_add(&words, state->options.word[i]);
    for (size_t i = 0; i < state->inputs.count; i++)
        right &= rtc_words_add(&words, state->inputs.word[i]);
    int status = right ? rtc_run(&state->place, true, &words) : -1;
    rtc_words_free(&words);
    free(state->code);
    state->code = NULL;
    if (status != 0) {
        char *log;
        size_t count;
        if (rtc_place_read(&state->place, "log", &log, &count))
            fputs(log, stderr);
        free(log);
        return HIPRTC_ERROR_LINKING;
    }
    if (!rtc_place_read(&state->place, "code", &state->code, &state->code_bytes))
        return HIPRTC_ERROR_LINKING;
    *bin_out = state->code;
    *size_out = state->code_bytes;
    return HIPRTC_SUCCESS;
}

RTC_ENTRY hiprtcResult hiprtcLinkDestroy(hiprtcLinkState hip_link_state)
{
    if (!link_ok(hip_link_state))
        return HIPRTC_ERROR_INVALID_INPUT;
    rtc_place_remove(&hip_link_state->place);
    rtc_words_free(&hip_link_state->inputs);
    rtc_words_free(&hip_link_state->options);
    free(hip_link_state->code);
    hip_handle_free(hip_link_state);
    return HIPRTC_SUCCESS;
}
