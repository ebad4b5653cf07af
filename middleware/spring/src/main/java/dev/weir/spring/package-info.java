/**
 * Weir in a Spring Boot application: its properties, its beans, and what it shows of itself.
 *
 * <p>More than 20 types: each auto-configuration, and what it registers, is a class of its own.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.spring;
