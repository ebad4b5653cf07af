/** The HTTP port: its framing, its paths and what they answer. */
@org.jspecify.annotations.NullMarked
package dev.weir.server.http;
