package dev.weir.cli.imports;

import java.util.List;
import java.util.stream.Stream;

/**
 * A directive of nginx, with those of its block.
 *
 * @param words its name and arguments
 * @param block the directives in its braces; empty if it has none
 */
record NginxDirective(List<String> words, List<NginxDirective> block, SourcePlace place) {
  String name() {
    return words.get(0);
  }

  List<String> arguments() {
    return words.subList(1, words.size());
  }

  /** Returns the value of the argument {@code NAME=value}; the default if there is none. */
  String argument(String name, String otherwise) {
    return arguments().stream()
        .filter(each -> each.startsWith(name + "="))
        .map(each -> each.substring(name.length() + 1))
        .findFirst()
        .orElse(otherwise);
  }

  Stream<NginxDirective> each(String name) {
    return block.stream().filter(directive -> directive.name().equals(name));
  }

  boolean has(String name) {
    return each(name).findAny().isPresent();
  }

  @Override
  public String toString() {
    return String.join(" ", words);
  }
}
