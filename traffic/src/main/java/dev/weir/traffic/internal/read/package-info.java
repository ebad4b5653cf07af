/**
 * Readers of logs: a line of any format becomes a record with named columns.
 *
 * <ul>
 *   <li>{@link dev.weir.traffic.internal.read.Readers}: the reader of each format; begin here
 *   <li>{@link dev.weir.traffic.internal.read.LineLogs} and {@link
 *       dev.weir.traffic.internal.read.JsonLogs}: the formats that data describes
 *   <li>{@link dev.weir.traffic.internal.read.OpenedInput}: an input with its format, and its
 *       records with their times
 *   <li>{@link dev.weir.traffic.internal.read.RecordReader}: the interface of a reader
 *   <li>{@link dev.weir.traffic.internal.read.Detection}: the format of a log by its first lines
 *   <li>{@link dev.weir.traffic.internal.read.RecordSorter}: records in order of time
 * </ul>
 *
 * <p>More than 20 types: the readers stand beside the parts that they share, which are lines,
 * addresses and detection; times are in {@code internal.values}. Few formats have a reader of their
 * own. Most are a layout with views, or the signs and views of JSON.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic.internal.read;
