package dev.weir.jaxrs;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerResponseContext;
import jakarta.ws.rs.container.ContainerResponseFilter;

/**
 * The filter that adds the header fields to every answer, and reports the status with which a
 * request has ended.
 */
final class AnsweredFilter implements ContainerResponseFilter {
  @Override
  public void filter(ContainerRequestContext request, ContainerResponseContext response) {
    Limits.answered(request, response);
  }
}
