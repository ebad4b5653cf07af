package dev.weir.shared;

/** How a transport writes a policy and its keys; made by {@link Link#code}. Immutable. */
public interface PolicyCode {}
