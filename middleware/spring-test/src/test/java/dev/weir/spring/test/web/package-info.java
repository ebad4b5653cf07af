/** Tests of requests that are limited by filters, in real applications with real ports. */
@org.jspecify.annotations.NullMarked
package dev.weir.spring.test.web;
