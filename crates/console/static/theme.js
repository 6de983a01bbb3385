// Applies the reader's theme before the first paint. Without a choice the system decides.
(() => {
  const root = document.documentElement;
  const apply = () => {
    let theme = null;
    try { theme = localStorage.getItem('beresta.theme'); } catch { /* storage is closed to us */ }
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  root.dataset.js = '';
  apply();
  addEventListener('storage', apply);
})();
