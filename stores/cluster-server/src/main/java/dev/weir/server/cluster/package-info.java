/**
 * A server as the member of a cluster, or connected to one: what joins {@code weir-server} and
 * {@code weir-cluster}. {@link java.util.ServiceLoader} finds {@link
 * dev.weir.server.cluster.RatisProvider}; a server that counts by itself does without this module
 * and without Apache Ratis.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.cluster;
