// Says in which zone a visitor's clock runs, so that times are told in it.
for (const field of document.querySelectorAll("input[data-zone]")) {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}
