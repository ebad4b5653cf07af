package dev.weir.rules;

/**
 * Where something stands in a rule file.
 *
 * @param line counted from 1
 * @param column counted from 1
 */
public record Position(String file, int line, int column) {
  @Override
  public String toString() {
    return file + ":" + line + ":" + column;
  }
}
