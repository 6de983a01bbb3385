// Keeps the page current: the server names a fragment that changed, the page fetches it and puts it in place.

const MIN_INTERVAL_MS = 1000;
const RETRY_MS = 5000;

const root = document.documentElement;
const skewMs = (Date.parse(document.body.dataset.now) || Date.now()) - Date.now();
const regions = (scope = document) => [...scope.querySelectorAll('[data-fragment]')];
const region = (name, scope = document) => regions(scope).find((element) => element.dataset.fragment === name);
// What the server names is a fragment, or a topic that several fragments show a part of.
const named = (name) => regions().filter(({ dataset }) => dataset.fragment === name || dataset.topic === name);

// Relative times, in the words of the server (`Moment` in views.rs).

function age(seconds) {
  const steps = [[60, 1, 's'], [3600, 60, 'min'], [172800, 3600, 'h'], [Infinity, 86400, 'd']];
  const [, unit, word] = steps.find(([limit]) => seconds < limit);
  return `${Math.floor(seconds / unit)}\u00a0${word}`;
}

function tellTimes(scope = document) {
  for (const time of scope.querySelectorAll('time[data-ago], time[data-age]')) {
    const seconds = Math.trunc((Date.now() + skewMs - Date.parse(time.dateTime)) / 1000);
    if (Number.isNaN(seconds)) continue;
    const span = age(Math.abs(seconds));
    const ago = seconds === 0 ? 'now' : seconds > 0 ? `${span} ago` : `in ${span}`;
    const text = 'age' in time.dataset ? span : ago;
    if (time.textContent !== text) time.textContent = text;
  }
}

// Fragments.

const waiting = new Map(); // name -> timer of the next fetch
const fetched = new Map(); // name -> when the last fetch began
const shown = new Map(); // name -> when the fetch that is on the page began

function signIn() {
  location.assign(`/console/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

function want(name) {
  if (document.hidden || waiting.has(name) || !region(name)) return;
  const delay = Math.max(0, (fetched.get(name) ?? -Infinity) + MIN_INTERVAL_MS - performance.now());
  waiting.set(name, setTimeout(() => refresh(name), delay));
}

const wantAll = () => regions().forEach((element) => want(element.dataset.fragment));

async function refresh(name) {
  const began = performance.now();
  fetched.set(name, began);
  waiting.delete(name);
  try {
    // The filters of the page are those of its regions.
    const answer = await fetch(`/console/fragments/${encodeURIComponent(name)}${location.search}`, {
      headers: { accept: 'text/html', 'x-requested-with': 'beresta-console' },
      cache: 'no-store',
      redirect: 'error',
    });
    if (answer.status === 401) return signIn();
    if (!answer.ok) return;
    const fresh = region(name, new DOMParser().parseFromString(await answer.text(), 'text/html'));
    const old = region(name);
    if (!fresh || !old || began < (shown.get(name) ?? 0)) return;
    if (isBeingRead(old)) return want(name);
    shown.set(name, began);
    replace(old, document.adoptNode(fresh));
  } catch { /* the stream says so, and asks for everything once it is back */ }
}

// A selection inside a region is somebody copying: wait for them.
function isBeingRead(element) {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(element, true);
}

function replace(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const known = new Set([...old.querySelectorAll('[data-key]')].map((row) => row.dataset.key));
  for (const row of fresh.querySelectorAll('[data-key]')) {
    if (!known.has(row.dataset.key)) row.classList.add('fresh');
  }
  // What somebody has opened stays open.
  for (const { id } of old.querySelectorAll('details[open][id]')) {
    fresh.querySelector(`details[id="${CSS.escape(id)}"]`)?.setAttribute('open', '');
  }
  tellTimes(fresh);
  old.replaceWith(fresh);
  if (focused) {
    const same = [...fresh.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].find((element) =>
      focused.id ? element.id === focused.id : element.getAttribute('href') === focused.getAttribute('href'));
    same?.focus({ preventScroll: true });
  }
  const { announce } = fresh.dataset;
  if (announce && announce !== old.dataset.announce) {
    document.querySelector('[data-announcer]').textContent = announce;
  }
}

// The live stream. It is closed while nobody looks: a browser allows few connections to one server.

let stream = null;
let retry = 0;

function show(state) {
  const element = document.querySelector('[data-live]');
  if (element.dataset.live === state) return;
  element.dataset.live = state;
  element.querySelector('[data-live-text]').textContent = state;
}

function connect() {
  disconnect();
  stream = new EventSource('/console/live');
  stream.addEventListener('open', () => { show('live'); wantAll(); });
  stream.addEventListener('fragment', (event) => {
    try { named(JSON.parse(event.data).name).forEach((element) => want(element.dataset.fragment)); } catch { /* not a name: nothing to fetch */ }
  });
  stream.addEventListener('resync', wantAll);
  stream.addEventListener('error', () => {
    show('reconnecting');
    if (stream.readyState !== EventSource.CLOSED) return;
    // The server refused: ask why with a plain request, which can tell that we are signed out.
    retry = setTimeout(connect, RETRY_MS);
    fetch('/console/fragments/health', { method: 'HEAD', cache: 'no-store' })
      .then((answer) => { if (answer.status === 401) signIn(); }, () => {});
  });
}

function disconnect() {
  clearTimeout(retry);
  stream?.close();
}

// The theme: choosing what the system would choose means following the system again.

const dark = matchMedia('(prefers-color-scheme: dark)');
document.querySelector('[data-theme-toggle]')?.addEventListener('click', () => {
  const system = dark.matches ? 'dark' : 'light';
  const next = (root.dataset.theme ?? system) === 'dark' ? 'light' : 'dark';
  if (next === system) delete root.dataset.theme;
  else root.dataset.theme = next;
  try {
    if (next === system) localStorage.removeItem('beresta.theme');
    else localStorage.setItem('beresta.theme', next);
  } catch { /* the choice lasts as long as the page */ }
});

document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : connect()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
document.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
tellTimes();
setInterval(tellTimes, 5000);
if (!document.hidden) connect();
