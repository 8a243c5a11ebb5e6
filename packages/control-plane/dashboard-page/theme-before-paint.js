// Classic script, so that a chosen theme is there before the first paint.
try {
  const theme = localStorage.getItem("vocalhost-theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {}
