/**
 * The import of other programs' limits: the command {@code weir import}.
 *
 * <p>A reader turns a text into directives, lines or values with their places ({@code NginxReader},
 * {@code HaproxySection}, {@code ConfigProperties}). The limits of each program make rules of them
 * ({@code NginxLimits} and its like), or a remark where a limit limits nothing or cannot be read.
 * {@code ImportedRules} is the text of the rule file, with its comments.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.imports;
