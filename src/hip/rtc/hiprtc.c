/* SPDX-License-Identifier: MIT */
/* hipRTC: source text to code objects, at run time, through the same compiler driver as everything else. */
#include "hip/rtc/hiprtc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rtc_name {
    char *expression;
    char *lowered;
};

typedef struct _hiprtcProgram {
    struct hip_handle head;
    char *source, *name;
    struct rtc_file *headers;
    size_t header_count;
    struct rtc_name *names;
    size_t name_count;
    bool compiled, to_bitcode;
    char *log, *code;
    size_t log_bytes, code_bytes;
} *hiprtcProgram;

hiprtcResult hiprtcVersion(int *major, int *minor);
const char *hiprtcGetErrorString(hiprtcResult result);
hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name, int numHeaders,
                                 const char **headers, const char **includeNames);
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog);
hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression);
hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char **options);
hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char *name_expression, const char **lowered_name);
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet);
hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log);
hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet);
hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcode_size);
hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *bitcode);

static bool rtc_program_ok(hiprtcProgram program)
{
    return hip_handle_ok(HIP_KIND_RTC_PROGRAM, program);
}

RTC_ENTRY hiprtcResult hiprtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return HIPRTC_ERROR_INVALID_INPUT;
    *major = 9; /* hipRTC counts for itself */
    *minor = 0;
    return HIPRTC_SUCCESS;
}

RTC_ENTRY const char *hiprtcGetErrorString(hiprtcResult result)
{
    switch (result) {
#define RESULT(name)                                                                                         \
    case name:                                                                                               \
        return #name;
        RESULT(HIPRTC_SUCCESS)
        RESULT(HIPRTC_ERROR_OUT_OF_MEMORY)
        RESULT(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE)
        RESULT(HIPRTC_ERROR_INVALID_INPUT)
        RESULT(HIPRTC_ERROR_INVALID_PROGRAM)
        RESULT(HIPRTC_ERROR_INVALID_OPTION)
        RESULT(HIPRTC_ERROR_COMPILATION)
        RESULT(HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE)
        RESULT(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION)
        RESULT(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION)
        RESULT(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID)
        RESULT(HIPRTC_ERROR_INTERNAL_ERROR)
        RESULT(HIPRTC_ERROR_LINKING)
#undef RESULT
    default:
        return "HIPRTC_ERROR_INTERNAL_ERROR";
    }
}

/* ---- programs ------------------------------------------------------------------------------------------ */

static void rtc_program_free(struct _hiprtcProgram *program)
{
    for (size_t i = 0; i < program->header_count; i++) {
        free(program->headers[i].name);
        free(program->headers[i].bytes);
    }
    for (size_t i = 0; i < program->name_count; i++) {
        free(program->names[i].expression);
        free(program->names[i].lowered);
    }
    free(program->headers);
    free(program->names);
    free(program->source);
    free(program->name);
    free(program->log);
    free(program->code);
    hip_handle_free(program);
}

RTC_ENTRY hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name,
                                           int numHeaders, const char **headers, const char **includeNames)
{
    if (!prog)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (!src || numHeaders < 0 || (numHeaders && (!headers || !includeNames)))
        return HIPRTC_ERROR_INVALID_INPUT;
    struct _hiprtcProgram *program = hip_handle_new(HIP_KIND_RTC_PROGRAM, sizeof *program);
    if (!program)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    program->source = strdup(src);
    program->name = strdup(name && *name ? name : "CompileSource");
    program->headers = calloc((size_t)numHeaders + 1, sizeof *program->headers);
    bool right = program->source && program->name && program->headers;
    for (int i = 0; right && i < numHeaders; i++) {
        struct rtc_file *file = &program->headers[program->header_count++];
        if (!headers[i] || !includeNames[i]) {
            rtc_program_free(program);
            return HIPRTC_ERROR_INVALID_INPUT;
        }
        file->name = strdup(includeNames[i]);
        file->bytes = strdup(headers[i]);
        file->count = strlen(headers[i]);
        right = file->name && file->bytes;
    }
    if (!right) {
        rtc_program_free(program);
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    }
    *prog = program;
    return HIPRTC_SUCCESS;
}

RTC_ENTRY hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog)
{
    if (!prog)
        return HIPRTC_SUCCESS;
    if (!rtc_program_ok(*prog))
        return HIPRTC_ERROR_INVALID_PROGRAM;
    rtc_program_free(*prog);
    *prog = NULL;
    return HIPRTC_SUCCESS;
}

