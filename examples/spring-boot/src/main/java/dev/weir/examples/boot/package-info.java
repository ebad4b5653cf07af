/** A Spring Boot application with limits. */
@org.jspecify.annotations.NullMarked
package dev.weir.examples.boot;
