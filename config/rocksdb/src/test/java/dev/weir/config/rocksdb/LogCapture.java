package dev.weir.config.rocksdb;

import java.text.MessageFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** The records logged under a name, as text. */
final class LogCapture extends Handler implements AutoCloseable {
  private final Logger logger;
  private final List<String> messages = new CopyOnWriteArrayList<>();

  private LogCapture(Logger logger) {
    this.logger = logger;
  }

  static LogCapture of(String name) {
    LogCapture capture = new LogCapture(Logger.getLogger(name));
    capture.logger.addHandler(capture);
    return capture;
  }

  List<String> messages() {
    return messages;
  }

  @Override
  public void publish(LogRecord record) {
    messages.add(
        new MessageFormat(record.getMessage(), Locale.ROOT).format(record.getParameters()));
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
  }
}
