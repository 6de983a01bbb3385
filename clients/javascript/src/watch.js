// Watches one chat: what its bots are doing and what is said, live and without holes.

import { ChatApi, checkChatId } from './api.js';
import { readEvents } from './sse.js';
import { ChatState } from './state.js';

/** The server sends a heartbeat every 15 seconds; silence for this long means that nobody is there. */
const SILENCE_MS = 40_000;
const RETRY_MS = 1000;
const RETRY_MAX_MS = 30_000;
const PAGE = 200;
const PAUSED = new Error('paused');

/** How long to wait before the next try: longer after every failure, and never the same for two watchers. */
export function backoff(failures, retryMs, retryAfterMs = 0, random = Math.random) {
  const longest = Math.min(RETRY_MAX_MS, retryMs * 2 ** Math.min(failures, 16));
  return retryAfterMs + longest * (0.5 + random() / 2);
}

/** Somebody outside called us back, and what goes wrong there is theirs to see; the watch goes on. */
function tell(callback, ...values) {
  try {
    callback?.(...values);
  } catch (error) {
    queueMicrotask(() => { throw error; });
  }
}

class Watch {
  #api;
  #options;
  #state;
  /** @type {{ id: string, isOfEvent: boolean } | null} where the stream goes on */
  #cursor = null;
  #retryMs = RETRY_MS;
  /** @type {AbortController | undefined} */
  #connection;
  #isPaused = false;
  #isClosed = false;
  #wake = () => {};
  /** Somebody answered: the silence begins anew. */
  #heard = () => {};
  /** @type {import('./index.d.ts').WatchState | ''} */
  #connectionState = '';

  /** @param {import('./index.d.ts').WatchOptions} options */
  constructor(options) {
    this.#options = { ...options, history: options.history ?? 50, recent: options.recent ?? 15 };
    this.#api = options.api ?? new ChatApi(options);
    this.#state = new ChatState(options.known);
    this.#run();
  }

  get actions() {
    return this.#state.active();
  }

  get state() {
    return this.#connectionState;
  }

  /** Lets the connection go until `resume`; what happens meanwhile is caught up with then. */
  pause() {
    this.#isPaused = true;
    this.#connection?.abort(PAUSED);
    this.#wake();
  }

  /** Goes on at once, also when it would still wait before its next try. */
  resume() {
    this.#isPaused = false;
    this.#wake();
  }

  close() {
    this.#isClosed = true;
    this.pause();
    this.#show('closed');
  }

