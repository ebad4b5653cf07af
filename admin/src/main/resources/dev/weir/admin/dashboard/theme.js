// Before the first paint, so that it has the right colours.
try {
  document.documentElement.dataset.theme = localStorage.getItem('weir-theme') ?? '';
} catch {
  // No storage: the system's theme.
}
