/**
 * Parts that several commands share: help, values of flags, tables, requests to a server.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.command.CommandGroup}: a command with commands below it
 *   <li>{@link dev.weir.cli.command.FlagValues}: values of flags, with errors that name them
 *   <li>{@link dev.weir.cli.command.ServerClient}: requests to a running server
 *   <li>{@link dev.weir.cli.command.HeadedTable}: rows in columns
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.command;
