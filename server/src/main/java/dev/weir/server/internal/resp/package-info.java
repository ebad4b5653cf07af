/**
 * The port for Redis clients: RESP2 and RESP3, the commands, {@code CL.THROTTLE} and {@code
 * WEIR.CHECK}.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.resp.RespDoor}: the port; begin here
 *   <li>{@link dev.weir.server.internal.resp.RespCommands}: the commands
 *   <li>{@link dev.weir.server.internal.resp.RespParser}: commands from bytes
 *   <li>{@link dev.weir.server.internal.resp.CheckCalls}: decisions in the order of their commands
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.resp;
