/* SPDX-License-Identifier: MIT
 * stable-baselines3 saves the settings of an agent in the member `data`, a JSON object. What JSON does not have is
 * pickled:
 *
 *     {"gamma": 0.99, "policy_class": {":type:": "<class 'abc.ABCMeta'>", ":serialized:": "gAWVOw..."}}
 *
 * Loading the agent unpickles each ":serialized:", which is in base64. */
#include "read/agent.h"

#include <string.h>

#include "base/json_scan.h"
#include "base/names.h"
#include "read/torch/judge.h"

enum { MAX_AGENT_DATA = 64 << 20 };

/* The value of a digit of base64; 64 for any other character. */
static unsigned digit_of(char digit)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (unsigned)(at - digits) : 64;
}

/* Decodes base64 in place, as Python does: other characters are passed over, and padding behind two or three digits
 * of four ends the text. Returns the number of bytes. */
static size_t decode_base64(char *text)
{
    size_t length = 0;
    unsigned bits = 0, have = 0, pads = 0; /* the digits of the last four that were seen */
    for (const char *at = text; *at; at++) {
        if (*at == '=' && have >= 2 && have + ++pads >= 4) break;
        const unsigned digit = digit_of(*at);
        if (digit == 64) continue;
        pads = 0;
        bits = (bits << 6 | digit) & 0xfff;
        if (have) text[length++] = (char)(bits >> (6 - 2 * have) & 0xff);
        have = (have + 1) % 4;
    }
    return length;
}

/* Judges the value of a key, if it is a pickled object. */
static void judge_setting(struct sp_json *json, const char *key, struct shapeproof_inventory *inventory)
{
    const char *member, *what = sp_arena_printf(&inventory->arena, "'data': %s", sp_quote(key).text);
    if (sp_json_peek(json) != '{') {
        sp_json_skip(json, &(size_t){0});
        return;
    }
    sp_json_open(json, '{');
    for (bool first = true; (member = sp_json_member(json, &first));) {
        const bool is_pickled = strcmp(member, ":serialized:") == 0 && sp_json_peek(json) == '"';
        char *text = is_pickled ? sp_json_string(json) : NULL;
        if (text) sp_torch_judge_bytes(text, decode_base64(text), what, inventory);
        else if (!is_pickled) sp_json_skip(json, &(size_t){0});
    }
}

void sp_agent_judge(struct sp_zip *zip, size_t record, struct shapeproof_inventory *inventory)
{
    struct shapeproof_error why = {0};
    struct sp_json json = {.what = "data", .error = &why};
    char *text = sp_zip_read(zip, record, MAX_AGENT_DATA, &json.length, &why);
    const char *key;
    json.text = text;
    bool ok = text && sp_json_check(&json) && sp_json_open(&json, '{');
    for (bool first = true; ok && (key = sp_json_member(&json, &first));) judge_setting(&json, key, inventory);
    ok = ok && sp_json_end(&json);
    sp_free(text);
    if (!ok)
        sp_inventory_warn(inventory, "'data' is not read, so that it is not known what unpickling it would run: %s",
                          why.message);
}
