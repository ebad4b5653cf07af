package dev.weir.cli;

import dev.weir.cli.command.CommandFailure;
import dev.weir.config.ConfigStoreProvider;
import dev.weir.internal.IoCauses;
import dev.weir.server.ClusterProvider;
import dev.weir.server.ServerOptions;
import dev.weir.server.settings.StartException;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The parts of the command that few use: the adapters of configuration stores, and the cluster.
 * Each has a folder of jars in {@code lib/providers}, under its name.
 */
public final class Providers {
  /*
   * How are they found? In the way of all services: ServiceLoader uses the context class loader of
   * the thread. Before a part is used, that loader is replaced by a loader of the jars in its
   * folder, whose parent is the loader before it. The threads that are started later inherit it. A
   * part that is on the class path, as in tests and if Weir is a library, needs no folder.
   *
   * Why not one class path? The parts are two thirds of all bytes. From sources, they would be
   * compiled, fetched and copied before the first request; now each is made when it is first used,
   * by the command that the launcher names.
   */

  /**
   * The provider of clusters. The names of the others are the schemes of their stores' addresses.
   */
  public static final String CLUSTER = "cluster";

  /** The system property with the folder that contains a folder for each provider. */
  public static final String FOLDER = "weir.providers";

  /** The system property with a command that makes the folder of the provider that it is given. */
  public static final String COMMAND = "weir.provide";

  private static final Set<String> STORES =
      Set.of("dynamodb", "etcd", "mongodb", "postgresql", "rocksdb");

  private Providers() {}

  /** Makes the providers visible that a server with these settings uses. */
  static void forServer(ServerOptions options) {
    options.configStore().ifPresent(Providers::forStore);
    if (options.usesCluster()) {
      need(CLUSTER);
    }
  }

  /**
   * Makes the provider visible that opens a configuration store.
   *
   * @param address the address of the store; if no provider opens it, all become visible, so that
   *     the message can list what they open
   */
  public static void forStore(String address) {
    String scheme = address.replaceFirst("(?s):.*", "").toLowerCase(Locale.ROOT);
    if (STORES.contains(scheme)) {
      need(scheme);
    } else if (!isOneClassPath() && !isVisible(scheme)) {
      STORES.stream().map(Providers::folder).filter(Files::isDirectory).forEach(Providers::add);
    }
  }

  /** Returns the provider of clusters. */
  public static ClusterProvider cluster() {
    need(CLUSTER);
    try {
      return ClusterProvider.find();
    } catch (StartException e) {
      throw new CommandFailure(String.valueOf(e.getMessage()), e);
    }
  }

  /**
   * Makes a provider visible to the services of this thread, and of threads that it starts.
   *
   * @throws CommandFailure if its folder is missing and cannot be made
   */
  public static void need(String name) {
    if (isOneClassPath() || isVisible(name)) {
      return;
    }
    Path folder = folder(name);
    if (!Files.isDirectory(folder)) {
      make(name, folder);
    }
    add(folder);
  }

  private static boolean isOneClassPath() {
    return System.getProperty(FOLDER) == null;
  }

  private static Path folder(String name) {
    return Path.of(System.getProperty(FOLDER, ""), name);
  }

  private static boolean isVisible(String name) {
    return name.equals(CLUSTER)
        ? ServiceLoader.load(ClusterProvider.class).findFirst().isPresent()
        : ServiceLoader.load(ConfigStoreProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .anyMatch(each -> each.scheme().equals(name));
  }

  private static void make(String name, Path folder) {
    String command = System.getProperty(COMMAND);
    if (command == null) {
      throw new CommandFailure(
          name + ": " + folder + " is missing (expected: the folder with its jars)");
    }
    int status;
    try {
      Process process =
          new ProcessBuilder(command, "--provide", name)
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.INHERIT)
              .start();
      process.getOutputStream().close();
      status = process.waitFor();
    } catch (IOException e) {
      throw new CommandFailure(name + ": cannot be provided: " + IoCauses.named(e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(name + ": interrupted while it was provided", e);
    }
    if (status != 0 || !Files.isDirectory(folder)) {
      throw new CommandFailure(
          String.format(
              Locale.ROOT,
              "%s: '%s --provide %s' ended with status %d (expected: 0, and its jars in %s)",
              name,
              command,
              name,
              status,
              folder));
    }
  }

  private static void add(Path folder) {
    Thread thread = Thread.currentThread();
    thread.setContextClassLoader(new URLClassLoader(jars(folder), thread.getContextClassLoader()));
  }

  private static URL[] jars(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> jars = files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
      URL[] urls = new URL[jars.size()];
      for (int i = 0; i < urls.length; i++) {
        urls[i] = url(jars.get(i));
      }
      return urls;
    } catch (IOException e) {
      throw new CommandFailure(folder + ": cannot be read: " + IoCauses.of(e), e);
    }
  }

  private static URL url(Path jar) throws MalformedURLException {
    return jar.toUri().toURL();
  }
}
