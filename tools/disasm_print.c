// SPDX-License-Identifier: MIT
// What `ehp disasm` prints for one code object: each kernel's resources, initial registers and arguments, and
// the instructions of every function with the source lines they come from.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "disasm.h"
#include "load/descriptor.h"
#include "tool.h"

// ---- kernels ----

static const char *const arg_kinds[EHP_ARG_HIDDEN_UNKNOWN + 1] = {
    [EHP_ARG_BY_VALUE] = "value",
    [EHP_ARG_GLOBAL_BUFFER] = "pointer",
    [EHP_ARG_DYNAMIC_SHARED_POINTER] = "dynamic LDS pointer",
    [EHP_ARG_SAMPLER] = "sampler",
    [EHP_ARG_IMAGE] = "image",
    [EHP_ARG_PIPE] = "pipe",
    [EHP_ARG_QUEUE] = "queue",
    [EHP_ARG_HIDDEN_GLOBAL_OFFSET_X] = "hidden: global offset x",
    [EHP_ARG_HIDDEN_GLOBAL_OFFSET_Y] = "hidden: global offset y",
    [EHP_ARG_HIDDEN_GLOBAL_OFFSET_Z] = "hidden: global offset z",
    [EHP_ARG_HIDDEN_NONE] = "hidden: unused",
    [EHP_ARG_HIDDEN_PRINTF_BUFFER] = "hidden: printf buffer",
    [EHP_ARG_HIDDEN_HOSTCALL_BUFFER] = "hidden: hostcall buffer",
    [EHP_ARG_HIDDEN_DEFAULT_QUEUE] = "hidden: default queue",
    [EHP_ARG_HIDDEN_COMPLETION_ACTION] = "hidden: completion action",
    [EHP_ARG_HIDDEN_MULTIGRID_SYNC_ARG] = "hidden: multigrid sync",
    [EHP_ARG_HIDDEN_BLOCK_COUNT_X] = "hidden: block count x",
    [EHP_ARG_HIDDEN_BLOCK_COUNT_Y] = "hidden: block count y",
    [EHP_ARG_HIDDEN_BLOCK_COUNT_Z] = "hidden: block count z",
    [EHP_ARG_HIDDEN_GROUP_SIZE_X] = "hidden: group size x",
    [EHP_ARG_HIDDEN_GROUP_SIZE_Y] = "hidden: group size y",
    [EHP_ARG_HIDDEN_GROUP_SIZE_Z] = "hidden: group size z",
    [EHP_ARG_HIDDEN_REMAINDER_X] = "hidden: remainder x",
    [EHP_ARG_HIDDEN_REMAINDER_Y] = "hidden: remainder y",
    [EHP_ARG_HIDDEN_REMAINDER_Z] = "hidden: remainder z",
    [EHP_ARG_HIDDEN_GRID_DIMS] = "hidden: grid dimensions",
    [EHP_ARG_HIDDEN_HEAP_V1] = "hidden: heap",
    [EHP_ARG_HIDDEN_DYNAMIC_LDS_SIZE] = "hidden: dynamic LDS size",
    [EHP_ARG_HIDDEN_PRIVATE_BASE] = "hidden: private aperture",
    [EHP_ARG_HIDDEN_SHARED_BASE] = "hidden: shared aperture",
    [EHP_ARG_HIDDEN_QUEUE_PTR] = "hidden: queue",
    [EHP_ARG_HIDDEN_UNKNOWN] = "hidden: unknown",
};

static void print_sgprs(unsigned *next, unsigned count, const char *what)
{
    if (!count)
        return;
    if (count == 1)
        printf("  s%u %s", *next, what);
    else
        printf("  s[%u:%u] %s", *next, *next + count - 1, what);
    *next += count;
}

// "Initial Kernel Execution State": what is where when the first instruction executes.
static void print_registers(const struct kernel_descriptor *kd)
{
    static const char *const ids[4] = {"x", "x, y", "x, y, z", "undefined"};
    unsigned p = kd->kernel_code_properties, next = 0;
    printf(";   initially     ");
    print_sgprs(&next, p & KD_SGPR_PRIVATE_SEGMENT_BUFFER ? 4 : 0, "private segment buffer");
    print_sgprs(&next, p & KD_SGPR_DISPATCH_PTR ? 2 : 0, "dispatch packet");
    print_sgprs(&next, p & KD_SGPR_QUEUE_PTR ? 2 : 0, "queue");
    print_sgprs(&next, p & KD_SGPR_KERNARG_SEGMENT_PTR ? 2 : 0, "kernel arguments");
    print_sgprs(&next, p & KD_SGPR_DISPATCH_ID ? 2 : 0, "dispatch id");
    print_sgprs(&next, p & KD_SGPR_FLAT_SCRATCH_INIT ? 2 : 0, "flat scratch init");
    print_sgprs(&next, p & KD_SGPR_PRIVATE_SEGMENT_SIZE ? 1 : 0, "private segment size");
    if (kd_preload_dwords(kd)) {
        char what[64];
        snprintf(what, sizeof what, "kernarg bytes %u..%u", kd_preload_offset(kd) * 4,
                 (kd_preload_offset(kd) + kd_preload_dwords(kd)) * 4 - 1);
        print_sgprs(&next, kd_preload_dwords(kd), what);
    }
    if (next < kd_user_sgprs(kd))
        next = kd_user_sgprs(kd);
    print_sgprs(&next, kd_workgroup_id(kd, 0), "workgroup x");
    print_sgprs(&next, kd_workgroup_id(kd, 1), "workgroup y");
    print_sgprs(&next, kd_workgroup_id(kd, 2), "workgroup z");
    print_sgprs(&next, kd_workgroup_info(kd), "workgroup info");
    printf("  v0 work-item %s\n", ids[kd_workitem_id(kd)]);
}

