/** Rules plus stores: one request with several descriptors to one answer. */
@org.jspecify.annotations.NullMarked
package dev.weir.engine;
