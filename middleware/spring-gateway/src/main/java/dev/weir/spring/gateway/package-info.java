/** Rate limits in the routes of Spring Cloud Gateway. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.gateway;
