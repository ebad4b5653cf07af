/** Weir in a Spring Boot application: its properties, its beans, and the data that it shows. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring;
