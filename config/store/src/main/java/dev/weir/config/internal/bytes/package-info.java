/**
 * Formats: records and entries as bytes, digests, files that are replaced whole.
 *
 * <ul>
 *   <li>{@link dev.weir.config.internal.bytes.RecordCodec}: a record as bytes; begin here
 *   <li>{@link dev.weir.config.internal.bytes.SafeFile}: a file that is whole after a crash
 *   <li>{@link dev.weir.config.internal.bytes.Check}: ranges of values, with errors that name them
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.config.internal.bytes;
