package dev.weir.cli.command;

import dev.weir.cli.Main;
import dev.weir.internal.IoCauses;
import dev.weir.rules.ValueErrors;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/**
 * The standard output of the process, with the first failure to write to it. A {@link PrintWriter}
 * alone only shows that something was lost, and not whether the reader of a pipe has ended, which
 * is no failure.
 */
public final class StandardOutput extends OutputStream {
  /** The system's word for a pipe whose reader has ended, in the way of {@code head}. */
  private static final String NO_READER = "Broken pipe";

  private final OutputStream to;
  private volatile @Nullable IOException failure;

  public StandardOutput(OutputStream to) {
    this.to = to;
  }

  /** Returns the stream of the process. It is not to be closed: it belongs to the process. */
  public static StandardOutput ofProcess() {
    return new StandardOutput(new FileOutputStream(FileDescriptor.out));
  }

  /** Returns a writer to this stream in the encoding of the terminal. */
  public PrintWriter writer() {
    String encoding = System.getProperty("sun.stdout.encoding");
    Charset charset = encoding == null ? Charset.defaultCharset() : Charset.forName(encoding);
    return new PrintWriter(new OutputStreamWriter(this, charset), true);
  }

  @Override
  public void write(int each) throws IOException {
    write(new byte[] {(byte) each}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    try {
      to.write(bytes, from, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  @Override
  public void flush() throws IOException {
    to.flush();
  }

  /**
   * Returns the exit status of a command that has written to this stream: {@code status}, unless
   * some of its output is lost. That is shown as an error.
   */
  public int ended(PrintWriter err, int status) {
    IOException lost = failure;
    if (lost == null || isWithoutReader(lost)) {
      return status;
    }
    err.println("weir: " + lost(lost).getMessage());
    err.flush();
    return Main.FAILED;
  }

  /** Returns whether the output is a pipe whose reader has ended: it has read all it wanted. */
  public static boolean isWithoutReader(IOException failure) {
    return NO_READER.equals(failure.getMessage());
  }

  /** Returns the failure of a command that cannot write its output. */
  public static CommandFailure lost(IOException failure) {
    return new CommandFailure(
        ValueErrors.line(
            "output",
            "could not be written: " + IoCauses.of(failure),
            "a standard output with room for all of it"),
        failure);
  }
}
