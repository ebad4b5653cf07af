package dev.weir.siege.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** A file of hosts that processes read in place of the DNS. Safe for use by many threads. */
public final class HostsFile {
  private final Path file;
  private final String name;

  /**
   * @param folder the folder of the file
   * @param name the only name in it, beside those of this machine
   */
  public HostsFile(Path folder, String name) {
    this.file = folder.resolve("hosts");
    this.name = name;
  }

  /** Returns the option by which a Java machine reads the file. */
  public String option() {
    return "-Djdk.net.hosts.file=" + file;
  }

  /** Sets the addresses of the name. */
  public void publish(List<String> addresses) throws IOException {
    StringBuilder text = new StringBuilder("127.0.0.1 localhost");
    text.append(' ').append(InetAddress.getLocalHost().getHostName()).append('\n');
    addresses.forEach(each -> text.append(each).append(' ').append(name).append('\n'));
    Path next = file.resolveSibling("hosts.new");
    Files.writeString(next, text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
