/* SPDX-License-Identifier: MIT */
/* `ehp info`: the simulated devices, in the manner of rocminfo. */
#include <argp.h>
#include <stdarg.h>
#include <stdio.h>

#include "machine_args.h"
#include "tool.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {{&machine_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    .parser = parse,
    .doc = "Describe the simulated devices, as rocminfo does for real ones.",
    .children = children,
};

static void line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(const char *name, const char *format, ...)
{
    char value[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof(value), format, arguments);
    va_end(arguments);
    printf("  %-28s %s\n", name, value);
}

static const char *level_name(unsigned level)
{
    return level == 4 ? "AVX-512" : level == 3 ? "AVX2" : "SSE4.2";
}

/* What executes kernels in functional mode; whether it compiles them. */
static bool print_engine(void)
{
    struct ehp_engine_info info = EHP_ENGINE_INFO_INIT;
    if (ehp_engine_info(&info) != EHP_OK)
        return false;
    if (info.compiled)
        line("Engine", "compiled, %s, %s (%u lanes)", info.text, level_name(info.handlers),
             info.handlers == 4 ? 16 : 8);
    else
        line("Engine", "interpreter, %s: %s", level_name(info.handlers), info.text);
    return info.compiled;
}

/* What is compiled stays there for the next run. */
static void print_cache(void)
{
    struct ehp_cache_info info = {.size = sizeof(info)};
    struct room room;
    if (ehp_cache_info(&info) != EHP_OK)
        return;
    if (*info.off)
        printf("  %-28s none: %s\n", "Compiled code on disk", printable(info.off, &room));
    else
        printf("  %-28s %.1f of %llu MiB in %s\n", "Compiled code on disk", (double)info.bytes / (1 << 20),
               (unsigned long long)info.limit >> 20, printable(info.folder, &room));
}

static void print_agent(unsigned i, const struct ehp_agent_info *a)
{
    printf("Agent %u\n", i);
    line("Name", "%s", a->name);
    line("ISA", "amdgcn-amd-amdhsa--%s", a->isa);
    line("Device type", "%s", a->apu ? "GPU of an APU" : "GPU");
    line("PCI", "%04x:%02x:%02x.%u, device id 0x%04x", a->pci_domain, a->pci_bus, a->pci_device,
         a->pci_function, a->pci_id);
    if (a->partition_count > 1)
        line("Partition", "%u of %u", a->partition_index + 1, a->partition_count);
    line("XCDs", "%u", a->xcds);
    line("Compute units", "%u (%u an XCD, %u shader engines)", a->cus, a->cus_per_xcd,
         a->shader_engines_per_xcd);
    line("SIMDs a CU", "%u", a->simds_per_cu);
    line("Waves a SIMD", "%u", a->waves_per_simd);
    line("Wavefront size", "%u", a->wave_size);
    line("VGPRs a lane and SIMD", "%u", a->vgprs_per_simd);
    line("Workgroup max size", "%u work-items, %u x %u x %u at most", a->workgroup_max, a->workgroup_max,
         a->workgroup_max, a->workgroup_max);
    line("Grid max workgroups", "%u x %u x %u", a->grid_max[0], a->grid_max[1], a->grid_max[2]);
    line("LDS", "%llu KiB a CU", (unsigned long long)a->lds_bytes >> 10);
    line("L1", "%llu KiB a CU", (unsigned long long)a->l1_bytes >> 10);
    line("L2", "%llu KiB an XCD", (unsigned long long)a->l2_bytes >> 10);
    line("Infinity Cache", "%llu MiB", (unsigned long long)a->infinity_cache_bytes >> 20);
    line("Memory", "%llu GiB, %u bit at %u MHz, %u NUMA domain%s", (unsigned long long)a->memory_bytes >> 30,
         a->memory_bus_bits, a->memory_clock_mhz, a->numa_nodes, a->numa_nodes == 1 ? "" : "s");
    line("Max engine clock", "%u MHz", a->clock_mhz);
    line("Timestamp clock", "%u MHz", a->timestamp_mhz);
    if (a->apu)
        line("CPU cores in the package", "%u", a->cpu_cores);
    printf("\n");
}

static double number(ehp_machine *m, const char *key)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    return ehp_chip_value(m, key, &v) == EHP_OK ? v.number : 0;
}

/* A package without a GPU. */
static void print_cpu(ehp_machine *m)
{
    struct ehp_chip_value title = {.size = sizeof(title)};
    ehp_chip_value(m, "chip.title", &title);
    printf("No agent\n");
    line("Name", "%s", title.text);
    line("Device type", "CPU");
    line("CCDs", "%.0f, %.0f cores each", number(m, "ccd.count"), number(m, "ccd.cores"));
    line("CPU cores in the package", "%.0f", number(m, "ccd.count") * number(m, "ccd.cores"));
    line("L3", "%.0f MiB a CCD", number(m, "ccd.l3") / 1048576);
    line("Infinity Cache", "%.0f MiB", number(m, "infinity_cache.size") / 1048576);
    line("Memory", "%.0f GiB", number(m, "hbm.stacks") * number(m, "hbm.stack_size") / 1073741824);
    line("Max core clock", "%.0f MHz", number(m, "core.clock"));
    printf("\n");
}

int tool_info(int argc, char **argv)
{
    struct machine_args args = {0};
    argv[0] = "ehp info";
    if (tool_parse(&parser, argc, argv, 0, &args) != 0)
        return 2;
    ehp_machine *m = machine_args_open(&args);
    printf("EHP %s, HSA runtime 1.2, %u agent%s\n", ehp_version(), ehp_agent_count(m),
           ehp_agent_count(m) == 1 ? "" : "s");
    if (print_engine())
        print_cache();
    printf("\n");
    if (!ehp_agent_count(m))
        print_cpu(m);
    for (unsigned i = 0; i < ehp_agent_count(m); i++) {
        struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
        if (ehp_agent_info(m, i, &info) == EHP_OK)
            print_agent(i, &info);
    }
    ehp_close(m);
    return 0;
}
