/**
 * Reports as HTML, text and JSON.
 *
 * <ul>
 *   <li>{@link dev.weir.replay.internal.pages.ReportPage}: the report of a replay; begin here
 *   <li>{@link dev.weir.replay.internal.pages.Page}: the frame of all pages
 *   <li>{@link dev.weir.replay.internal.pages.PageChart}: a chart as SVG
 *   <li>{@link dev.weir.replay.internal.pages.SummaryJson}: a summary as JSON
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.replay.internal.pages;
