/** Tests of limits on methods, the same on every Spring Boot. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.test.method;
