package dev.weir.rules.internal.parse;

import java.util.List;

/** A value in a YAML file, with its position. An alias is the very node that it stands for. */
public sealed interface YamlNode {
  /** Returns the line, counted from 1. */
  int line();

  /** Returns the column, counted from 1. */
  int column();

  /** Returns the number of nodes in it, itself included, aliases written out. */
  int size();

  /** Returns the number of levels in it, itself included. */
  int height();

  /** Returns the name of its kind for people. */
  String kind();

  /**
   * A scalar.
   *
   * @param plain true if it is written without quotes, so that it may be a number or null
   */
  record Text(int line, int column, String text, boolean plain) implements YamlNode {
    boolean isNull() {
      return plain
          && (text.isEmpty()
              || text.equals("~")
              || text.equals("null")
              || text.equals("Null")
              || text.equals("NULL"));
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public int height() {
      return 1;
    }

    @Override
    public String kind() {
      return isNull() ? "nothing" : plain ? Words.shown(text) : Words.quoted(text);
    }
  }

  /** A list. */
  record Sequence(int line, int column, List<YamlNode> items, int size, int height)
      implements YamlNode {
    @Override
    public String kind() {
      return "a list";
    }
  }

  /** A map, its keys unique and in the order of the file. */
  record Mapping(int line, int column, List<Field> fields, int size, int height)
      implements YamlNode {
    @Override
    public String kind() {
      return "a map";
    }
  }

  /** A key and its value in a map. */
  record Field(Text key, YamlNode value) {}
}
