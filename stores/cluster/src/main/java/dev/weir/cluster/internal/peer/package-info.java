/**
 * Frames between processes over TCP and TLS, and the identities of both ends. No type here
 * interprets a frame's content.
 *
 * <ul>
 *   <li>{@link dev.weir.cluster.internal.peer.PeerTransport}: connections of one process to all
 *       others; begin here
 *   <li>{@link dev.weir.cluster.internal.peer.PeerLink}: the calling end of a connection; {@link
 *       dev.weir.cluster.internal.peer.PeerDoor} is the answering one
 *   <li>{@link dev.weir.cluster.internal.peer.PeerFrame}: the bytes of a frame; {@link
 *       dev.weir.cluster.internal.peer.ByteReader} and {@link
 *       dev.weir.cluster.internal.peer.ByteWriter} fill it
 *   <li>{@link dev.weir.cluster.internal.peer.Levels}: the versions of the formats that a member
 *       understands
 *   <li>{@link dev.weir.cluster.internal.peer.Identity}: the name and incarnation of a folder
 * </ul>
 *
 * <p>More than 20 types: each end of a connection, and each of its states, is a type.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cluster.internal.peer;
