/* SPDX-License-Identifier: MIT */
/*
 * Objects of compilers, loaded and run; and what is refused.
 *   object OBJECT...      each compiled of object_code.c
 */
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "jit/object.h"

typedef float quad __attribute__((vector_size(16)));
typedef uint64_t unary(uint64_t n);

static const uint64_t far_table[4] = {11, 22, 33, 44};

static uint64_t far_add(uint64_t a, uint64_t b)
{
    return a + b;
}

/* What the object asks for; a name that `without` has is missing. */
struct outside {
    const char *without;
    uintptr_t small;
    unsigned asked;
};

static void *resolve(void *context, const char *name)
{
    struct outside *o = context;
    o->asked++;
    if (o->without && strcmp(name, o->without) == 0)
        return NULL;
    return strcmp(name, "far_add") == 0        ? (void *)far_add
           : strcmp(name, "far_table") == 0    ? (void *)(uintptr_t)far_table
           : strcmp(name, "small_number") == 0 ? (void *)o->small
                                               : NULL;
}

struct file {
    uint8_t *bytes;
    size_t size;
};

static struct file read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct file file = {malloc(1 << 20), 0};
    if (f && file.bytes)
        file.size = fread(file.bytes, 1, 1 << 20, f);
    if (!file.size) {
        perror(path);
        exit(1);
    }
    fclose(f);
    return file;
}

static struct jit_object *load(const struct file *f, char *error)
{
    struct outside outside = {.small = 0x12345};
    struct jit_object *o = jit_object_load(f->bytes, f->size, resolve, &outside, error);
    CHECK_EQ(outside.asked, 3); /* each name once */
    return o;
}

static void test_run(const struct file *f)
{
    char error[JIT_OBJECT_ERROR];
    struct jit_object *o = load(f, error);
    CHECK_STR(error, "");
    if (!CHECK(o))
        return;
#define FUNCTION(result, name, ...)                                                                          \
    result (*name)(__VA_ARGS__) = (result (*)(__VA_ARGS__))jit_object_find(o, #name)
    FUNCTION(uint64_t, code_plain, uint64_t);
    FUNCTION(uint64_t, code_call, uint64_t);
    FUNCTION(unary *, code_address, void);
    FUNCTION(uint64_t, code_data, unsigned);
    FUNCTION(uint64_t, code_switch, unsigned);
    FUNCTION(uint64_t, code_pointer, unsigned, uint64_t);
    FUNCTION(const char *, code_text, unsigned);
    FUNCTION(void, code_vector, quad *);
    FUNCTION(uint64_t, code_small, void);
#undef FUNCTION
    CHECK_EQ(code_plain(4), 13);
    CHECK_EQ(code_call(30), 43);
    CHECK_EQ(code_address()(10), 89);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(code_data(i), far_table[i]);
    static const uint64_t cases[8] = {1, 3, 4, 99, 1004, 8, 16, 0};
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQ(code_switch(i), cases[i]);
    static const uint64_t results[4] = {14, 49, 22, 20};
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(code_pointer(i, 7), results[i]);
    CHECK_STR(code_text(0), "wave");
    CHECK_STR(code_text(5), "workgroup");
    quad v = {1, 2, 3, 4};
    code_vector(&v);
    CHECK(v[0] == 2 && v[1] == -3 && v[2] == 11.75f && v[3] == 19);
    CHECK_EQ(code_small(), 2 * 0x12345 + 1);
    const int64_t *distance = jit_object_find(o, "code_distance");
    if (CHECK(distance))
        CHECK_EQ((intptr_t)distance + *distance, (uintptr_t)code_plain);
    CHECK(!jit_object_find(o, "far_add"));
    CHECK(!jit_object_find(o, "twice"));
    CHECK(!jit_object_find(o, ""));
    jit_object_free(o);
}

/* Whether the mapping at the address may be written, and executed, by /proc/self/maps. */
static void protection(const void *address, char flags[5])
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    snprintf(flags, 5, "none");
    while (maps && fgets(line, sizeof(line), maps)) {
        unsigned long from, to;
        char found[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, found) == 3 && (uintptr_t)address >= from &&
            (uintptr_t)address < to)
            memcpy(flags, found, 5);
    }
    if (maps)
        fclose(maps);
}

static void test_protection(const struct file *f)
{
    char error[JIT_OBJECT_ERROR], flags[5];
    struct jit_object *o = load(f, error);
    if (!CHECK(o))
        return;
    protection(jit_object_find(o, "code_plain"), flags);
    CHECK_STR(flags, "r-xp");
    protection(jit_object_find(o, "code_distance"), flags);
    CHECK_STR(flags, "r--p");
    jit_object_free(o);
    jit_object_free(NULL);
}

/* A copy that is exactly as large: sanitizers see a read behind it. */
static bool loads(const uint8_t *bytes, size_t size, struct outside *outside, char *error)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    struct jit_object *o = jit_object_load(copy, size, resolve, outside, error);
    CHECK(!o == (error[0] != 0));
    free(copy);
    jit_object_free(o);
    return o != NULL;
}

