package dev.weir.servlet;

/** A running servlet container on a free port of the loopback interface. */
interface Container extends AutoCloseable {
  int port();

  @Override
  void close();

  /** A starter of one kind of container. */
  interface Starter {
    Container start(Site site);
  }
}
