package dev.weir.shared;

import dev.weir.Policy;

/**
 * A policy under its name, with its code for the store.
 *
 * @param name under which the store counts
 */
record CodedPolicy(String name, Policy policy, PolicyCode code) {}