RTC_ENTRY hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression)
{
    if (!name_expression)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!rtc_program_ok(prog))
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (prog->compiled)
        return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    struct rtc_name *more = realloc(prog->names, (prog->name_count + 1) * sizeof *more);
    char *copy = strdup(name_expression);
    if (more)
        prog->names = more;
    if (!more || !copy) {
        free(copy);
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    }
    prog->names[prog->name_count++] = (struct rtc_name){copy, NULL};
    return HIPRTC_SUCCESS;
}

/* The whole log, when it was not the compiler that failed. */
static hiprtcResult rtc_failed(struct _hiprtcProgram *program, hiprtcResult result, char *text)
{
    free(program->log);
    program->log = text;
    program->log_bytes = text ? strlen(text) : 0;
    return result;
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

/* The source with a pointer for each name expression behind it. */
static char *rtc_full_source(const struct _hiprtcProgram *program, size_t *count)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, count);

    if (!file)
        return NULL;
    fprintf(file, "#line 1 \"%s\"\n%s\n", program->name, program->source);
    for (size_t i = 0; i < program->name_count; i++)
        fprintf(file,
                "#line 1 \"name expression\"\n"
                "extern \"C\" __device__ const void *__ehp_name_%zu = (const void *)(%s);\n",
                i, program->names[i].expression);
    return fclose(file) == 0 ? text : NULL;
}

static bool rtc_starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* hipRTC's options are clang's but for a few spellings of NVRTC's. */
static bool rtc_option(struct rtc_words *words, const char *option, bool *has_arch)
{
    char text[512];

    if (rtc_starts(option, "--gpu-architecture=") || rtc_starts(option, "--offload-arch=")) {
        snprintf(text, sizeof text, "--offload-arch=%s", strchr(option, '=') + 1);
        *has_arch = true;
        return rtc_words_add(words, text);
    }
    if (rtc_starts(option, "--std=") || rtc_starts(option, "--define-macro=") ||
        rtc_starts(option, "--include-path=")) {
        const char *value = strchr(option, '=') + 1;
        const char *spelt = option[2] == 's' ? "-std=" : option[2] == 'd' ? "-D" : "-I";
        snprintf(text, sizeof text, "%s%s", spelt, value);
        return rtc_words_add(words, text);
    }
    return rtc_words_add(words, option);
}

static bool rtc_arguments(struct rtc_words *words, struct _hiprtcProgram *program,
                          const struct rtc_place *place, int count, const char **options)
{
    static const char *const always[] = {
        "-x",
        "hip",
        "--cuda-device-only",
        "--no-gpu-bundle-output",
        "-O3",
        "-D__HIPCC_RTC__=1",
        "-include",
        "hip/hip_runtime.h",
        "-include", /* run-time programs use __half and hip_bfloat16 without a word */
        "hip/hip_fp16.h",
        "-include",
        "hip/hip_bfloat16.h",
        "-Wno-unused-command-line-argument",
    };
    bool right = true, has_arch = false;

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        right &= rtc_words_add(words, always[i]);
    right &= rtc_words_add_in(words, "-I", place, "") && rtc_words_add(words, "-c") &&
             rtc_words_add_in(words, "", place, "source.hip") && rtc_words_add(words, "-o") &&
             rtc_words_add_in(words, "", place, "code");
    for (int i = 0; i < count; i++) {
        if (!options[i])
            return false;
        if (!strcmp(options[i], "-fgpu-rdc") || !strcmp(options[i], "-emit-llvm"))
            program->to_bitcode = true;
        if (!strcmp(options[i], "-emit-llvm"))
            continue;
        right &= rtc_option(words, options[i], &has_arch);
    }
    if (!has_arch)
        right &= rtc_words_add(words, "--offload-arch=" EHP_PROCESSOR);
    if (program->to_bitcode)
        right &= rtc_words_add(words, "-emit-llvm");
    return right;
}

