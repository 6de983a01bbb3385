// The page of one chat: what was said, and what the bots are doing right now. The client does the watching; this only draws.

import {
  ChatApi, errorTextOf, languageOf, newId, progressOf, stepOf, textOf, watchChat,
} from './client/src/index.js';

const DOINGS_MAX = 5;
const NOTICES_MAX = 3;
const PAGE = 50;
/** Closer to the end than this, a reader wants to see what comes. */
const NEAR_END_PX = 80;

const room = document.querySelector('[data-chat]');
const part = (name) => room.querySelector(`[data-${name}]`);
const [log, bubbles, older, empty, doings, notices, status, form] =
  ['log', 'bubbles', 'older', 'empty', 'doings', 'notices', 'chat-state', 'say'].map(part);
const chatId = room.dataset.chat;
const language = languageOf(document.documentElement.lang, 'en');
const api = new ChatApi({ baseUrl: '/console/chat', language });

function element(tag, className, text = '') {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

// Messages: one bubble for each, in the order of their numbers.

const WHO = { user: 'User', bot: 'Bot', system: 'System' };
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

function bubble({ seq, role, text, createdAt }) {
  const at = new Date(createdAt);
  const time = element('time', '', (at.toDateString() === new Date().toDateString() ? clock : date).format(at));
  time.dateTime = createdAt;
  time.title = createdAt;
  const item = element('li', `bubble ${Object.hasOwn(WHO, role) ? role : 'system'}`);
  item.dataset.seq = seq;
  item.append(element('span', 'sr', `${WHO[role] ?? role}: `), element('p', 'said', text), time);
  return item;
}

/** Until a page says that it is the last: the first messages may have been forgotten long ago. */
let hasOlder = true;

function draw(message) {
  if (bubbles.querySelector(`[data-seq="${Number(message.seq)}"]`)) return;
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
  let next = null;
  for (let last = bubbles.lastElementChild; last && Number(last.dataset.seq) > message.seq; last = last.previousElementSibling) next = last;
  bubbles.insertBefore(bubble(message), next);
  empty.hidden = true;
  older.hidden = !hasOlder || Number(bubbles.firstElementChild.dataset.seq) <= 1;
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

older.addEventListener('click', async () => {
  older.disabled = true;
  try {
    const page = await api.messages(chatId, { before: Number(bubbles.firstElementChild.dataset.seq), limit: PAGE });
    const fromEnd = log.scrollHeight - log.scrollTop;
    page.messages.forEach(draw);
    hasOlder = page.next !== null;
    older.hidden = !hasOlder;
    // What is being read stays where it is.
    log.scrollTop = log.scrollHeight - fromEnd;
  } catch (error) {
    notice('The older messages could not be read', error.message);
  }
  older.disabled = false;
});

// Actions: an indicator for each that is active. Never a bubble, and changed in place, so that nothing is read out twice.

function indicator(action) {
  const made = element('div', 'doing');
  made.dataset.action = action.actionId;
  const spinner = element('span', 'spinner');
  spinner.setAttribute('aria-hidden', 'true');
  made.append(spinner, element('span', 'doing-text'), element('span', 'doing-step quiet'));
  return made;
}

function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

function showProgress(shown, action) {
  const progress = progressOf(action);
  let bar = shown.querySelector('progress');
  if (progress === null) return bar?.remove();
  if (!bar) {
    bar = document.createElement('progress');
    bar.max = 1;
    shown.append(bar);
  }
  bar.value = progress;
  bar.setAttribute('aria-label', `${textOf(action, language)} ${Math.round(progress * 100)} %`);
}

function showActions(active) {
  const shown = new Map([...doings.querySelectorAll('[data-action]')].map((made) => [made.dataset.action, made]));
  active.slice(0, DOINGS_MAX).forEach((action, place) => {
    const made = shown.get(action.actionId) ?? indicator(action);
    shown.delete(action.actionId);
    setText(made.querySelector('.doing-text'), textOf(action, language));
    setText(made.querySelector('.doing-step'), stepOf(action));
    showProgress(made, action);
    if (doings.children[place] !== made) doings.insertBefore(made, doings.children[place] ?? null);
  });
  for (const gone of shown.values()) gone.remove();
  doings.querySelector('.doing-more')?.remove();
  if (active.length > DOINGS_MAX) doings.append(element('p', 'doing-more quiet', `and ${active.length - DOINGS_MAX} more`));
  remember();
}

// What was active before a reload, so that an end during the reload is still told, once.

const memory = `beresta.chat.${chatId}`;

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(memory)) ?? [];
  } catch {
    return [];
  }
}

function remember() {
  try {
    sessionStorage.setItem(memory, JSON.stringify(watch.actions.map(({ actionId }) => actionId)));
  } catch { /* storage is closed to us: only what ends during a reload goes untold */ }
}

function notice(title, text = '') {
  const made = element('div', 'notice bad');
  const close = element('button', 'tool', 'Dismiss');
  close.type = 'button';
  close.addEventListener('click', () => made.remove());
  made.append(element('strong', '', title), ' ', element('span', '', text), close);
  notices.append(made);
  while (notices.children.length > NOTICES_MAX) notices.firstElementChild.remove();
  return made;
}

function showEnd(action) {
  if (action.status === 'error') {
    notice(errorTextOf(action, language)).dataset.ended = action.actionId;
  }
  remember();
}

// The connection.

const WORDS = { live: '', connecting: 'Connecting…', reconnecting: 'The connection is lost; trying again…', paused: '', closed: '' };

function showState(state, problem) {
  room.dataset.state = state;
  if (state === 'stopped' && problem.status === 401) {
    return location.assign(`/console/sign-in?next=${encodeURIComponent(location.pathname)}`);
  }
  setText(status, WORDS[state] ?? `This chat cannot be watched: ${problem.message}`);
  // Their ends will not be heard.
  if (state === 'stopped') doings.replaceChildren();
  if (state !== 'live') return;
  log.removeAttribute('aria-busy');
  empty.hidden = bubbles.childElementCount > 0;
  remember();
}

const watch = watchChat({
  chatId, api, known: remembered(), history: PAGE, onActions: showActions, onEnd: showEnd, onMessage: draw, onState: showState,
});

// Hidden: let the connection go, a browser allows few of them to one server.
const mind = () => (document.hidden ? watch.pause() : watch.resume());
document.addEventListener('visibilitychange', mind);
addEventListener('pagehide', () => watch.pause());
addEventListener('pageshow', (event) => { if (event.persisted) mind(); });
// A page that was opened behind another one is told nothing of it.
if (document.hidden) mind();
addEventListener('online', () => { if (!document.hidden) watch.resume(); });

// Saying something. The same words keep their id until they are said, so that a second try says them once.

const field = form?.elements.namedItem('text');
let draft = { text: '', messageId: '' };

form?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = field.value.trim();
  const button = form.querySelector('button');
  if (!text || button.disabled) return;
  if (draft.text !== text) draft = { text, messageId: newId() };
  button.disabled = true;
  try {
    const { message } = await api.send(chatId, draft);
    draft = { text: '', messageId: '' };
    field.value = '';
    draw(message);
    log.scrollTop = log.scrollHeight;
  } catch (error) {
    notice('Not sent', error.message);
  }
  button.disabled = false;
  field.focus();
});

field?.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
