/**
 * Static analysis of all sources by Error Prone and NullAway, beside the build: one compiler reads
 * every module, so that the analyses are loaded and warmed up once.
 */
@NullMarked
package dev.weir.analysis;

import org.jspecify.annotations.NullMarked;
