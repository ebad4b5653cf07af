package dev.weir.server;

import dev.weir.internal.IoCauses;
import dev.weir.rules.ValueErrors;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Setting;
import dev.weir.server.internal.settings.Settings;
import dev.weir.server.settings.StartException;
import dev.weir.shared.Resolver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The check that the ports of the settings are free, and the message for one that is not. */
final class FreePorts {
  private static final String IN_USE = "in use";

  private FreePorts() {}

  /**
   * Checks all ports before anything slow begins. Another process may still take one of them until
   * it is opened.
   *
   * @throws StartException that names all ports that cannot be opened
   */
  static void require(ServerSettings settings) throws StartException {
    String host = settings.value(Settings.HOST);
    String adminHost = settings.value(Settings.ADMIN_HOST);
    List<String> problems = new ArrayList<>();
    check(settings, Settings.PORT, host, port(settings, Settings.PORT), problems);
    check(settings, Settings.GRPC_PORT, host, port(settings, Settings.GRPC_PORT), problems);
    check(settings, Settings.RESP_PORT, host, port(settings, Settings.RESP_PORT), problems);
    check(settings, Settings.ADMIN_PORT, adminHost, port(settings, Settings.ADMIN_PORT), problems);
    Optional<InetSocketAddress> members = settings.clusterListen();
    if (members.isPresent()) {
      Resolver unused = Resolver.system(); // To be set before the first DNS query.
      InetSocketAddress at = members.get();
      check(settings, Settings.CLUSTER, at.getHostString(), at.getPort(), problems);
    }
    if (!problems.isEmpty()) {
      throw new StartException(problems);
    }
  }

  private static int port(ServerSettings settings, Setting<Optional<Integer>> setting) {
    return settings.value(setting).orElse(0);
  }

  private static void check(
      ServerSettings settings,
      Setting<?> setting,
      String host,
      int port,
      List<? super String> problems) {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (port == 0 || address.isUnresolved()) {
      return; // The name may be known by the time the port is opened.
    }
    // A socket that is bound and does not listen: no client can connect to it.
    try (Socket socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (SocketException e) {
      problems.add(problem(settings, setting, host, port, e));
    } catch (IOException e) {
      // Closing has failed, so the port was free.
    }
  }

  /** Returns {@code --port: 8080: in use (expected: a free port, or 0)}. */
  static String problem(
      ServerSettings settings, Setting<?> setting, String host, int port, Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String source = settings.source(setting);
    String name = source.equals("default") ? setting.flag() : source;
    String cause = IoCauses.of(root);
    if (!cause.equals(IN_USE)) {
      return ValueErrors.line(
          name, host + ":" + port + ": " + cause, "an address and a port to listen on");
    }
    return ValueErrors.line(
        name,
        port + ": " + IN_USE,
        setting == Settings.CLUSTER ? "a free port for members" : "a free port, or 0");
  }
}
