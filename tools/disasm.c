// SPDX-License-Identifier: MIT
// `ehp disasm`: the kernels and functions of a code object, a bundle, or the device code in a host program.
#include "disasm.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "demangle.h"
#include "tool.h"

struct file {
    const char *path;
    uint8_t *data;
    size_t bytes;
};

static const char help[] =
    "usage: ehp disasm [options] FILE\n"
    "\n"
    "FILE is a program or library with HIP code in it, an offload bundle, or a .hsaco file.\n"
    "\n"
    "  --kernel NAME   only this kernel or device function (mangled, or its plain name)\n"
    "  --source        show the source text too, when there is debug information and the file is found\n"
    "  --list          kernels and their resources, no instructions\n"
    "  --hazards       only what comes too soon after another instruction: missing s_nop; fails if there is "
    "any\n"
    "  --chip CHIP     the machine whose code to take out of a bundle (mi300a)\n";

// Read, not mapped: behind the end of a file that somebody cuts off meanwhile a mapping is a crash.
static int open_file(struct file *f, const char *path)
{
    struct stat st;
    *f = (struct file){.path = path};
    FILE *file = fopen(path, "rbe");
    if (!file || fstat(fileno(file), &st) != 0) {
        tool_say("ehp disasm: %s: %s", path, strerror(errno));
        if (file)
            fclose(file);
        return -1;
    }
    if (S_ISREG(st.st_mode) && st.st_size > 0 && (f->data = malloc((size_t)st.st_size)))
        f->bytes = fread(f->data, 1, (size_t)st.st_size, file);
    fclose(file);
    if (!f->bytes) {
        free(f->data);
        tool_say("ehp disasm: %s: empty, or not a file", path);
        return -1;
    }
    return 0;
}

// The device code of a host program, or all of the file. The section is in the file that was read: no copy.
static void find_fatbin(const struct file *f, const uint8_t **image, size_t *bytes)
{
    *image = f->data;
    *bytes = f->bytes;
    GElf_Ehdr eh;
    size_t names;
    elf_version(EV_CURRENT);
    Elf *elf = elf_memory((char *)f->data, f->bytes);
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &eh) && eh.e_machine != EM_AMDGPU &&
        elf_getshdrstrndx(elf, &names) == 0) {
        for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
            GElf_Shdr sh;
            const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
            if (name && strcmp(name, ".hip_fatbin") == 0 && sh.sh_offset <= f->bytes &&
                sh.sh_size <= f->bytes - sh.sh_offset) {
                *image = f->data + sh.sh_offset;
                *bytes = sh.sh_size;
                break;
            }
        }
    }
    elf_end(elf);
}

// Every bundle in the image; the number that could be shown, or -1 when none could.
static int show_all(ehp_machine *machine, const uint8_t *image, size_t bytes,
                    const struct disasm_options *opt, const char *path)
{
    unsigned loaded = 0, found = 0;
    for (size_t at = 0; at < bytes;) {
        while (at < bytes && at && !image[at]) // the linker's padding
            at++;
        if (at == bytes)
            break;
        size_t size = ehp_image_size_within(image + at, bytes - at);
        ehp_code *code;
        if (ehp_code_load(machine, 0, image + at, size ? size : bytes - at, &code) == EHP_OK) {
            found += disasm_print(code, opt);
            ehp_code_unload(code);
            loaded++;
        } else {
            tool_say("ehp disasm: %s: %s", path, ehp_error_text(machine));
        }
        if (!size)
            break;
        at += size;
    }
    if (!loaded)
        return -1;
    if (opt->kernel && !found) {
        tool_say("ehp disasm: %s: no kernel or function %s", path, opt->kernel);
        return -1;
    }
    return 0;
}

static int disasm_file(const char *path, const char *chip, const struct disasm_options *opt)
{
    struct file f;
    if (open_file(&f, path) != 0)
        return 1;
    struct ehp_options machine_options = EHP_OPTIONS_INIT;
    machine_options.chip = chip;
    machine_options.threads = 1;
    ehp_machine *machine;
    if (ehp_open(&machine_options, &machine) != EHP_OK) {
        tool_say("ehp disasm: %s", machine_options.error);
        free(f.data);
        return 1;
    }
    const uint8_t *image;
    size_t bytes;
    find_fatbin(&f, &image, &bytes);
    int status = show_all(machine, image, bytes, opt, path);
    ehp_close(machine);
    free(f.data);
    return status ? 1 : 0;
}

int tool_disasm(int argc, char **argv)
{
    struct disasm_options opt = {0};
    const char *path = NULL, *chip = NULL;
    unsigned hazards = 0;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        const char **value = strcmp(arg, "--kernel") == 0 ? &opt.kernel
                             : strcmp(arg, "--chip") == 0 ? &chip
                                                          : NULL;
        if (value && i + 1 < argc) {
            *value = argv[++i];
        } else if (strncmp(arg, "--kernel=", 9) == 0) {
            opt.kernel = arg + 9;
        } else if (strncmp(arg, "--chip=", 7) == 0) {
            chip = arg + 7;
        } else if (strcmp(arg, "--source") == 0) {
            opt.source = true;
        } else if (strcmp(arg, "--list") == 0) {
            opt.list = true;
        } else if (strcmp(arg, "--hazards") == 0) {
            opt.hazards = true;
            opt.found = &hazards;
        } else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            fputs(help, stdout);
            return 0;
        } else if (arg[0] != '-' && !path) {
            path = arg;
        } else {
            tool_say("ehp disasm: %s: %s", arg, value ? "needs a value" : "unknown or superfluous");
            return 2;
        }
    }
    if (!path) {
        fputs(help, stderr);
        return 2;
    }
    if (chip && !*chip) {
        fputs("ehp disasm: --chip takes a name that `ehp chips` lists, or a chip file, not \"\"\n", stderr);
        return 2;
    }
    const int status = disasm_file(path, chip ? chip : secure_getenv("EHP_CHIP"), &opt);
    return status == 0 && hazards ? 1 : status;
}
