/**
 * A server as the member of a cluster, or connected to one: the link between {@code weir-server}
 * and {@code weir-cluster}. {@link java.util.ServiceLoader} finds {@link
 * dev.weir.server.cluster.RatisProvider}; a server that counts by itself needs neither this module
 * nor Apache Ratis.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.cluster;