  async #run() {
    // Nobody is called back before `watchChat` has returned.
    await null;
    for (let failures = 0; !this.#isClosed; ) {
      if (this.#isPaused) {
        // Asleep before anybody is told, so that whoever is told can wake us.
        const sleep = this.#sleep(Infinity);
        this.#show('paused');
        await sleep;
        failures = 0;
        continue;
      }
      this.#show(['', 'paused'].includes(this.#connectionState) ? 'connecting' : 'reconnecting');
      // Whoever was told may have thought better of it.
      if (this.#isClosed || this.#isPaused) continue;
      /** @type {any} */
      let problem = null;
      try {
        await this.#connect(() => { failures = 0; });
      } catch (error) {
        problem = error;
      }
      if (this.#isClosed || this.#connection?.signal.reason === PAUSED) continue;
      if (problem && isFinal(problem)) {
        this.#isClosed = true;
        return this.#show('stopped', problem);
      }
      const sleep = this.#sleep(backoff(failures, this.#retryMs, problem?.retryAfterMs));
      this.#show('reconnecting', problem);
      await sleep;
      failures += 1;
    }
  }

  /** One connection, from the snapshot to the end of the stream. */
  async #connect(onLive) {
    const connection = new AbortController();
    this.#connection = connection;
    const { signal } = connection;
    let silence;
    const heard = () => {
      if (signal.aborted) return;
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), SILENCE_MS);
    };
    this.#heard = heard;
    heard();
    try {
      // On mount and on every reconnect: first the state as it is, then the stream from before it.
      const cursor = await this.#recover(signal);
      const stream = await this.#api.events(this.#options.chatId, {
        [cursor.isOfEvent ? 'lastEventId' : 'since']: cursor.id,
        signal,
      });
      heard();
      onLive();
      this.#show('live');
      for await (const { id, retry, data } of readEvents(stream, heard)) {
        if (signal.aborted) return;
        if (retry) this.#retryMs = retry;
        // The greeting has a cursor too, but only what was heard to its end moves ours.
        if (!data) continue;
        await this.#hear(parse(data), id, signal);
        if (id) this.#cursor = { id, isOfEvent: true };
      }
    } finally {
      clearTimeout(silence);
      connection.abort();
    }
  }

  async #recover(signal) {
    const { chatId, recent, history, onMessage } = this.#options;
    const isFirstLook = onMessage && this.#state.newestSeq === null;
    if (isFirstLook && !(history > 0)) await this.#noteNewest(signal);
    const snapshot = await this.#api.actions(chatId, { recent, signal });
    this.#heard();
    // An earlier cursor stays: the stream then tells again what was said while we were away.
    this.#cursor ??= { id: snapshot.cursor, isOfEvent: false };
    this.#learn(this.#state.snapshot(snapshot));
    // Read after the cursor was taken, so that no message falls between the two.
    if (isFirstLook && history > 0) await this.#readMessages(signal, history);
    return this.#cursor;
  }

  /**
   * Tells no message, but a resync has to know which ones are new. Number and cursor are of one look: whatever has a higher
   * number comes after this cursor.
   */
  async #noteNewest(signal) {
    const { messages, cursor } = await this.#api.messages(this.#options.chatId, { limit: 1, signal });
    this.#cursor = { id: cursor, isOfEvent: false };
    this.#state.looked(messages[0]?.seq);
  }

  /**
   * Tells messages that were not seen yet, oldest first: `count` of them, or all since the newest one that was seen.
   *
   * @param {AbortSignal} signal
   * @param {number} [count]
   */
  async #readMessages(signal, count) {
    const { chatId, onMessage } = this.#options;
    const newest = this.#state.newestSeq;
    const found = [];
    let before;
    do {
      const page = await this.#api.messages(chatId, { before, limit: Math.min(count ?? PAGE, PAGE), signal });
      // However many pages there are: while they come, somebody is there.
      this.#heard();
      found.push(...page.messages.filter(({ seq }) => newest === null || seq > newest));
      before = page.next;
      if (count !== undefined || page.messages.length === 0 || page.messages.at(-1).seq <= (newest ?? 0)) break;
    } while (before != null);
    // What is older than the history that was asked for is not wanted, also when the stream begins before it.
    this.#state.looked(count === undefined ? 0 : (found.at(-1)?.seq ?? 1) - 1);
    for (const message of found.reverse()) if (this.#state.message(message)) this.#tell(onMessage, message);
  }

  async #hear(event, id, signal) {
    const { chatId, recent, onMessage } = this.#options;
    if (event?.type === 'bot_action') this.#learn(this.#state.action(event.action, id));
    else if (event?.type === 'message') {
      if (this.#state.message(event.message)) this.#tell(onMessage, event.message);
    } else if (event?.type === 'resync') {
      // Too much was missed to be told one by one. The stream waits while we look, and goes on from there.
      this.#learn(this.#state.snapshot(await this.#api.actions(chatId, { recent, signal })));
      if (onMessage && this.#state.newestSeq !== null) await this.#readMessages(signal);
      this.#tell(this.#options.onResync);
    }
    // A type that this version does not know is for another one.
  }

  #learn({ isChanged, ended }) {
    for (const action of [ended].flat()) if (action) this.#tell(this.#options.onEnd, action);
    if (isChanged) this.#tell(this.#options.onActions, this.#state.active());
  }

  /** Any callback may close us, and there may be more to tell: then nobody wants to know. */
  #tell(callback, ...values) {
    if (!this.#isClosed) tell(callback, ...values);
  }

  /** @param {import('./index.d.ts').WatchState} state */
  #show(state, problem = null) {
    if (this.#connectionState === state || this.#connectionState === 'closed') return;
    this.#connectionState = state;
    tell(this.#options.onState, state, problem);
  }

  #sleep(ms) {
    return new Promise((/** @type {(value?: void) => void} */ resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The server has understood, and will say the same next time. Whatever stands before it may speak out of turn, and is not believed. */
function isFinal({ status = 0, code = '', retryable = true }) {
  return status >= 400 && status < 500 && !retryable && !code.startsWith('http.');
}

function parse(data) {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

/** @type {typeof import('./index.d.ts').watchChat} */
export function watchChat(options) {
  if (!options?.chatId) throw new TypeError('watchChat needs a chatId');
  checkChatId(options.chatId);
  return new Watch(options);
}
