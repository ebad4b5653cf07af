package dev.weir.shared;

/** The encoding of a policy and its keys for a transport; made by {@link Link#code}. Immutable. */
public interface PolicyCode {}