static hiprtcResult rtc_compile_in(const struct rtc_place *place, struct _hiprtcProgram *program,
                                   const struct rtc_words *words)
{
    size_t count;
    char *source = rtc_full_source(program, &count);
    bool right = source && rtc_place_write(place, "source.hip", source, count);

    free(source);
    for (size_t i = 0; right && i < program->header_count; i++)
        right = rtc_place_write(place, program->headers[i].name, program->headers[i].bytes,
                                program->headers[i].count);
    if (!right) {
        char *text;
        if (asprintf(&text, "hiprtc: the sources cannot be written to %s: %s\n", place->dir,
                     strerror(errno)) < 0)
            text = NULL;
        return rtc_failed(program, HIPRTC_ERROR_INTERNAL_ERROR, text);
    }
    int status = rtc_run(place, false, words);
    rtc_place_read(place, "log", &program->log, &program->log_bytes);
    if (status != 0 && !program->log_bytes)
        return rtc_failed(program, HIPRTC_ERROR_COMPILATION,
                          strdup("hiprtc: the compiler was ended by a signal\n"));
    if (status != 0)
        return HIPRTC_ERROR_COMPILATION;
    if (!rtc_place_read(place, "code", &program->code, &program->code_bytes))
        return HIPRTC_ERROR_INTERNAL_ERROR;
    for (size_t i = 0; i < program->name_count; i++) {
        char variable[48];
        snprintf(variable, sizeof variable, "__ehp_name_%zu", i);
        program->names[i].lowered = rtc_lowered_name(program->code, program->code_bytes, variable);
    }
    return HIPRTC_SUCCESS;
}

RTC_ENTRY hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char **options)
{
    struct rtc_words words = {0};
    struct rtc_place place;
    char *why;

    if (!rtc_program_ok(prog))
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (numOptions < 0 || (numOptions && !options))
        return HIPRTC_ERROR_INVALID_INPUT;
    free(prog->log);
    free(prog->code);
    prog->log = prog->code = NULL;
    prog->log_bytes = prog->code_bytes = 0;
    prog->to_bitcode = prog->compiled = false;
    if (!rtc_place_make(&place, &why))
        return rtc_failed(prog, HIPRTC_ERROR_INTERNAL_ERROR, why);
    hiprtcResult result = HIPRTC_ERROR_INVALID_OPTION;
    if (rtc_arguments(&words, prog, &place, numOptions, options))
        result = rtc_compile_in(&place, prog, &words);
    rtc_place_remove(&place);
    rtc_words_free(&words);
    prog->compiled = result == HIPRTC_SUCCESS;
    return result;
}

RTC_ENTRY hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char *name_expression,
                                            const char **lowered_name)
{
    if (!name_expression || !lowered_name)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!rtc_program_ok(prog))
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (!prog->compiled)
        return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (size_t i = 0; i < prog->name_count; i++)
        if (!strcmp(prog->names[i].expression, name_expression) && prog->names[i].lowered) {
            *lowered_name = prog->names[i].lowered;
            return HIPRTC_SUCCESS;
        }
    return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* ---- results ------------------------------------------------------------------------------------------- */

RTC_ENTRY hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet)
{
    if (!logSizeRet)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!rtc_program_ok(prog))
        return HIPRTC_ERROR_INVALID_PROGRAM;
    *logSizeRet = prog->log_bytes ? prog->log_bytes + 1 : 0;
    return HIPRTC_SUCCESS;
}

RTC_ENTRY hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log)
{
    if (!log)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!rtc_program_ok(prog))
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (prog->log_bytes)
        memcpy(log, prog->log, prog->log_bytes + 1);
    return HIPRTC_SUCCESS;
}

static hiprtcResult rtc_size(hiprtcProgram prog, size_t *size, bool bitcode)
{
    if (!size)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!rtc_program_ok(prog) || !prog->compiled || prog->to_bitcode != bitcode)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    *size = prog->code_bytes;
    return HIPRTC_SUCCESS;
}

static hiprtcResult rtc_bytes(hiprtcProgram prog, char *out, bool bitcode)
{
    if (!out)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!rtc_program_ok(prog) || !prog->compiled || prog->to_bitcode != bitcode)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    memcpy(out, prog->code, prog->code_bytes);
    return HIPRTC_SUCCESS;
}

RTC_ENTRY hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet)
{
    return rtc_size(prog, codeSizeRet, false);
}

RTC_ENTRY hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code)
{
    return rtc_bytes(prog, code, false);
}

RTC_ENTRY hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcode_size)
{
    return rtc_size(prog, bitcode_size, true);
}

RTC_ENTRY hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *bitcode)
{
    return rtc_bytes(prog, bitcode, true);
}
