/* SPDX-License-Identifier: MIT
 * An attribute of strings comes as one string or as an array of them, each of fixed length (padded with NULs or
 * spaces) or of variable length (a pointer into a heap of the file). A list of no names is often an array of zero
 * float64, since that is what NumPy makes of an empty list. */
#include "read/hdf5/attributes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct strings {
    size_t count, size; /* size: of one element in memory */
    bool variable;
    bool text; /* false: not strings */
    hid_t type, space;
    H5T_str_t padding;
    unsigned char *data;
};

static void strings_free(struct strings *strings)
{
    if (strings->data && strings->variable) H5Dvlen_reclaim(strings->type, strings->space, H5P_DEFAULT, strings->data);
    free(strings->data);
    if (strings->type > 0) H5Tclose(strings->type);
    if (strings->space > 0) H5Sclose(strings->space);
}

/* The type to read into: the file's own for fixed strings, C pointers of the same character set for variable ones. */
static hid_t memory_type(hid_t file_type, bool variable)
{
    if (!variable) return H5Tcopy(file_type);
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5Tget_cset(file_type)) < 0) return -1;
    return type;
}

/* Type, element count and size, before anything is read. */
static bool describe_attribute(hid_t attribute, struct strings *strings)
{
    const hid_t file_type = H5Aget_type(attribute);
    strings->space = H5Aget_space(attribute);
    if (file_type < 0 || strings->space < 0) return false;
    const hssize_t count = H5Sget_simple_extent_npoints(strings->space);
    const htri_t variable = H5Tis_variable_str(file_type);
    strings->text = H5Tget_class(file_type) == H5T_STRING;
    strings->count = count > 0 && H5Sget_simple_extent_type(strings->space) != H5S_NULL ? (size_t)count : 0;
    strings->variable = variable > 0;
    strings->type = strings->text ? memory_type(file_type, strings->variable) : 0;
    strings->size = strings->text ? H5Tget_size(strings->type) : 0;
    strings->padding = strings->text ? H5Tget_strpad(file_type) : H5T_STR_NULLTERM;
    H5Tclose(file_type);
    return strings->type >= 0;
}

static bool too_long(const struct strings *strings)
{
    return strings->count > (strings->variable ? SP_H5_MAX_VLEN_STRINGS : SP_H5_MAX_STRINGS) ||
           (strings->size && strings->count > SP_H5_MAX_ATTRIBUTE / strings->size);
}

static bool fill_strings(hid_t attribute, struct strings *strings)
{
    if (!strings->count || !strings->text || too_long(strings)) return true;
    strings->data = calloc(strings->count, strings->size);
    return strings->data && H5Aread(attribute, strings->type, strings->data) >= 0;
}

/* A failure ends the walk and the process. Nothing is closed then: it would clear HDF5's record of the reason. */
static bool load_attribute(hid_t object, const char *name, struct strings *strings)
{
    *strings = (struct strings){0};
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return false;
    if (!describe_attribute(attribute, strings) || !fill_strings(attribute, strings)) return false;
    return H5Aclose(attribute) >= 0;
}

static const char *string_at(const struct strings *strings, size_t index, size_t *length)
{
    const unsigned char *element = strings->data + index * strings->size;
    if (strings->variable) {
        const char *text;
        memcpy(&text, element, sizeof text);
        *length = text ? strlen(text) : 0;
        return text ? text : "";
    }
    const unsigned char *end = memchr(element, '\0', strings->size);
    *length = end ? (size_t)(end - element) : strings->size;
    while (strings->padding == H5T_STR_SPACEPAD && *length && element[*length - 1] == ' ') --*length;
    return (const char *)element;
}

static void note_size(struct sp_wire *wire, const char *path, const char *name, uint64_t size, const char *unit)
{
    char text[128];
    snprintf(text, sizeof text, "'%s' (%" PRIu64 " %s)", name, size, unit);
    sp_wire_put_note(wire, SP_NOTE_TOO_LONG, path, text);
}

