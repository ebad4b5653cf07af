/** Weir in a Spring Boot application: its properties, its beans, and what it shows of itself. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring;
