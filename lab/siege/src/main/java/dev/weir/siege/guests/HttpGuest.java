package dev.weir.siege.guests;

import dev.weir.siege.Target;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A client that sends requests by {@code POST /v1/check} on one connection, which it never reopens
 * by itself.
 */
public final class HttpGuest implements Guest {
  private static final Pattern REASON = Pattern.compile("\"reason\":\"(\\w+)\"");

  private final Socket socket;
  private final InputStream in;
  private final String authorization;

  public HttpGuest(Target target) throws IOException {
    socket = new Socket(target.host(), target.http());
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
    authorization =
        target.token() == null ? "" : "Authorization: Bearer " + target.token() + "\r\n";
  }

  /** A response: its status and its body. */
  private record Response(int status, String body) {}

  @Override
  public Answer request(String rule, String key, int permits) throws IOException {
    return check(
        String.format(
            "{\"domain\":\"%s\",\"descriptor\":{\"%s\":\"%s\"},\"permits\":%d}",
            DOMAIN, rule, key, permits));
  }

  @Override
  public Answer request(List<String> rules, String key, int permits) throws IOException {
    if (rules.size() == 1) {
      return request(rules.get(0), key, permits);
    }
    String descriptors =
        rules.stream()
            .map(
                each ->
                    String.format("{\"entries\":[{\"key\":\"%s\",\"value\":\"%s\"}]}", each, key))
            .collect(Collectors.joining(","));
    return check(
        String.format(
            "{\"domain\":\"%s\",\"descriptors\":[%s],\"permits\":%d}",
            DOMAIN, descriptors, permits));
  }

  private Answer check(String body) throws IOException {
    Response response =
        exchange("POST /v1/check", "Content-Length: " + body.length() + "\r\n\r\n" + body);
    Matcher reason = REASON.matcher(response.body);
    boolean allowed = response.status == 200;
    boolean verdict = allowed || response.status == 429 || response.status == 503;
    if (!verdict || !reason.find()) {
      throw new IOException("status " + response.status + ": " + response.body);
    }
    return new Answer(allowed, reason.group(1));
  }

  /**
   * Requests a page and returns its body.
   *
   * @throws IOException if its status is not 200
   */
  public String get(String path) throws IOException {
    Response response = exchange("GET " + path, "\r\n");
    if (response.status != 200) {
      throw new IOException(path + ": status " + response.status);
    }
    return response.body;
  }

  private Response exchange(String request, String rest) throws IOException {
    String text = request + " HTTP/1.1\r\nHost: localhost\r\n" + authorization + rest;
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    int length = 0;
    for (String field = line(); !field.isEmpty(); field = line()) {
      if (field.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(field.substring(field.indexOf(':') + 1).trim());
      }
    }
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("closed within an answer");
    }
    return new Response(status, new String(body, StandardCharsets.UTF_8));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("closed instead of an answer");
      }
      line.append((char) c);
    }
    return line.toString().trim();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