static void print_mode(const struct kernel_descriptor *kd)
{
    static const char *const round[4] = {"nearest even", "+inf", "-inf", "zero"};
    static const char *const denormal[4] = {"flushed", "flushed out", "flushed in", "kept"};
    uint32_t mode = kd_float_mode(kd);
    printf(";   floats          f32 round %s, denormals %s;  f16 f64 round %s, denormals %s%s%s%s\n",
           round[mode & 3], denormal[mode >> 4 & 3], round[mode >> 2 & 3], denormal[mode >> 6 & 3],
           kd_ieee_mode(kd) ? ";  IEEE" : "", kd_dx10_clamp(kd) ? ";  DX10 clamp" : "",
           kd_fp16_ovfl(kd) ? ";  f16 overflow clamps" : "");
}

static void print_arguments(const struct ehp_kernel *k)
{
    printf(";   kernarg         %u bytes, aligned to %u\n", k->kernarg_bytes, k->kernarg_align);
    for (unsigned i = 0; i < k->arg_count; i++) {
        const struct ehp_arg *a = &k->args[i];
        struct room room[2];
        printf(";     %5u %5u  %s%s%s%s%s\n", a->offset, a->bytes, arg_kinds[a->kind],
               a->type_name ? "  " : "", printable(a->type_name ? a->type_name : "", &room[0]),
               a->name ? " " : "", printable(a->name ? a->name : "", &room[1]));
    }
}

static void print_kernel(const struct ehp_kernel *k)
{
    struct kernel_descriptor kd;
    memcpy(&kd, (const void *)(uintptr_t)k->object, sizeof kd);
    char *name = demangle(k->name);
    struct room room;
    printf("; kernel %s\n", printable(name, &room));
    free(name);
    printf(";   registers       %u SGPRs, %u VGPRs of which %u accumulators; allocated %u and %u + %u\n",
           k->sgprs, k->vgprs, k->agprs, k->held_sgprs, k->held_vgprs, k->held_agprs);
    if (k->sgpr_spills || k->vgpr_spills)
        printf(";   spills          %u SGPRs, %u VGPRs\n", k->sgpr_spills, k->vgpr_spills);
    printf(";   memory          %u bytes of LDS a workgroup, %u of scratch a lane%s\n", k->group_bytes,
           k->private_bytes, k->dynamic_stack ? " and a dynamic stack" : "");
    printf(";   workgroup       up to %u work-items", k->max_flat_workgroup_size);
    if (k->reqd_workgroup_size[0])
        printf(", exactly %u x %u x %u", k->reqd_workgroup_size[0], k->reqd_workgroup_size[1],
               k->reqd_workgroup_size[2]);
    printf("%s%s\n", k->uniform_work_group_size ? ", uniform" : "",
           kd_tg_split(&kd) ? ", split over CUs" : "");
    print_registers(&kd);
    print_mode(&kd);
    print_arguments(k);
}

// ---- source lines ----

struct source {
    char path[512];
    char *text;     // of the file at path, NULL when it cannot be read
    char last[600]; // the line that was printed last
};

static void source_open(struct source *s, const char *path)
{
    if (strcmp(s->path, path) == 0)
        return;
    free(s->text);
    s->text = NULL;
    snprintf(s->path, sizeof s->path, "%s", path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    size_t used = 0, room = 0, got;
    do {
        room = used + 65536;
        char *bigger = realloc(s->text, room + 1);
        if (!bigger)
            break;
        s->text = bigger;
        got = fread(s->text + used, 1, room - used, f);
        used += got;
    } while (got);
    if (s->text)
        s->text[used] = 0;
    fclose(f);
}

static void source_print(struct source *s, const char *line, bool with_text)
{
    char path[512];
    const char *colon = strrchr(line, ':');
    if (strcmp(s->last, line) == 0)
        return;
    snprintf(s->last, sizeof s->last, "%s", line);
    struct room room;
    printf("; %s\n", printable(line, &room));
    if (!with_text || !colon)
        return;
    snprintf(path, sizeof path, "%.*s", (int)(colon - line), line);
    source_open(s, path);
    const char *p = s->text;
    for (long n = strtol(colon + 1, NULL, 10); p && n > 1; n--) {
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    if (p) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)strcspn(p, "\r\n"), p);
        printf("; %s\n", printable(text, &room));
    }
}

// ---- instructions ----

