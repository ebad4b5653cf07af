package dev.weir.servlet;

import dev.weir.http.Verdict;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;

/**
 * The filter that holds requests that wait for their turn, if the rules have {@code on_limit:
 * {queue: ...}}. It is the last filter, after all that authenticate or wrap. Safe for use by many
 * threads.
 *
 * <pre>{@code
 * WaitingFilter waiting = new WaitingFilter();
 * RateLimitFilter limit = RateLimitFilter.builder(limiter).waiting(waiting).build();
 * }</pre>
 *
 * <p>A virtual thread blocks. Otherwise the request becomes asynchronous, takes no thread while it
 * waits, and is dispatched again when its turn has come: only to the filters that are registered
 * for {@code ASYNC}, and to the servlet. Register this filter for {@code REQUEST} alone, and
 * configure it and the filters before it to support asynchronous requests. If one does not, a
 * thread blocks, up to the bound on such threads. The container's time for asynchronous requests,
 * often 30 seconds, bounds the wait too.
 *
 * <p>A request that does not reach this filter, for example because authentication refuses it,
 * leaves the queue and is not charged.
 */
public final class WaitingFilter implements Filter {
  /** The most threads that block, unless another number is set. */
  public static final int MAX_BLOCKED_THREADS = 20;

  private final Semaphore blocked;
  private volatile boolean initialised;

  /** Makes a filter in which at most {@link #MAX_BLOCKED_THREADS} threads block. */
  public WaitingFilter() {
    this(MAX_BLOCKED_THREADS);
  }

  /**
   * Makes a filter.
   *
   * @param maxBlockedThreads the most threads, besides virtual ones, that may block for requests
   *     that cannot be asynchronous; further requests are refused. At least 0
   */
  public WaitingFilter(int maxBlockedThreads) {
    if (maxBlockedThreads < 0) {
      throw new IllegalArgumentException(
          "maxBlockedThreads: " + maxBlockedThreads + " (expected: at least 0)");
    }
    blocked = new Semaphore(maxBlockedThreads);
  }

  @Override
  public void init(FilterConfig config) {
    initialised = true;
  }

  @Override
  public void destroy() {
    initialised = false;
  }

  /** Returns whether a container has initialised this filter. */
  boolean isInitialised() {
    return initialised;
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    WaitingRequest waiting = RequestState.waitingOf(request);
    if (waiting != null
        && request.getDispatcherType() == DispatcherType.REQUEST
        && request instanceof HttpServletRequest httpRequest
        && response instanceof HttpServletResponse httpResponse) {
      CompletableFuture<Optional<WaitingRequest.Turn>> outcome = waiting.take();
      if (outcome != null) {
        hold(waiting, outcome, httpRequest, httpResponse, chain);
        return;
      }
    }
    chain.doFilter(request, response);
  }

  private void hold(
      WaitingRequest waiting,
      CompletableFuture<Optional<WaitingRequest.Turn>> outcome,
      HttpServletRequest request,
      HttpServletResponse response,
      FilterChain chain)
      throws IOException, ServletException {
    if (outcome.isDone() || VirtualThreads.current()) {
      block(waiting, outcome, request, response, chain);
    } else if (request.isAsyncSupported() && !request.isAsyncStarted()) {
      LateAnswer.start(waiting, request, response);
    } else if (blocked.tryAcquire()) {
      try {
        await(outcome);
      } finally {
        blocked.release();
      }
      block(waiting, outcome, request, response, chain);
    } else {
      refuse(waiting, waiting.pending(), request, response);
    }
  }

  private static void block(
      WaitingRequest waiting,
      CompletableFuture<Optional<WaitingRequest.Turn>> outcome,
      HttpServletRequest request,
      HttpServletResponse response,
      FilterChain chain)
      throws IOException, ServletException {
    WaitingRequest.Turn refused = await(outcome) ? outcome.join().orElse(null) : waiting.pending();
    if (refused != null) {
      refuse(waiting, refused, request, response);
    } else if (waiting.release()) {
      waiting.fields(response::addHeader);
      serve(waiting, request, response, chain);
    }
  }

  private static void serve(
      WaitingRequest waiting,
      HttpServletRequest request,
      HttpServletResponse response,
      FilterChain chain)
      throws IOException, ServletException {
    if (!waiting.holdsSeats()) {
      chain.doFilter(request, response);
      return;
    }
    RequestEnd end = new RequestEnd(waiting::ended);
    try {
      chain.doFilter(end.watch(request), response);
    } finally {
      end.returned(request);
    }
  }

  /** Returns whether the outcome is known; false if the thread is to stop. */
  private static boolean await(CompletableFuture<?> outcome) {
    try {
      outcome.get();
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return outcome.isDone();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // It is only completed with values.
    }
  }

  private static void refuse(
      WaitingRequest waiting,
      WaitingRequest.Turn turn,
      HttpServletRequest request,
      HttpServletResponse response)
      throws IOException, ServletException {
    Verdict refusal = turn.refusal();
    if (waiting.refuse()) {
      turn.refusals().refuse(request, response, refusal);
    }
  }
}
