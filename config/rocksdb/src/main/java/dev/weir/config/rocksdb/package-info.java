/** The configuration store in a folder of the server's own, by RocksDB. */
@org.jspecify.annotations.NullMarked
package dev.weir.config.rocksdb;
