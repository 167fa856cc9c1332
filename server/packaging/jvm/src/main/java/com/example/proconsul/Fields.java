package com.example.proconsul;

import java.util.AbstractMap;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A structure of the control plane, with a method for each field. It is a map of what JSON has, too. */
abstract class Fields extends AbstractMap<String, Object> {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    Fields() {}

    Fields(Object json) {
        fields.putAll(map(json));
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object json) {
        return (Map<String, Object>) json;
    }

    static <T> List<T> list(Object json, Function<Object, T> made) {
        return ((List<?>) json).stream().map(made).collect(Collectors.toList());
    }

    /** Sets a field; one that is null is left out. */
    void set(String name, Object value) {
        if (value != null) fields.put(name, value);
    }

    /** Returns a field as its type, or null where there is none. */
    <T> T field(String name, Function<Object, T> made) {
        Object value = fields.get(name);
        return value == null ? null : made.apply(value);
    }

    static Long whole(Object json) {
        return ((Number) json).longValue();
    }

    static Double real(Object json) {
        return ((Number) json).doubleValue();
    }

    @Override
    public Set<Entry<String, Object>> entrySet() {
        return Collections.unmodifiableSet(fields.entrySet());
    }
}
