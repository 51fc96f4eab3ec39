/* SPDX-License-Identifier: MIT */
/*
 * Device printf on the host: as C's printf formats it, one conversion at a
 * time.  A message is a control word (bit 0: stderr), the format, and an
 * argument a word; strings are inline, NUL-terminated, padded to whole words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/core/hostcall.h"

/* What nobody prints: more is an error of printf(), as more than INT_MAX is in C. */
enum { PRINTF_MOST = 16 << 20, PRINTF_DIGITS = 7 };

struct printf_reader {
    const uint64_t *word, *end;
};

struct printf_text {
    char *bytes;
    size_t count, room;
    bool failed; /* too long, or no memory */
};

static bool text_reserve(struct printf_text *text, size_t more)
{
    if (text->count + more + 1 <= text->room)
        return true;
    size_t room = (text->count + more + 1) * 2 + 128;
    char *bytes = text->count + more <= PRINTF_MOST ? realloc(text->bytes, room) : NULL;
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->room = room;
    return true;
}

static void text_add(struct printf_text *text, const char *bytes, size_t count)
{
    if (!text_reserve(text, count))
        return;
    memcpy(text->bytes + text->count, bytes, count);
    text->count += count;
}

__attribute__((format(printf, 2, 0))) static void text_format(struct printf_text *text, const char *format,
                                                              ...)
{
    va_list list;

    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0 || !text_reserve(text, (size_t)length))
        return;
    va_start(list, format);
    vsnprintf(text->bytes + text->count, (size_t)length + 1, format, list);
    va_end(list);
    text->count += (size_t)length;
}

static uint64_t reader_word(struct printf_reader *reader)
{
    return reader->word < reader->end ? *reader->word++ : 0;
}

/* A string argument; "" when the message ends before its NUL. */
static const char *reader_string(struct printf_reader *reader)
{
    const char *text = (const char *)reader->word;
    size_t room = (size_t)(reader->end - reader->word) * sizeof(uint64_t);
    const char *nul = room ? memchr(text, 0, room) : NULL;

    if (!nul) {
        reader->word = reader->end;
        return "";
    }
    reader->word += (size_t)(nul - text) / sizeof(uint64_t) + 1;
    return text;
}

/* One conversion: its flags, width and precision with '*' resolved, and the length modifier apart. */
struct printf_spec {
    char text[64]; /* "%-08.3", room for "lld" */
    size_t length;
    char modifier[3];
    char conversion;
};

static void spec_put(struct printf_spec *spec, char c)
{
    if (spec->length < sizeof spec->text - 8)
        spec->text[spec->length++] = c;
}

static const char *spec_parse(const char *at, struct printf_spec *spec, struct printf_reader *reader)
{
    char number[16];

    memset(spec, 0, sizeof *spec);
    spec_put(spec, '%');
    for (; *at && strchr("-+ #0'.*123456789", *at); at++) {
        if (*at != '*') {
            spec_put(spec, *at);
            continue;
        }
        snprintf(number, sizeof number, "%d", (int)reader_word(reader));
        for (const char *digit = number; *digit; digit++)
            spec_put(spec, *digit);
    }
    for (size_t n = 0; *at && strchr("hlLqjzt", *at); at++)
        if (n < 2)
            spec->modifier[n++] = *at;
    spec->conversion = *at;
    return *at ? at + 1 : at;
}

/* Whether a width or a precision has more digits than a message can have characters. */
static bool spec_is_wide(const struct printf_spec *spec)
{
    size_t digits = 0;

    for (size_t i = 0; i < spec->length; i++) {
        bool digit = spec->text[i] >= '0' && spec->text[i] <= '9';
        digits = digit ? digits + 1 : 0;
        if (digits > PRINTF_DIGITS)
            return true;
    }
    return false;
}

static int64_t spec_signed(const struct printf_spec *spec, uint64_t word)
{
    if (!strcmp(spec->modifier, "hh"))
        return (int8_t)word;
    if (!strcmp(spec->modifier, "h"))
        return (int16_t)word;
    return spec->modifier[0] ? (int64_t)word : (int32_t)word;
}

static uint64_t spec_unsigned(const struct printf_spec *spec, uint64_t word)
{
    if (!strcmp(spec->modifier, "hh"))
        return (uint8_t)word;
    if (!strcmp(spec->modifier, "h"))
        return (uint16_t)word;
    return spec->modifier[0] ? word : (uint32_t)word;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void spec_print(struct printf_spec *spec, struct printf_reader *reader, struct printf_text *text)
{
    char *end = spec->text + spec->length;
    double real;
    uint64_t word;

    switch (spec->conversion) {
    case 'd':
    case 'i':
        memcpy(end, "lld", 4);
        text_format(text, spec->text, (long long)spec_signed(spec, reader_word(reader)));
        break;
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        end[0] = end[1] = 'l';
        end[2] = spec->conversion;
        text_format(text, spec->text, (unsigned long long)spec_unsigned(spec, reader_word(reader)));
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        end[0] = spec->conversion;
        word = reader_word(reader);
        memcpy(&real, &word, sizeof real);
        text_format(text, spec->text, real);
        break;
    case 'c':
        end[0] = 'c';
        text_format(text, spec->text, (int)reader_word(reader));
        break;
    case 's':
        end[0] = 's';
        text_format(text, spec->text, reader_string(reader));
        break;
    case 'p':
        end[0] = 'p';
        text_format(text, spec->text, (void *)(uintptr_t)reader_word(reader));
        break;
    case 'n': /* stores through a device pointer in C; here only its argument is skipped */
        reader_word(reader);
        break;
    default: /* what C leaves undefined is printed as it stands */
        text_add(text, spec->text, spec->length);
        if (spec->conversion)
            text_add(text, &spec->conversion, 1);
        break;
    }
}
#pragma GCC diagnostic pop

int hip_printf_message(const uint64_t *words, size_t count, struct hip_device *device)
{
    return count ? hip_printf_print(*words & 1, NULL, words + 1, count - 1, device) : 0;
}

int hip_printf_print(bool to_stderr, const char *format, const uint64_t *words, size_t count,
                     struct hip_device *device)
{
    struct printf_reader reader = {words, words + count};
    struct printf_text text = {0};
    const char *at = format ? format : reader_string(&reader);

    while (*at) {
        const char *percent = strchr(at, '%');
        if (!percent) {
            text_add(&text, at, strlen(at));
            break;
        }
        text_add(&text, at, (size_t)(percent - at));
        if (percent[1] == '%') {
            text_add(&text, "%", 1);
            at = percent + 2;
            continue;
        }
        struct printf_spec spec;
        at = spec_parse(percent + 1, &spec, &reader);
        if (spec_is_wide(&spec)) {
            text.failed = true;
            break;
        }
        spec_print(&spec, &reader, &text);
    }
    if (text.failed)
        text.count = 0;
    if (text.count) {
        text.bytes[text.count] = 0;
        /* The text of HIP's own assert(): the trap that follows is hipErrorAssert. */
        if (strstr(text.bytes, "Device-side assertion"))
            atomic_store(&device->assertion, true);
        if (to_stderr)
            fflush(stdout);
        fwrite(text.bytes, 1, text.count, to_stderr ? stderr : stdout);
    }
    free(text.bytes);
    return text.failed ? -1 : (int)text.count;
}
