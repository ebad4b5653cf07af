package dev.weir.spring.test.method;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.spring.RateLimit;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/**
 * Tests that limits on methods work without spring-web, Reactor, AspectJ and a servlet container.
 */
class BareClassPathTest {
  private static final List<String> LEFT_OUT =
      List.of("spring-web", "reactor-", "reactive-streams", "aspectj", "tomcat", "jakarta.servlet");

  public static class Shop {
    @RateLimit(name = "one")
    public String call() {
      return "done";
    }
  }

  /** A task within the other class loader: it returns the exception of a second call. */
  public static class Calls implements Callable<String> {
    @Override
    public String call() {
      List<String> thrown = new ArrayList<>();
      new Limited()
          .run(
              Shop.class,
              shop -> {
                thrown.add(shop.call());
                try {
                  shop.call();
                } catch (RuntimeException e) {
                  thrown.add(e.getClass().getSimpleName());
                }
              });
      return String.join(" ", thrown);
    }
  }

  @Test
  void plainMethods_needSpringsContextOnly() throws Exception {
    List<URL> urls = new ArrayList<>();
    String classPath = System.getProperty("java.class.path");
    for (String entry : classPath.split(File.pathSeparator, -1)) {
      String name = Path.of(entry).getFileName().toString();
      if (LEFT_OUT.stream().noneMatch(name::startsWith)) {
        urls.add(Path.of(entry).toUri().toURL());
      }
    }
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader =
        new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(loader);
      Callable<?> calls =
          (Callable<?>)
              loader.loadClass(Calls.class.getName()).getDeclaredConstructor().newInstance();
      assertThat(calls.call()).isEqualTo("done RateLimitExceededException");
    } finally {
      thread.setContextClassLoader(before);
    }
    assertThat(new Calls().call()).isEqualTo("done WebRateLimitExceededException");
  }
}
