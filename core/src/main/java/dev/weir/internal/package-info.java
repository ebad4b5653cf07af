/**
 * Small parts that many modules of Weir share. They are no API, though every module below {@code
 * dev.weir} may use them.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.internal;
