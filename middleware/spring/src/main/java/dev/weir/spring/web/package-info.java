/**
 * Limits the requests that an application of Spring MVC or Spring WebFlux receives.
 *
 * <p>More than 20 types: servlet and reactive applications each have a filter, refusals and trust
 * of their own.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.web;
