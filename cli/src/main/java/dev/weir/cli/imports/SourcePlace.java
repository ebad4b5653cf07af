package dev.weir.cli.imports;

/**
 * The place of something in a configuration that is imported.
 *
 * @param file the name of its file, as it was given or included
 * @param line the number of its line, from 1 on
 */
record SourcePlace(String file, int line) {
  @Override
  public String toString() {
    return file + ":" + line;
  }
}
