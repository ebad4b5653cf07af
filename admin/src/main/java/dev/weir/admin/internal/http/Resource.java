package dev.weir.admin.internal.http;

import dev.weir.admin.AdminApi;
import java.util.List;

/** Routes that belong together. To add one is to add it to the list in {@link AdminApi}. */
public interface Resource {
  List<Route> routes();
}
