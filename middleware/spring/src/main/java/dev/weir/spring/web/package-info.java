/** Rate limits for the requests of an application of Spring MVC or Spring WebFlux. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.web;
