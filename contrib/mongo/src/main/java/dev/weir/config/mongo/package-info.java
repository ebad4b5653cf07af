/** The configuration store in MongoDB. */
@org.jspecify.annotations.NullMarked
package dev.weir.config.mongo;
