package dev.weir.servlet;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/** A response that reports to a settlement when its head may have been sent. */
final class WatchedResponse extends HttpServletResponseWrapper {
  private final Settlement settlement;
  private @Nullable ServletOutputStream stream;
  private @Nullable PrintWriter writer;

  WatchedResponse(HttpServletResponse response, Settlement settlement) {
    super(response);
    this.settlement = settlement;
  }

  @Override
  public void flushBuffer() throws IOException {
    super.flushBuffer();
    settlement.sent();
  }

  @Override
  public ServletOutputStream getOutputStream() throws IOException {
    ServletOutputStream known = stream;
    if (known == null) {
      known = new Stream(super.getOutputStream(), settlement);
      stream = known;
    }
    return known;
  }

  @Override
  public PrintWriter getWriter() throws IOException {
    PrintWriter known = writer;
    if (known == null) {
      known = new Writer(super.getWriter(), settlement);
      writer = known;
    }
    return known;
  }

  /** Clears the response; afterwards the stream and the writer may be other ones. */
  @Override
  public void reset() {
    super.reset();
    stream = null;
    writer = null;
  }

  private static final class Stream extends ServletOutputStream {
    private final ServletOutputStream to;
    private final Settlement settlement;

    Stream(ServletOutputStream to, Settlement settlement) {
      this.to = to;
      this.settlement = settlement;
    }

    @Override
    public void write(int b) throws IOException {
      to.write(b);
      settlement.sent();
    }

    @Override
    public void print(String text) throws IOException {
      to.print(text); // The container may encode it by the response's own charset.
      settlement.sent();
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      to.write(bytes, offset, length);
      settlement.sent();
    }

    @Override
    public void flush() throws IOException {
      to.flush();
      settlement.sent();
    }

    @Override
    public void close() throws IOException {
      to.close();
      settlement.sent();
    }

    @Override
    public boolean isReady() {
      return to.isReady();
    }

    @Override
    public void setWriteListener(WriteListener listener) {
      to.setWriteListener(listener);
    }
  }

  private static final class Writer extends PrintWriter {
    private final Settlement settlement;

    Writer(PrintWriter to, Settlement settlement) {
      super(to);
      this.settlement = settlement;
    }

    @Override
    public void write(int character) {
      super.write(character);
      settlement.sent();
    }

    @Override
    public void write(char[] characters, int offset, int length) {
      super.write(characters, offset, length);
      settlement.sent();
    }

    @Override
    public void write(String text, int offset, int length) {
      super.write(text, offset, length);
      settlement.sent();
    }

    @Override
    public void flush() {
      super.flush();
      settlement.sent();
    }

    @Override
    public void close() {
      super.close();
      settlement.sent();
    }
  }
}
