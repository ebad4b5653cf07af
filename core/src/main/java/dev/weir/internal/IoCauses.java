package dev.weir.internal;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The causes of failed reads, writes and connections, in plain words for users. */
public final class IoCauses {
  /*
   * The same cause arrives in four forms. The exceptions of java.nio.file have it in their type, or
   * behind the path in their message; java.io.FileNotFoundException has it in brackets behind the
   * path; sockets of Java have the words of the operating system; and Netty's native transports put
   * the name of a system call and a number before those words. Neither a path nor an address is
   * part of the result: the caller names it, once.
   */

  /** A message of Netty's: {@code bind(..) failed with error(-98): Address already in use}. */
  private static final Pattern NATIVE =
      Pattern.compile("\\w+\\(\\.\\.\\) failed(?: with error\\(-?\\d+\\))?: (.+)", Pattern.DOTALL);

  /** A message of FileNotFoundException: {@code /etc/shadow (Permission denied)}. */
  private static final Pattern BEHIND_PATH = Pattern.compile(".* \\(([^()]+)\\)", Pattern.DOTALL);

  private static final String NOT_THERE = "not there";
  private static final String NO_PERMISSION = "no permission";
  private static final String THERE_ALREADY = "there already";

  private static final Map<String, String> PLAIN =
      Map.ofEntries(
          Map.entry("Address already in use", "in use"),
          Map.entry("Cannot assign requested address", "not an address of this machine"),
          Map.entry("Connection refused", "connection refused"),
          Map.entry("Connection reset by peer", "connection reset"),
          Map.entry("Connection timed out", "no answer in time"),
          Map.entry("No route to host", "no route to the host"),
          Map.entry("Network is unreachable", "the network cannot be reached"),
          Map.entry("Permission denied", NO_PERMISSION),
          Map.entry("Operation not permitted", NO_PERMISSION),
          Map.entry("No such file or directory", NOT_THERE),
          Map.entry("Not a directory", "a part of the path is a file"),
          Map.entry("Is a directory", "a folder"),
          Map.entry("Read-only file system", "the disk is read-only"),
          Map.entry("No space left on device", "no space left on the disk"),
          Map.entry("Disk quota exceeded", "no space left for this user"),
          Map.entry("File name too long", "the name is too long"),
          Map.entry("Too many open files", "too many open files"));

  private IoCauses() {}

  /** Returns the cause of a failure without its path; its type if it has no message. */
  public static String of(Throwable failure) {
    if (failure instanceof NoSuchFileException) {
      return NOT_THERE;
    }
    if (failure instanceof AccessDeniedException) {
      return NO_PERMISSION;
    }
    if (failure instanceof FileAlreadyExistsException) {
      return THERE_ALREADY;
    }
    if (failure instanceof UnknownHostException) {
      return "no such host: " + String.valueOf(failure.getMessage()).split(":", 2)[0];
    }
    String message = message(failure);
    return message == null || message.isBlank()
        ? failure.getClass().getSimpleName()
        : plain(message);
  }

  /** Returns the cause of a failure behind the path that it names, if it names one. */
  public static String named(Throwable failure) {
    if (failure instanceof FileSystemException file && file.getFile() != null) {
      return file.getFile() + ": " + of(failure);
    }
    String message = String.valueOf(failure.getMessage());
    if (failure instanceof FileNotFoundException && BEHIND_PATH.matcher(message).matches()) {
      return message.substring(0, message.lastIndexOf(" (")) + ": " + of(failure);
    }
    return of(failure);
  }

  /** Returns the words of the operating system, or of a native transport, as plain words. */
  public static String plain(String message) {
    Matcher transport = NATIVE.matcher(message);
    String words = transport.matches() ? transport.group(1) : message;
    for (Map.Entry<String, String> each : PLAIN.entrySet()) {
      // Netty puts the address behind it.
      if (words.equals(each.getKey()) || words.startsWith(each.getKey() + ": ")) {
        return each.getValue();
      }
    }
    return words;
  }

  /**
   * Returns {@code /proc/x: no permission (expected: a folder that can be written)}, for a folder
   * that could not be made or written to.
   */
  public static String folder(Path folder, IOException failure) {
    String cause = of(failure);
    // The folders above are made as well. Some of the system, such as /proc, refuse new ones as if
    // they were not there themselves.
    String shown =
        switch (cause) {
          case NOT_THERE -> NO_PERMISSION;
          case THERE_ALREADY -> "a file, or a link to nothing";
          default -> cause;
        };
    return folder + ": " + shown + " (expected: a folder that can be written)";
  }

  /** Returns {@code /proc/x: no permission (expected: a file that can be written)}. */
  public static String file(Path file, IOException failure) {
    String cause = of(failure);
    if (cause.equals(NOT_THERE)) {
      Path folder = file.toAbsolutePath().getParent();
      boolean there = folder != null && Files.isDirectory(folder);
      cause = there ? NO_PERMISSION : "its folder is not there";
    }
    return file + ": " + cause + " (expected: a file that can be written)";
  }

  private static @Nullable String message(Throwable failure) {
    if (failure instanceof FileSystemException file) {
      return file.getReason();
    }
    String message = failure.getMessage();
    if (failure instanceof FileNotFoundException && message != null) {
      Matcher matcher = BEHIND_PATH.matcher(message);
      return matcher.matches() ? matcher.group(1) : message;
    }
    return message;
  }
}
