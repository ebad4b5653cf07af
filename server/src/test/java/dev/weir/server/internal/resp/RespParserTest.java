package dev.weir.server.internal.resp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.testkit.Trials;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RespParserTest {
  private static final int MOST = 1 << 16;

  /** Parses a stream that comes in pieces, like a connection's. */
  private static List<List<String>> parse(byte[] stream, int... ends) throws RespError {
    RespParser parser = new RespParser(100, MOST, MOST);
    List<List<String>> commands = new ArrayList<>();
    byte[] kept = {};
    int read = 0;
    for (int i = 0; i <= ends.length; i++) {
      int to = i < ends.length ? ends[i] : stream.length;
      byte[] bytes = Arrays.copyOf(kept, kept.length + to - read);
      System.arraycopy(stream, read, bytes, kept.length, to - read);
      read = to;
      int from = 0;
      for (int end = parser.parse(bytes, from, bytes.length);
          end != RespParser.MORE;
          end = parser.parse(bytes, from, bytes.length)) {
        List<String> command = new ArrayList<>();
        for (int arg = 0; arg < parser.count(); arg++) {
          int start = from + parser.start(arg);
          int length = parser.end(arg) - parser.start(arg);
          command.add(new String(bytes, start, length, StandardCharsets.ISO_8859_1));
        }
        commands.add(command);
        from = end;
      }
      kept = Arrays.copyOfRange(bytes, from, bytes.length);
    }
    return commands;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void anySplitOfAnyStream_givesTheSameCommands() throws Exception {
    int runs = 3_000;
    SplittableRandom random = Trials.random("RESP splits", runs);
    for (int trial = 0; trial < runs; trial++) {
      List<List<String>> sent = new ArrayList<>();
      ByteArrayOutputStream stream = new ByteArrayOutputStream();
      int count = 1 + random.nextInt(6);
      for (int i = 0; i < count; i++) {
        sent.add(command(random, stream));
      }
      byte[] bytes = stream.toByteArray();
      int[] ends = random.ints(random.nextInt(12), 0, bytes.length + 1).sorted().toArray();
      assertThat(parse(bytes, ends)).as(Arrays.toString(ends)).isEqualTo(sent);
    }
  }

  /** Writes a random command in one of the two forms; returns it. */
  private static List<String> command(SplittableRandom random, ByteArrayOutputStream stream) {
    List<String> words = new ArrayList<>();
    boolean inline = random.nextInt(4) == 0;
    int size = random.nextInt(inline ? 5 : 12);
    for (int i = 0; i < size; i++) {
      StringBuilder word = new StringBuilder();
      int length = random.nextInt(random.nextInt(20) == 0 ? 2_000 : 9);
      for (int j = 0; j < length; j++) {
        word.append((char) random.nextInt(256));
      }
      words.add(word.toString());
    }
    if (inline) {
      for (String word : words) {
        stream.writeBytes(bytes(" \""));
        for (byte b : bytes(word)) {
          stream.writeBytes(bytes(String.format("\\x%02x", b & 0xFF)));
        }
        stream.writeBytes(bytes("\""));
      }
      stream.writeBytes(bytes(random.nextBoolean() ? "\r\n" : "\n"));
    } else {
      stream.writeBytes(bytes("*" + size + "\r\n"));
      for (String word : words) {
        stream.writeBytes(bytes("$" + word.length() + "\r\n" + word + "\r\n"));
      }
    }
    return words;
  }

  @Test
  void noise_neverBreaksTheParser_andSplitsDoNotMatter() {
    int runs = 20_000;
    SplittableRandom random = Trials.random("RESP noise", runs);
    String alphabet = "*$0123456789-\r\n\r\n\r\nab\"'\\x \0\u00ff";
    int errors = 0;
    for (int trial = 0; trial < runs; trial++) {
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "*2\r\n$1\r\na\r\n" : "");
      int length = random.nextInt(60);
      for (int i = 0; i < length; i++) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      byte[] whole = bytes(text.toString());
      String expected = outcome(whole);
      int[] ends = random.ints(random.nextInt(5), 0, whole.length + 1).sorted().toArray();
      assertThat(outcome(whole, ends)).as(text.toString()).isEqualTo(expected);
      errors += expected.startsWith("Protocol error") ? 1 : 0;
    }
    assertThat(errors).isBetween(1_000, 19_000);
  }

  private static String outcome(byte[] stream, int... ends) {
    try {
      return parse(stream, ends).toString();
    } catch (RespError e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  void inlineCommands_mayHaveQuotedWords() throws Exception {
    assertThat(parse(bytes("  set 'a b' \"c\\\"d\\n\\x41\" '' e\t f\r\n\r\nPING\n")))
        .containsExactly(
            List.of("set", "a b", "c\"d\nA", "", "e", "f"), List.of(), List.of("PING"));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '~',
      value = {
        "*1000000, invalid multibulk length",
        "*99999999999, invalid multibulk length",
        "*x, invalid multibulk length",
        "*1|$2147483647, invalid bulk length",
        "*1|$-1, invalid bulk length",
        "*1|$99999999999, invalid bulk length",
        "*1|:1, ~expected '$', got ':'~",
        "*1|$1|ab, expected line end after bulk string",
        "*0000000000000000000000000000000000000000, too big mbulk count string",
        "*1|$0000000000000000000000000000000000000000, too big bulk count string",
        "\"abc, unbalanced quotes in request",
        "'abc'd, unbalanced quotes in request",
      })
  void whatIsNoCommand_isSaidInTheWordsOfRedis(String stream, String message) {
    assertThatThrownBy(() -> parse(bytes(stream.replace("|", "\r\n") + "\r\n")))
        .isInstanceOf(RespError.class)
        .hasMessage("Protocol error: " + message);
  }

  @Test
  void whatIsTooLong_isRefusedBeforeItIsAllThere() throws Exception {
    String first = "*3\r\n$40000\r\n" + "x".repeat(40_000) + "\r\n";
    assertThat(parse(bytes(first))).isEmpty();
    assertThatThrownBy(() -> parse(bytes(first + "$40000\r\n")))
        .hasMessage("Protocol error: too big command");
    assertThat(parse(bytes("a".repeat(60_000)))).isEmpty();
    assertThatThrownBy(() -> parse(bytes("a".repeat(70_000))))
        .hasMessage("Protocol error: too big inline request");
  }
}
