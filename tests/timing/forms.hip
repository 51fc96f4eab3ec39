// SPDX-License-Identifier: MIT
// Memory instructions that compilers seldom emit, with descriptors of all kinds: forms.sh compares what they
// leave in functional mode, whose meaning has oracles, with what they leave in simulated time.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { FORMS = 26, WORDS = 16384, TRIES = 12 };

typedef uint32_t quad __attribute__((ext_vector_type(4)));
typedef uint32_t triple __attribute__((ext_vector_type(3)));

// What a try works on: a descriptor, offsets of lanes, a scalar offset.
struct input {
    quad v;
    uint32_t index[64], offset[64], soffset, m0;
    uint64_t exec;
};

// Leaves a lane's registers in `out`, and what it stores in `memory`.
__global__ void run(const input *inputs, uint32_t *memory, uint32_t *out, unsigned form)
{
    __shared__ uint32_t lds[1024];
    const input &in = inputs[blockIdx.x];
    for (unsigned i = threadIdx.x; i < 1024; i += 64)
        lds[i] = i * 0x1234567;
    __syncthreads();
    quad r = {threadIdx.x * 0x10001, 0x3f80beef, 0x40490fdb, 0xc0001234};
    triple t = {threadIdx.x * 0x30201, 0xbf800001, 0x12345678};
    uint64_t h = threadIdx.x * 0x100000003 + 7;
    uint32_t extra = 0;
    const uint32_t index = in.index[threadIdx.x], offset = in.offset[threadIdx.x];
    const uint64_t place = uint64_t(index) | uint64_t(offset) << 32;
    uint64_t v01 = in.v.x | uint64_t(in.v.y) << 32, v23 = in.v.z | uint64_t(in.v.w) << 32;
    v01 = __builtin_amdgcn_readfirstlane(uint32_t(v01)) |
          uint64_t(__builtin_amdgcn_readfirstlane(uint32_t(v01 >> 32))) << 32;
    v23 = __builtin_amdgcn_readfirstlane(uint32_t(v23)) |
          uint64_t(__builtin_amdgcn_readfirstlane(uint32_t(v23 >> 32))) << 32;
    const uint32_t soffset = __builtin_amdgcn_readfirstlane(in.soffset),
                   m0 = __builtin_amdgcn_readfirstlane(in.m0);
    const uint32_t alone = offset & ~3u; // of an atomic
    uint64_t mask = in.exec;
    mask = __builtin_amdgcn_readfirstlane(uint32_t(mask)) |
           uint64_t(__builtin_amdgcn_readfirstlane(uint32_t(mask >> 32))) << 32;
    // The descriptor in s[40:43], the mask while it runs; registers of the access may change right after it.
#define ACCESS(text)                                                                                         \
    asm volatile(                                                                                            \
        "s_mov_b64 s[40:41], %[a]\n s_mov_b64 s[42:43], %[b]\n s_mov_b32 m0, %[m]\n"                         \
        "s_mov_b64 s[44:45], exec\n s_mov_b64 exec, %[mask]\n" text                                          \
        "\n s_mov_b64 exec, s[44:45]\n s_mov_b32 m0, 0\n s_mov_b64 s[40:41], 0\n s_mov_b64 s[42:43], 0\n"    \
        "s_waitcnt vmcnt(0) lgkmcnt(0)"                                                                      \
        : [r] "+v"(r), [t] "+v"(t), [h] "+v"(h), [x] "+v"(extra)                                             \
        : [a] "s"(v01), [b] "s"(v23), [s] "s"(soffset), [m] "s"(m0), [mask] "s"(mask), [p] "v"(place),       \
          [o] "v"(offset), [q] "v"(alone)                                                                    \
        : "memory", "s40", "s41", "s42", "s43", "s44", "s45", "s46", "s47", "s48", "s49", "s50", "s51")
    switch (form) {
    case 0:
        ACCESS("buffer_load_dwordx4 %[r], %[p], s[40:43], %[s] idxen offen");
        break;
    case 1:
        ACCESS("buffer_store_dwordx4 %[r], %[p], s[40:43], %[s] idxen offen");
        break;
    case 2:
        ACCESS("buffer_load_dwordx3 %[t], %[o], s[40:43], %[s] offen offset:8");
        break;
    case 3:
        ACCESS("buffer_store_dwordx2 %[h], %[o], s[40:43], %[s] offen offset:4");
        break;
    case 4:
        ACCESS("buffer_load_format_xyzw %[r], %[p], s[40:43], %[s] idxen offen");
        break;
    case 5:
        ACCESS("buffer_store_format_xyzw %[r], %[p], s[40:43], %[s] idxen offen");
        break;
    case 6:
        ACCESS("buffer_load_format_d16_xyzw %[h], %[p], s[40:43], %[s] idxen offen");
        break;
    case 7:
        ACCESS("buffer_load_format_d16_hi_x %[x], %[p], s[40:43], %[s] idxen offen");
        break;
    case 8:
        ACCESS("tbuffer_load_format_xyzw %[r], %[p], s[40:43], %[s] format:[BUF_DATA_FORMAT_8_8_8_8,"
               "BUF_NUM_FORMAT_SNORM] idxen offen");
        break;
    case 9:
        ACCESS("tbuffer_load_format_xyz %[t], %[p], s[40:43], %[s] format:[BUF_DATA_FORMAT_16_16_16_16,"
               "BUF_NUM_FORMAT_FLOAT] idxen offen");
        break;
    case 10:
        ACCESS("tbuffer_store_format_xyzw %[r], %[p], s[40:43], %[s] format:[BUF_DATA_FORMAT_32_32,"
               "BUF_NUM_FORMAT_UINT] idxen offen");
        break;
    case 11:
        ACCESS("tbuffer_store_format_d16_xy %[x], %[p], s[40:43], %[s] format:[BUF_DATA_FORMAT_16_16,"
               "BUF_NUM_FORMAT_SINT] idxen offen");
        break;
    case 12:
        ACCESS("buffer_atomic_add %[x], %[q], s[40:43], %[s] offen sc0");
        break;
    case 13:
        ACCESS("buffer_load_dword %[o], s[40:43], %[s] offen lds");
        break;
    case 14:
        ACCESS("buffer_load_sbyte %[o], s[40:43], %[s] offen lds");
        break;
    case 15:
        ACCESS("buffer_load_ubyte_d16_hi %[x], %[o], s[40:43], %[s] offen");
        break;
    case 16:
        ACCESS("s_mov_b32 s46, %[m]\n s_lshr_b32 s47, %[s], 2\n s_lshl_b32 s47, s47, 2\n"
               "s_buffer_load_dwordx4 s[48:51], s[40:43], s47\n s_waitcnt lgkmcnt(0)\n"
               "v_mov_b32 %[x], s51");
        break;
    case 17:
        ACCESS("s_mov_b64 s[46:47], 5\n s_buffer_atomic_add s46, s[40:43], %[s] glc\n"
               "s_waitcnt lgkmcnt(0)\n v_mov_b32 %[x], s46");
        break;
    case 18:
        ACCESS("s_mov_b64 s[46:47], 5\n s_and_b32 s41, s41, 0xffff\n s_and_b32 s48, %[s], 0xff8\n"
               "s_and_b32 s40, s40, 0xfffffff8\n s_atomic_add_x2 s[46:47], s[40:41], s48 glc\n"
               "s_waitcnt lgkmcnt(0)\n v_mov_b32 %[x], s46");
        break;
    case 19:
        ACCESS("s_and_b32 s41, s41, 0xffff\n s_and_b32 s48, %[s], 0x3f\n"
               "s_scratch_load_dwordx2 s[46:47], s[40:41], s48\n s_waitcnt lgkmcnt(0)\n v_mov_b32 %[x], s47");
        break;
    case 20:
        ACCESS("s_and_b32 s41, s41, 0xffff\n s_and_b32 s48, %[s], 0x3f\n s_mov_b32 s46, %[m]\n"
               "s_scratch_store_dword s46, s[40:41], s48\n s_dcache_wb");
        break;
    case 21:
        ACCESS("s_and_b32 s41, s41, 0xffff\n s_atc_probe 3, s[40:41], 0x40\n s_atc_probe_buffer 1, s[40:43], "
               "0x10");
        break;
    case 22:
        ACCESS("s_and_b32 s41, s41, 0xffff\n s_mov_b32 s46, %[m]\n s_and_b32 s48, %[s], 0xfc\n"
               "s_store_dword s46, s[40:41], s48\n s_dcache_wb\n s_waitcnt lgkmcnt(0)\n"
               "s_dcache_discard s[40:41], s48\n s_load_dword s46, s[40:41], s48\n s_waitcnt lgkmcnt(0)\n"
               "v_mov_b32 %[x], s46");
        break;
    case 23:
        ACCESS("v_and_b32 %[x], 0xf, %[o]\n scratch_store_dwordx4 %[x], %[r], off\n"
               "s_waitcnt vmcnt(0)\n scratch_load_dwordx3 %[t], %[x], off offset:1");
        break;
    case 24:
        ACCESS("v_and_b32 %[x], 0xf, %[o]\n scratch_store_short %[x], %[o], off offset:3\n"
               "s_waitcnt vmcnt(0)\n scratch_load_sshort %[x], %[x], off offset:3");
        break;
    case 25:
        ACCESS("buffer_atomic_cmpswap %[h], %[q], s[40:43], %[s] offen sc0");
        break;
    }
#undef ACCESS
    volatile uint32_t stack[16]; // scratch for those that use it
    for (unsigned i = 0; i < 16; i++)
        stack[i] = i;
    __syncthreads();
    uint32_t *mine = out + (blockIdx.x * 64 + threadIdx.x) * 6;
    for (unsigned i = 0; i < 4; i++)
        mine[i] = r[i] + 3 * t[i % 3] + 5 * uint32_t(h >> 32 * (i & 1));
    mine[4] = extra;
    mine[5] = 0;
    for (unsigned i = 0; i < 16; i++)
        mine[5] = mine[5] * 31 + lds[threadIdx.x * 16 + i];
    if (stack[offset & 15] > 99)
        memory[0] = 0;
}