/* True when there is something to send; otherwise the note that says why not has been sent. */
static bool usable(struct sp_wire *wire, const struct strings *strings, const char *path, const char *name)
{
    if (!strings->count) return false;
    if (!strings->text) sp_wire_put_note(wire, SP_NOTE_NOT_TEXT, path, name);
    else if (too_long(strings)) note_size(wire, path, name, strings->count, "strings");
    return strings->data != NULL;
}

static bool exists(hid_t object, const char *name, bool *present)
{
    const htri_t found = H5Aexists(object, name);
    *present = found > 0;
    return found >= 0;
}

bool sp_h5_send_text(struct sp_wire *wire, hid_t object, const char *path, const char *name)
{
    bool present;
    struct strings strings;
    if (!exists(object, name, &present)) return false;
    if (!present) return true;
    if (!load_attribute(object, name, &strings)) return false;
    if (usable(wire, &strings, path, name)) {
        size_t length;
        const char *text = string_at(&strings, 0, &length);
        if (strings.count > 1) sp_wire_put_note(wire, SP_NOTE_NOT_TEXT, path, name);
        else if (length > SP_H5_MAX_JSON) note_size(wire, path, name, length, "bytes");
        else sp_wire_put_attribute(wire, path, name, text, length);
    }
    strings_free(&strings);
    return true;
}

/* The names of one attribute, as their own record: the parent joins those of layer_names0, layer_names1, ... */
static bool send_part(struct sp_wire *wire, hid_t object, const char *path, const char *name, const char *part)
{
    struct strings strings;
    if (!load_attribute(object, part, &strings)) return false;
    const bool send = usable(wire, &strings, path, part);
    sp_wire_put_names(wire, path, name, send ? (uint32_t)strings.count : 0);
    for (size_t i = 0; send && i < strings.count; i++) {
        size_t length;
        const char *text = string_at(&strings, i, &length);
        sp_wire_put_string(wire, text, length);
    }
    strings_free(&strings);
    return true;
}

bool sp_h5_send_names(struct sp_wire *wire, hid_t object, const char *path, const char *name)
{
    enum { MAX_PARTS = 10000 };
    char part[64];
    bool whole, present = true;
    if (!exists(object, name, &whole)) return false;
    if (whole && !send_part(wire, object, path, name, name)) return false;
    for (int i = 0; i < MAX_PARTS; i++) {
        snprintf(part, sizeof part, "%s%d", name, i);
        if (!exists(object, part, &present)) return false;
        if (present && whole) sp_wire_put_note(wire, SP_NOTE_BOTH_FORMS, path, name);
        if (!present || whole) return true;
        if (!send_part(wire, object, path, name, part)) return false;
    }
    return true;
}

static void put_integer(struct sp_wire *wire, const char *path, const char *name, long long value)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%lld", value);
    sp_wire_put_attribute(wire, path, name, text, (size_t)length);
}

bool sp_h5_send_integer(struct sp_wire *wire, hid_t object, const char *path, const char *name)
{
    bool present;
    if (!exists(object, name, &present)) return false;
    if (!present) return true;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute),
                space = H5Aget_space(attribute);
    long long value;
    if (attribute < 0 || type < 0 || space < 0) return false;
    if (H5Tget_class(type) != H5T_INTEGER || H5Sget_simple_extent_npoints(space) != 1)
        sp_wire_put_note(wire, SP_NOTE_NOT_TEXT, path, name);
    else if (H5Aread(attribute, H5T_NATIVE_LLONG, &value) < 0) return false;
    else put_integer(wire, path, name, value);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return true;
}

bool sp_h5_short_text(hid_t object, const char *name, char *buffer, size_t size)
{
    bool present;
    struct strings strings;
    size_t length = 0;
    buffer[0] = '\0';
    if (!exists(object, name, &present)) return false;
    if (!present) return true;
    if (!load_attribute(object, name, &strings)) return false;
    const char *text = strings.data && strings.count == 1 ? string_at(&strings, 0, &length) : "";
    if (length >= size) length = 0;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    strings_free(&strings);
    return true;
}
