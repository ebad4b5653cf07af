package dev.weir.identity;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bounds on the work that a header can cause: counted in lines and bytes, not in time. */
class WorkTest {
  private static final int HEADER = 1 << 16;

  /**
   * The most bytes for keys, the addresses of 64 elements and texts of a few names: far below a
   * header's size.
   */
  private static final long MAX_BYTES = 32_768;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** A list of lines that counts how often one of them is read. */
  private static final class CountedLines extends AbstractList<String> {
    private final List<String> lines;
    private int taken;

    CountedLines(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public String get(int index) {
      taken++;
      return lines.get(index);
    }

    @Override
    public int size() {
      return lines.size();
    }
  }

  private static ClientAddress address(String header) {
    return ClientAddress.builder().trusted("10.0.0.0/8").header(header).build();
  }

  @Test
  void linesBeyondTheBound_areNotRead() {
    CountedLines lines = new CountedLines(Collections.nCopies(10_000, "10.0.0.2"));
    TestRequest request = new TestRequest();
    request.headers.put("X-Forwarded-For", lines);
    assertThat(address("X-Forwarded-For").of(request).key()).isEqualTo("via 10.0.0.2");
    assertThat(lines.taken).isLessThanOrEqualTo(ElementsFromRight.MAX + 1);
  }

  @Test
  void emptyLines_areReadOnce() {
    CountedLines lines = new CountedLines(Collections.nCopies(10_000, " , "));
    TestRequest request = new TestRequest();
    request.headers.put("X-Forwarded-For", lines);
    assertThat(address("X-Forwarded-For").of(request).key()).isEqualTo("10.0.0.1");
    assertThat(lines.taken).isEqualTo(10_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Forwarded-For", "Forwarded", "X-Real-IP"})
  void allocatedMemory_doesNotGrowWithTheHeader(String header) {
    ClientAddress address = address(header);
    for (String line : longLines()) {
      TestRequest request = new TestRequest().header(header, line);
      address.of(request).key(); // Loads the classes.
      long before = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
      address.of(request).key();
      long bytes = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
      assertThat(bytes).as("%.20s...", line).isLessThan(MAX_BYTES);
    }
  }

  /** A line that counts how often one of its characters is read. */
  private static final class CountedText implements CharSequence {
    private final String text;
    private long taken;

    CountedText(String text) {
      this.text = text;
    }

    @Override
    public char charAt(int index) {
      taken++;
      return text.charAt(index);
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      throw new UnsupportedOperationException();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"X-Forwarded-For", "Forwarded", "X-Real-IP"})
  void steps_areSoManyTimesTheHeadersLength(String header) {
    ClientAddress address = address(header);
    IpAddress peer = Objects.requireNonNull(Node.parse("10.0.0.1"));
    for (String line : longLines()) {
      CountedText counted = new CountedText(line);
      address.read(peer, List.of(counted));
      assertThat(counted.taken).as("%.20s...", line).isLessThanOrEqualTo(8L * line.length());
    }
  }

  private static List<String> longLines() {
    List<String> pieces =
        List.of(
            ",",
            "10.0.0.2,",
            "for=10.0.0.2,",
            "a=b;",
            "[",
            ":",
            "\"",
            "\\",
            "1",
            "=",
            " ",
            "for",
            "::,",
            "[::]:1,",
            "%",
            ";",
            "\t,",
            ".");
    List<String> lines = new ArrayList<>();
    for (String piece : pieces) {
      String line = piece.repeat(HEADER / piece.length());
      lines.add(line);
      lines.add("for=" + line);
      lines.add("for=\"" + line + "\"");
      lines.add("[" + line + "]:80");
      lines.add(line + ", 10.0.0.2");
    }
    return lines;
  }

  /** Uses texts that would take minutes if they were searched again from each separator. */
  @Test
  void longQueryOrCookie_isReadOnce() {
    TestRequest request = new TestRequest();
    String name = "y";
    for (String piece : List.of("&", "a&", "=", "x=1&", ";", "x;", "=;", "\"", "%", "+&", "%41&")) {
      String text = piece.repeat((HEADER << 4) / piece.length());
      request.query = text;
      request.header("Cookie", text);
      assertThat(request.query(name)).isNull();
      assertThat(request.cookie(name)).isNull();
    }
  }
}
