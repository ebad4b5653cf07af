@org.jspecify.annotations.NullMarked
package dev.weir.spring;
