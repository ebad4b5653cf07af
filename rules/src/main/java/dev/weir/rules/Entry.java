package dev.weir.rules;

/** One (key, value) pair of a descriptor. */
public record Entry(String key, String value) {}
