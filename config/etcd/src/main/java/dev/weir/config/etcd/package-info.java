/** The configuration store in etcd. */
@org.jspecify.annotations.NullMarked
package dev.weir.config.etcd;
