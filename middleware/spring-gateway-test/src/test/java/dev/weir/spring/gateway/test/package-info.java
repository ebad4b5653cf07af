/** Tests of limits in real gateways, the same on every Spring Cloud Gateway. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.gateway.test;
