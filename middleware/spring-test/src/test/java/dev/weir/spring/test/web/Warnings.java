package dev.weir.spring.test.web;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** The warnings that a logger has written, from now until it is closed. */
final class Warnings implements AutoCloseable {
  private final List<String> texts = new CopyOnWriteArrayList<>();

  /** The logger, which would lose its handler if nothing referred to it. */
  private final Logger logger;

  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          if (record.getLevel().equals(Level.WARNING)) {
            texts.add(new SimpleFormatter().formatMessage(record));
          }
        }

        @Override
        public void flush() {
          // Nothing is kept back.
        }

        @Override
        public void close() {
          // There is nothing to close.
        }
      };

  Warnings(String name) {
    logger = Logger.getLogger(name);
    logger.addHandler(handler);
  }

  List<String> texts() {
    return List.copyOf(texts);
  }

  @Override
  public void close() {
    logger.removeHandler(handler);
  }
}
