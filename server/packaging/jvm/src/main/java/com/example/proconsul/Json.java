package com.example.proconsul;

import java.lang.reflect.Array;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** JSON as maps, lists, texts, numbers and booleans, so that the helper brings no library into anybody's tests. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length()) throw json.wrong();
        return value;
    }

    static String write(Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
        if (value instanceof Duration) return quoted(duration((Duration) value));
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream()
                .map(entry -> quoted(String.valueOf(entry.getKey())) + ":" + write(entry.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof Iterable) {
            List<String> items = new ArrayList<>();
            for (Object item : (Iterable<?>) value) items.add(write(item));
            return "[" + String.join(",", items) + "]";
        }
        if (value.getClass().isArray()) {
            Object[] items = new Object[Array.getLength(value)];
            Arrays.setAll(items, index -> Array.get(value, index));
            return write(Arrays.asList(items));
        }
        return quoted(String.valueOf(value));
    }

    /** A duration in Go's form. */
    static String duration(Duration duration) {
        return duration.toSeconds() + "s" + duration.toNanosPart() + "ns";
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') quoted.append('\\').append(letter);
            else if (letter < ' ') quoted.append(String.format("\\u%04x", (int) letter));
            else quoted.append(letter);
        }
        return quoted.append('"').toString();
    }

    private Object value() {
        space();
        if (at == text.length()) throw wrong();
        switch (text.charAt(at)) {
            case '{': return object();
            case '[': return list();
            case '"': return string();
            case 't': return word("true", Boolean.TRUE);
            case 'f': return word("false", Boolean.FALSE);
            case 'n': return word("null", null);
            default: return number();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> fields = new LinkedHashMap<>();
        at++;
        space();
        if (take('}')) return fields;
        do {
            space();
            String name = string();
            space();
            if (!take(':')) throw wrong();
            fields.put(name, value());
            space();
        } while (take(','));
        if (!take('}')) throw wrong();
        return fields;
    }

    private List<Object> list() {
        List<Object> items = new ArrayList<>();
        at++;
        space();
        if (take(']')) return items;
        do {
            items.add(value());
            space();
        } while (take(','));
        if (!take(']')) throw wrong();
        return items;
    }

    private String string() {
        if (!take('"')) throw wrong();
        StringBuilder made = new StringBuilder();
        while (true) {
            if (at >= text.length()) throw wrong();
            char letter = text.charAt(at++);
            if (letter == '"') return made.toString();
            if (letter != '\\') {
                made.append(letter);
                continue;
            }
            if (at >= text.length()) throw wrong();
            char escape = text.charAt(at++);
            int known = "bfnrt".indexOf(escape);
            if (known >= 0) {
                made.append("\b\f\n\r\t".charAt(known));
            } else if (escape == 'u' && at + 4 <= text.length()) {
                made.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                at += 4;
            } else {
                made.append(escape);
            }
        }
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) at++;
        String digits = text.substring(start, at);
        try {
            // Seeds and indexes are whole, and may be larger than a long.
            if (digits.matches("-?[0-9]+")) return digits.length() < 19 ? (Object) Long.valueOf(digits) : new java.math.BigInteger(digits);
            return Double.valueOf(digits);
        } catch (NumberFormatException error) {
            throw wrong();
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) throw wrong();
        at += word.length();
        return value;
    }

    private boolean take(char letter) {
        if (at >= text.length() || text.charAt(at) != letter) return false;
        at++;
        return true;
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at + ": " + text);
    }
}
