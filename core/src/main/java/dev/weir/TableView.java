package dev.weir;

import org.jspecify.annotations.Nullable;

/** The tables that counted for a name when a {@link MemoryBinding} last read them. Immutable. */
final class TableView {
  static final TableView NONE = new TableView(new ShapeTable[0], null);

  final ShapeTable[] tables;

  /** The only table, if it is of the binding's shape; null sends requests to the slow path. */
  final @Nullable Table only;

  private TableView(ShapeTable[] tables, @Nullable Table only) {
    this.tables = tables;
    this.only = only;
  }

  static TableView of(ShapeTable[] tables, Shape shape) {
    boolean only = tables.length == 1 && tables[0].table().serves(shape);
    return new TableView(tables, only ? tables[0].table() : null);
  }
}
