package dev.weir.rules;

/**
 * A position in a rule file.
 *
 * @param line counted from 1; 0 means the file as a whole
 * @param column counted from 1, in characters; 0 means the file as a whole
 */
public record Position(String file, int line, int column) {

  /** Returns the position that means a file as a whole. */
  public static Position ofFile(String file) {
    return new Position(file, 0, 0);
  }

  /** Returns {@code file:line:column}, or only the file if the file as a whole is meant. */
  @Override
  public String toString() {
    return line == 0 ? file : file + ":" + line + ":" + column;
  }
}
