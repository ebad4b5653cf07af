/**
 * The weir command: {@link dev.weir.cli.Main} and the commands without a group. Each group of
 * commands has a package.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.Main}: the entry point; begin here
 *   <li>{@link dev.weir.cli.ServeCommand}: runs the service; {@link dev.weir.cli.StopHook} drains
 *       it on a signal
 *   <li>{@link dev.weir.cli.Providers}: parts of the command that are loaded on demand
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli;