static void test_refusals(const struct file *f)
{
    char error[JIT_OBJECT_ERROR];
    struct outside outside = {.small = 0x12345, .without = "far_add"};
    CHECK(!loads(f->bytes, f->size, &outside, error));
    CHECK(strstr(error, "nothing is called \"far_add\""));
    outside = (struct outside){.small = (uintptr_t)1 << 40};
    CHECK(!loads(f->bytes, f->size, &outside, error));
    CHECK(strstr(error, "\"small_number\" is too far"));
    outside = (struct outside){.small = 0x12345};
    CHECK(loads(f->bytes, f->size, &outside, error));
    /* ELF's header: class, type, machine. */
    static const struct {
        size_t at;
        uint8_t value;
    } header[] = {{EI_MAG1, 'e'},
                  {EI_CLASS, ELFCLASS32},
                  {EI_DATA, ELFDATA2MSB},
                  {offsetof(Elf64_Ehdr, e_type), ET_DYN},
                  {offsetof(Elf64_Ehdr, e_machine), EM_386}};
    for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++) {
        const uint8_t before = f->bytes[header[i].at];
        f->bytes[header[i].at] = header[i].value;
        CHECK(!loads(f->bytes, f->size, &outside, error));
        f->bytes[header[i].at] = before;
    }
    /* The table of sections is last, and cannot be whole. */
    for (size_t size = 0; size < f->size; size += 1 + size / 64)
        CHECK(!loads(f->bytes, size, &outside, error));
}

static Elf64_Shdr *section(const struct file *f, unsigned type, const char *name)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)f->bytes;
    Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(f->bytes + header->e_shoff);
    const char *names = (const char *)f->bytes + sections[header->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == type && sections[i].sh_size &&
            strcmp(names + sections[i].sh_name, name) == 0)
            return &sections[i];
    fprintf(stderr, "no section %s\n", name);
    exit(1);
}

static void expect(const struct file *f, const char *text)
{
    char error[JIT_OBJECT_ERROR];
    struct outside outside = {.small = 0x12345};
    CHECK(!loads(f->bytes, f->size, &outside, error));
    if (!CHECK(strstr(error, text)))
        fprintf(stderr, "  \"%s\" instead of \"%s\"\n", error, text);
}

static bool is_function(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL;
}

/* One field wrong at a time. */
static void test_damage(const struct file *f)
{
    Elf64_Shdr *text = section(f, SHT_PROGBITS, ".text"), *symbols = section(f, SHT_SYMTAB, ".symtab"),
               *relocations = section(f, SHT_RELA, ".rela.text"),
               *strings = section(f, SHT_STRTAB, ".strtab");
    Elf64_Rela *rela = (Elf64_Rela *)(void *)(f->bytes + relocations->sh_offset);
    Elf64_Sym *symbol = (Elf64_Sym *)(void *)(f->bytes + symbols->sh_offset);
    while (!is_function(symbol))
        symbol++;
    const Elf64_Sym *other = symbol + 1;
    while (!is_function(other))
        other++;
#define WRONG(field, value, text)                                                                            \
    do {                                                                                                     \
        const __typeof__(field) before = field;                                                              \
        field = (__typeof__(field))(value);                                                                  \
        expect(f, text);                                                                                     \
        field = before;                                                                                      \
    } while (0)
    WRONG(text->sh_flags, text->sh_flags | SHF_WRITE, "data that changes");
    WRONG(text->sh_flags, text->sh_flags | SHF_TLS, "has flags");
    WRONG(text->sh_addralign, 3, ""); /* libelf says so itself, of some versions */
    WRONG(text->sh_addralign, 1 << 20, "aligned to");
    WRONG(text->sh_size, (uint64_t)1 << 40, "section .text");
    WRONG(text->sh_size, symbol->st_value + symbol->st_size - 1, "outside");
    WRONG(text->sh_type, SHT_NOBITS, "has type");
    WRONG(rela->r_offset, text->sh_size - 3, "lies outside");
    WRONG(rela->r_offset, UINT64_MAX, "lies outside");
    WRONG(rela->r_info, ELF64_R_INFO(ELF64_R_SYM(rela->r_info), R_X86_64_TPOFF32), "is of type");
    WRONG(rela->r_info, ELF64_R_INFO(UINT32_MAX, R_X86_64_PLT32), "symbol 4294967295");
    WRONG(relocations->sh_type, SHT_REL, "damaged relocations");
    WRONG(relocations->sh_link, 0, "damaged relocations");
    WRONG(symbol->st_name, UINT32_MAX, "outside of its table");
    WRONG(symbol->st_value, UINT64_MAX, "outside of its section");
    WRONG(symbol->st_value, text->sh_size, "outside of its section");
    WRONG(symbol->st_size, UINT64_MAX, "outside of its section");
    WRONG(symbol->st_shndx, SHN_COMMON, "is not loaded");
    WRONG(symbol->st_shndx, 0x7000, "is not loaded");
    WRONG(symbol->st_info, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), "is of type");
    WRONG(symbol->st_name, other->st_name, "two symbols");
    WRONG(f->bytes[strings->sh_offset + strings->sh_size - 1], 'x', "names of symbols");
#undef WRONG
}

/* mprotect() with PROT_EXEC fails, as where SELinux or the like forbids it. */
static bool forbid_execution(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(program) / sizeof(program[0]), program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

static void test_forbidden(const struct file *f)
{
    enum { FORBIDDEN = 1, WRONG, NO_FILTER };
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        char error[JIT_OBJECT_ERROR];
        if (!forbid_execution())
            _exit(NO_FILTER);
        _exit(!load(f, error) && strstr(error, "become executable: Permission denied") ? FORBIDDEN : WRONG);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_FILTER)
        printf("no seccomp here: not tested that mprotect() may be refused\n");
    else
        CHECK_EQ(WEXITSTATUS(status), FORBIDDEN);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct file f = read_file(argv[i]);
        printf("%s\n", argv[i]);
        test_run(&f);
        test_protection(&f);
        test_refusals(&f);
        test_damage(&f);
        test_forbidden(&f);
        free(f.bytes);
    }
    return check_status();
}