static void print_instruction(const char *isa, uint64_t pc, uint64_t start, const uint32_t *words,
                              unsigned count, const char *text)
{
    uint64_t target;
    printf("  %05" PRIx64 "  %-58s //", pc - start, text);
    for (unsigned i = 0; i < count; i++)
        printf(" %08X", words[i]);
    if (ehp_branch_target(isa, words, count, pc, &target))
        printf(" -> %s%" PRIx64, target < start ? "-" : "", target < start ? start - target : target - start);
    putchar('\n');
}

static void print_function(const ehp_code *code, const struct ehp_function *f,
                           const struct disasm_options *opt, struct source *source)
{
    const char *isa = ehp_code_isa(code);
    char *name = demangle(f->name);
    struct room room[2];
    printf("\n<%s>:%s%s\n", printable(f->name, &room[0]), strcmp(name, f->name) != 0 ? " ; " : "",
           strcmp(name, f->name) != 0 ? printable(name, &room[1]) : "");
    free(name);
    source->last[0] = 0;
    for (uint64_t pc = f->start; pc < f->end;) {
        uint32_t words[5] = {0};
        char text[256], line[600];
        uint64_t left = f->end - pc;
        memcpy(words, (const void *)(uintptr_t)pc, left < sizeof words ? (size_t)left : sizeof words);
        unsigned bytes = left < 4 ? 0
                                  : ehp_disassemble(isa, words, left / 4 < 5 ? (size_t)left / 4 : 5, pc, text,
                                                    sizeof text);
        if (ehp_code_line(code, pc, line, sizeof line) == EHP_OK)
            source_print(source, line, opt->source);
        if (!bytes) {
            snprintf(text, sizeof text, ".long 0x%08x", words[0]);
            bytes = 4;
        }
        print_instruction(isa, pc, f->start, words, bytes / 4, text);
        pc += bytes;
    }
}

// ---- hazards ----

struct hazards {
    const ehp_code *code;
    const struct ehp_function *function;
};

static void print_place(const struct hazards *h, uint64_t pc)
{
    char text[256], line[600];
    const uint64_t left = (h->function->end - pc) / 4;
    ehp_disassemble(ehp_code_isa(h->code), (const uint32_t *)(uintptr_t)pc, left < 4 ? (size_t)left : 4, pc,
                    text, sizeof text);
    printf("  %05" PRIx64 "  %s", pc - h->function->start, text);
    if (ehp_code_line(h->code, pc, line, sizeof line) == EHP_OK)
        printf("  ; %s", line);
    putchar('\n');
}

static void print_hazard(const struct ehp_hazard *hazard, void *user)
{
    const struct hazards *h = user;
    struct room room;
    printf("%s: %s: needs %u wait states, %u more\n",
           h->function->name ? printable(h->function->name, &room) : "code", hazard->rule, hazard->needed,
           hazard->missing);
    print_place(h, hazard->from);
    print_place(h, hazard->pc);
}

static unsigned print_hazards(const ehp_code *code, const struct ehp_function *f)
{
    struct hazards h = {code, f};
    const int n = ehp_hazards(ehp_code_isa(code), (const uint32_t *)(uintptr_t)f->start,
                              (size_t)(f->end - f->start) / 4, f->start, print_hazard, &h);
    return n > 0 ? (unsigned)n : 0;
}

// ---- a code object ----

// "saxpy" finds _Z5saxpyfPKfPf: the demangled name up to its template or parameter list.
static bool wanted(const char *name, const char *pattern)
{
    if (!pattern || strcmp(name, pattern) == 0)
        return true;
    char *full = demangle(name);
    bool match = strcmp(full, pattern) == 0;
    if (!match) {
        // Templates have a return type in front of their name.
        size_t length = strcspn(full, "(<");
        full[length] = 0;
        const char *space = strrchr(full, ' ');
        match = strcmp(space ? space + 1 : full, pattern) == 0;
    }
    free(full);
    return match;
}

static bool find_kernel(const ehp_code *code, const struct ehp_function *f, struct ehp_kernel *k)
{
    for (unsigned i = 0; i < ehp_code_kernel_count(code); i++) {
        *k = (struct ehp_kernel)EHP_KERNEL_INIT;
        if (ehp_code_kernel_at(code, i, k) == EHP_OK && k->entry >= f->start && k->entry < f->end)
            return true;
    }
    return false;
}

unsigned disasm_print(const ehp_code *code, const struct disasm_options *opt)
{
    struct source source = {.text = NULL};
    unsigned shown = 0;
    for (unsigned i = 0; i < ehp_code_function_count(code); i++) {
        struct ehp_function f = EHP_FUNCTION_INIT;
        struct ehp_kernel k;
        if (ehp_code_function_at(code, i, &f) != EHP_OK || !wanted(f.name, opt->kernel))
            continue;
        bool is_kernel = find_kernel(code, &f, &k);
        if (opt->hazards) {
            *opt->found += print_hazards(code, &f);
            shown++;
            continue;
        }
        if (opt->list && !is_kernel)
            continue;
        if (shown++)
            putchar('\n');
        if (is_kernel)
            print_kernel(&k);
        if (!opt->list)
            print_function(code, &f, opt, &source);
    }
    free(source.text);
    return shown;
}
