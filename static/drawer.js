// On narrow screens the list of conversations opens as a drawer. One markup: the aside's
// content moves into the dialog and back, so that nothing exists twice.
(() => {
  const side = document.getElementById("side");
  const drawer = document.getElementById("drawer");
  const opener = document.querySelector("[data-drawer]");
  if (!side || !drawer || !opener) return;

  opener.addEventListener("click", () => {
    drawer.append(...side.childNodes);
    drawer.showModal();
  });
  drawer.addEventListener("close", () => side.append(...drawer.childNodes));
  document.addEventListener("click", (event) => {
    if (event.target === drawer || event.target.closest?.("[data-drawer-close]")) drawer.close();
  });
  matchMedia("(min-width: 900px)").addEventListener("change", () => {
    if (drawer.open) drawer.close();
  });
})();
