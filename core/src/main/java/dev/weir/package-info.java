/** Rate limits that hold: quotas, policies, decisions and the limiters that make them. */
@org.jspecify.annotations.NullMarked
package dev.weir;
