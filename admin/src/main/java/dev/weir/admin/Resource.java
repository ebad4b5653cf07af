package dev.weir.admin;

import java.util.List;

/** Routes that belong together. To add one is to add it to the list in {@link AdminApi}. */
interface Resource {
  List<Route> routes();
}
