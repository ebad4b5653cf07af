/**
 * Rate limits for the requests of an application of Spring MVC or Spring WebFlux.
 *
 * <p>More than 20 types: servlet and reactive applications each have a filter, refusals and trust.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.web;
