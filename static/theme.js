// Loaded before the first paint, so that a chosen theme never flashes. Classic script:
// a module would run too late.
(() => {
  const KEY = "waybill.theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage may be switched off; the system's choice stands
    }
  };

  const show = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };

  show(stored());

  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("[data-switch-theme]")) return;
    const dark =
      root.dataset.theme === "dark" ||
      (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    const next = dark ? "light" : "dark";
    show(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Chosen for this page only.
    }
  });

  addEventListener("storage", (event) => {
    if (event.key === KEY) show(event.newValue);
  });
})();
