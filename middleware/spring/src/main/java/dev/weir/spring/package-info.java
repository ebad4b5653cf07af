/**
 * Weir in a Spring Boot application: its properties, its beans, and the data that it shows.
 *
 * <p>More than 20 types: each auto-configuration, and the types that it registers, are classes.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.spring;
