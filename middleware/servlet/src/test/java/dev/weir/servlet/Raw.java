package dev.weir.servlet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A response as it came over the connection, to a request as it was written.
 *
 * @param fields the lines of the header without the first
 */
record Raw(int status, List<String> fields, String body) {
  private static final String END = "\r\n\r\n";

  /** Sends a request without a body; the connection is closed after the answer. */
  static Raw send(int port, String firstLine, String... fields) {
    return send(port, head(firstLine, fields), new byte[0]);
  }

  static String head(String firstLine, String... fields) {
    StringBuilder head = new StringBuilder(firstLine).append(" HTTP/1.1\r\nConnection: close\r\n");
    for (String field : fields) {
      head.append(field).append("\r\n");
    }
    return head.append(String.join("", "Host: localhost\r\n", "\r\n")).toString();
  }

  /** Writes all of a request, and only then reads the answer, like a simple client. */
  static Raw send(int port, String head, byte[] body) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      OutputStream out = socket.getOutputStream();
      out.write(head.getBytes(StandardCharsets.ISO_8859_1));
      out.write(body);
      out.flush();
      return read(socket.getInputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Raw read(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    in.transferTo(bytes);
    String text = bytes.toString(StandardCharsets.ISO_8859_1);
    int end = text.indexOf(END);
    if (end < 0) {
      throw new IOException("no answer: \"" + text + "\"");
    }
    List<String> lines = List.of(text.substring(0, end).split("\r\n", -1));
    return new Raw(
        Integer.parseInt(lines.get(0).split(" ", 3)[1]),
        lines.subList(1, lines.size()),
        text.substring(end + END.length()));
  }

  /** Returns the values of all lines of a field, in their order. */
  List<String> values(String name) {
    List<String> values = new ArrayList<>();
    for (String line : fields) {
      if (line.regionMatches(true, 0, name + ":", 0, name.length() + 1)) {
        values.add(line.substring(name.length() + 1).strip());
      }
    }
    return values;
  }
}
