/** The import of other limiters' configurations: {@code weir import}. */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.imports;
