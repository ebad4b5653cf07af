package dev.weir.admin.internal.http;

import dev.weir.admin.AdminApi;
import java.util.List;

/** A group of related routes. A new one is added to the list in {@link AdminApi}. */
public interface Resource {
  List<Route> routes();
}