static uint64_t seed = 1;
static uint32_t random32()
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(seed >> 33) ^ uint32_t(seed >> 13);
}

#define OK(call)                                                                                             \
    do {                                                                                                     \
        hipError_t e = (call);                                                                               \
        if (e != hipSuccess) {                                                                               \
            printf("%s: %s\n", #call, hipGetErrorString(e));                                                 \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void fill(input *in, uint32_t *memory, unsigned form)
{
    static const uint8_t formats[][2] = {{4, 10}, {7, 4},  {0, 10}, {7, 12}, {4, 11},
                                         {5, 3},  {7, 14}, {1, 9},  {7, 6}};
    const uint8_t *format = formats[random32() % (sizeof formats / sizeof *formats)];
    const bool swizzle = random32() % 3 == 0 && form != 12 && form != 25;
    const uint32_t stride = random32() % 3 ? 4 * (1 + random32() % 8) : random32() % 40,
                   records = random32() % 400;
    const uint64_t base = uint64_t(uintptr_t(memory)) + 4096 + 4 * (random32() % 8);
    in->v.x = uint32_t(base);
    in->v.y = uint32_t(base >> 32) | stride << 16 | uint32_t(swizzle) << 31;
    in->v.z = records;
    in->v.w = (random32() % 2 ? 0xfac : random32() % 0x1000) | uint32_t(format[0]) << 12 |
              uint32_t(format[1]) << 15 | (random32() % 4) << 21;
    in->soffset = 4 * (random32() % 32);
    in->m0 = 64 * (random32() % 16);
    in->exec = random32() % 2 ? ~0ull : uint64_t(random32()) << 32 | random32();
    for (int l = 0; l < 64; l++) {
        // Apart, so that no two lanes store to the same bytes: which is the last is not said.
        in->index[l] = uint32_t(l) % 16;
        in->offset[l] = form == 1 || form == 3 || form == 5 || form == 10 || form == 11 ? 16 * uint32_t(l)
                                                                                        : random32() % 200;
        if (form == 1 || form == 5 || form == 10 || form == 11)
            in->index[l] = uint32_t(l), in->offset[l] = 0;
    }
}

int main()
{
    input *inputs;
    uint32_t *memory, *out, *host = (uint32_t *)malloc(WORDS * 4),
                            *results = (uint32_t *)malloc(TRIES * 64 * 24);
    OK(hipMalloc(&inputs, TRIES * sizeof(input)));
    OK(hipMalloc(&memory, TRIES * WORDS * 4));
    OK(hipMalloc(&out, TRIES * 64 * 24));
    for (unsigned form = 0; form < FORMS; form++) {
        input *in = (input *)malloc(TRIES * sizeof(input));
        for (unsigned t = 0; t < TRIES; t++) {
            fill(&in[t], memory + t * WORDS, form);
            for (unsigned i = 0; i < WORDS; i++)
                host[i] = random32();
            OK(hipMemcpy(memory + t * WORDS, host, WORDS * 4, hipMemcpyHostToDevice));
        }
        OK(hipMemcpy(inputs, in, TRIES * sizeof(input), hipMemcpyHostToDevice));
        free(in);
        run<<<TRIES, 64>>>(inputs, memory, out, form);
        OK(hipMemcpy(results, out, TRIES * 64 * 24, hipMemcpyDeviceToHost));
        for (unsigned t = 0; t < TRIES; t++) {
            uint64_t sum = 0;
            OK(hipMemcpy(host, memory + t * WORDS, WORDS * 4, hipMemcpyDeviceToHost));
            for (unsigned i = 0; i < WORDS; i++)
                sum = sum * 1099511628211u + host[i];
            for (unsigned i = 0; i < 64 * 6; i++)
                sum = sum * 1099511628211u + results[t * 64 * 6 + i];
            printf("form %u, try %u: %016llx\n", form, t, (unsigned long long)sum);
        }
    }
}
