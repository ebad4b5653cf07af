package dev.weir.cli.limits;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Records that are lines of JSON already; blank lines are skipped. */
final class JsonLines implements ImportLines {
  private final LineInput in;

  JsonLines(InputStream in) {
    this.in = new LineInput(in);
  }

  @Override
  public @Nullable Line next() throws IOException {
    for (String line = in.next(); line != null; line = in.next()) {
      if (!line.isEmpty() && line.charAt(0) == LineInput.UNREADABLE) {
        return new Line(in.line(), "", line.substring(1));
      }
      if (!line.isBlank()) {
        return new Line(in.line(), line.strip(), "");
      }
    }
    return null;
  }

  @Override
  public long bytes() {
    return in.bytes();
  }
}
