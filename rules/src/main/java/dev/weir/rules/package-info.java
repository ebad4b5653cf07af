/** Rule files to an immutable rule set: parse, validate, match, explain, diff. */
@org.jspecify.annotations.NullMarked
package dev.weir.rules;
