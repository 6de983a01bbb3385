// Keeps the page current: the server says that something was published on the topics of the page, the page fetches its regions anew
// and puts them in place.

const MIN_INTERVAL_MS = 1000;
const RETRY_MS = 5000;

const root = document.documentElement;
const skewMs = (Date.parse(document.body.dataset.now) || Date.now()) - Date.now();
// The filters of a page are those of its regions.
const fragments = `/console/fragments${location.pathname.slice('/console'.length)}${location.search}`;
const regions = (scope = document) => [...scope.querySelectorAll('[data-fragment]')];

// Relative times, in the words of the server (`Moment` in views/parts.rs).

function age(seconds) {
  const steps = [[60, 1, 's'], [3600, 60, 'min'], [172800, 3600, 'h'], [Infinity, 86400, 'd']];
  const [, unit, word] = steps.find(([limit]) => seconds < limit);
  return `${Math.floor(seconds / unit)}\u00a0${word}`;
}

const ahead = new WeakSet(); // times that were still to come when they were last told
const passed = new Set(); // times that came while the page that tells of them was on its way

function tellTimes(scope = document) {
  for (const time of scope.querySelectorAll('time[data-ago], time[data-age]')) {
    const sinceMs = Date.now() + skewMs - Date.parse(time.dateTime);
    if (Number.isNaN(sinceMs)) continue;
    const seconds = Math.trunc(sinceMs / 1000);
    const span = age(Math.abs(seconds));
    const ago = seconds === 0 ? 'now' : seconds > 0 ? `${span} ago` : `in ${span}`;
    const text = 'age' in time.dataset ? span : ago;
    const isStale = sinceMs >= 0 && time.textContent.startsWith('in ') && !passed.has(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
    // That time passes is not published: what the page says of a moment that has come is fetched anew.
    if (sinceMs < 0) ahead.add(time);
    else if (ahead.delete(time) || isStale) {
      passed.add(time.dateTime); // once for each: a clock that was set anew must not fetch for ever
      want();
    }
  }
}

// Regions.

let waiting = 0; // the timer of the next fetch
let fetched = -Infinity; // when the last fetch began
let shown = 0; // when the fetch that is on the page began

function signIn() {
  location.assign(`/console/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
}

function want() {
  if (document.hidden || waiting || regions().length === 0) return;
  waiting = setTimeout(refresh, Math.max(0, fetched + MIN_INTERVAL_MS - performance.now()));
}

async function refresh() {
  const began = performance.now();
  fetched = began;
  waiting = 0;
  try {
    const answer = await fetch(fragments, {
      headers: { accept: 'text/html', 'x-requested-with': 'beresta-console' },
      cache: 'no-store',
      redirect: 'error',
    });
    if (answer.status === 401) return signIn();
    if (!answer.ok) return;
    const fresh = regions(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    if (began < shown) return;
    shown = began;
    for (const old of regions()) {
      const same = fresh.find(({ dataset }) => dataset.fragment === old.dataset.fragment);
      if (same && isBeingRead(old)) want();
      else if (same) replace(old, document.adoptNode(same));
    }
  } catch { /* the stream says so, and asks for everything once it is back */ }
}

// A selection inside a region: a person copies from it, so it is left alone until they are done.
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
  // What the reader has opened stays open.
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

// The live stream. It is closed while the page is hidden: a browser allows few connections to one server.

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
  stream = new EventSource(`/console/live?topics=${encodeURIComponent(document.body.dataset.topics)}`);
  stream.addEventListener('open', () => { show('live'); want(); });
  stream.addEventListener('changed', want);
  stream.addEventListener('error', () => {
    show('reconnecting');
    if (stream.readyState !== EventSource.CLOSED) return;
    // The server refused: ask why with a plain request, which can tell that we are signed out.
    retry = setTimeout(connect, RETRY_MS);
    fetch(fragments, { method: 'HEAD', cache: 'no-store' })
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
