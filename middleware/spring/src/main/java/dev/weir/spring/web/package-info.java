/** Limits the requests that an application of Spring MVC or Spring WebFlux receives. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.web;
