package dev.weir.spring.test.web;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Pages of an application of either kind. */
@RestController
class Pages {
  static final String FRIEND = "https://friend.example";

  final AtomicInteger calls = new AtomicInteger();

  @GetMapping({"/page", "/other", "/open/page", "/livez", "/health"})
  String page() {
    calls.incrementAndGet();
    return "served";
  }

  @CrossOrigin(FRIEND)
  @GetMapping("/shared")
  String shared() {
    return "served";
  }
}
