package dev.weir.bench.peers;

import dev.weir.bench.Tools;
import dev.weir.bench.wire.Wire;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;

/**
 * The tables of Weir beside {@link Peers}: each protocol, by the loads and tools of {@link Wire}.
 */
public final class PeerTables {
  private final Wire wire;

  public PeerTables(Wire wire) {
    this.wire = wire;
  }

  /** Prints the tables of other rate limiters beside Weir, as far as their programs are given. */
  public void print() throws IOException, InterruptedException {
    Matcher weir = wire.weir();
    Peers peers = Peers.start(wire, System.getenv());
    peers.missing().forEach(line -> System.out.println("\n" + line));
    if (Tools.there("redis-benchmark")) {
      respPeers(weir.group(3), peers, "RESP, pipelined 64 deep, 8 connections", 64, 8, 500_000);
      respPeers(weir.group(3), peers, "RESP, 50 connections, not pipelined", 1, 50, 50_000);
    }
    String crab = peers.port("throttlecrab http");
    List<Wire.Contestant> http = new ArrayList<>();
    http.add(
        new Wire.Contestant("Weir /json", () -> wire.wrk(weir.group(1), "/json", Wire.ENVOYS)));
    String grpc = peers.port("ratelimit grpc");
    if (Tools.there("h2load")) {
      Path body = wire.grpcBody();
      List<Wire.Contestant> calls = new ArrayList<>();
      calls.add(new Wire.Contestant("Weir", () -> wire.h2load(weir.group(2), body)));
      if (grpc != null) {
        calls.add(new Wire.Contestant("envoyproxy/ratelimit", () -> wire.h2load(grpc, body)));
      }
      wire.table(Wire.GRPC, calls.toArray(new Wire.Contestant[0]));
    } else {
      System.out.println("\ngRPC: not measured, h2load is not there.");
    }
    if (!Tools.there("wrk")) {
      System.out.println("\nHTTP: not measured, wrk is not there.");
      return;
    }
    if (crab != null) {
      http.add(
          new Wire.Contestant(
              "throttlecrab", () -> wire.wrk(crab, "/throttle", Peers.THROTTLECRAB)));
    }
    String envoys = peers.port("ratelimit http");
    if (envoys != null) {
      http.add(
          new Wire.Contestant(
              "envoyproxy/ratelimit", () -> wire.wrk(envoys, "/json", Wire.ENVOYS)));
    }
    String gubernator = peers.port("gubernator http");
    if (gubernator != null) {
      String path = "/v1/GetRateLimits";
      http.add(
          new Wire.Contestant("gubernator", () -> wire.wrk(gubernator, path, Peers.GUBERNATOR)));
    }
    wire.table("HTTP, 32 connections, 100 thousand keys", http.toArray(new Wire.Contestant[0]));
  }

  private void respPeers(
      String weir, Peers peers, String title, int pipeline, int connections, int perSecond)
      throws IOException, InterruptedException {
    int count = perSecond * wire.seconds;
    String[] own = {"CL.THROTTLE", Wire.KEY, "100", "100", "60"};
    String[] crabs = {"THROTTLE", Wire.KEY, "100", "100", "60"};
    List<Wire.Contestant> all = new ArrayList<>();
    all.add(
        new Wire.Contestant(
            "Weir CL.THROTTLE", () -> Wire.redis(weir, pipeline, connections, count, own)));
    String redis = peers.port("redis");
    if (redis != null) {
      Wire.redis(redis, 64, 8, 3_000_000, "SET", Wire.KEY, "abc");
      all.add(
          new Wire.Contestant(
              "Redis GET", () -> Wire.redis(redis, pipeline, connections, count, "GET", Wire.KEY)));
    }
    String crab = peers.port("throttlecrab resp");
    if (crab != null) {
      // Its pipelining stalls: the number of commands for the others would take minutes.
      int few = pipeline > 1 ? Math.max(1, count / 50) : count;
      all.add(
          new Wire.Contestant(
              "throttlecrab THROTTLE", () -> Wire.redis(crab, pipeline, connections, few, crabs)));
    }
    wire.table(title + ", 1 million keys", all.toArray(new Wire.Contestant[0]));
  }
}
