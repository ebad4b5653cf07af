/** Tests of the starter in real applications, the same on every Spring Boot. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.test;
