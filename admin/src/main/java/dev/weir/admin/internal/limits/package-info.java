/**
 * Resources of subjects' limits: reading, writing, import, export and resets.
 *
 * <ul>
 *   <li>{@link dev.weir.admin.internal.limits.LimitsResource}: the limits of one subject; begin
 *       here
 *   <li>{@link dev.weir.admin.internal.limits.LimitImport}: many limits in one request
 *   <li>{@link dev.weir.admin.internal.limits.RecordJson}: a record as JSON
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.admin.internal.limits;
