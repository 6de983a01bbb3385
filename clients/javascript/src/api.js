// Calls of the chat API, and what can go wrong with them.

/** @typedef {import('./index.d.ts').ChatApi} Declared */

/** An answer that is not a success: `status`, a stable `code`, and words for people as the message. */
export class BerestaError extends Error {
  /** @param {string} message */
  constructor(message, { status = 0, code = 'unknown', retryable = true, retryAfterMs = 0, details = {} } = {}) {
    super(message);
    this.name = 'BerestaError';
    this.status = status;
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.details = details;
  }
}

async function problem(response) {
  const body = await response.json().catch(() => null);
  const error = body?.error;
  const seconds = Number(response.headers.get('retry-after') ?? 0);
  const { status } = response;
  return new BerestaError(error?.message ?? `the server answered ${status}`, {
    status,
    code: error?.details?.code ?? `http.${status}`,
    // Whatever stands between us and the server may answer without an envelope.
    retryable: error?.retryable ?? (status >= 500 || [408, 425, 429].includes(status)),
    retryAfterMs: error?.details?.retry_after_ms ?? (seconds > 0 ? seconds * 1000 : 0),
    details: error?.details ?? {},
  });
}

/** The chats of one workspace. */
export class ChatApi {
  #baseUrl;
  #token;
  #workspaceId;
  #language;
  #fetch;

  /** @param {import('./index.d.ts').ApiOptions} [options] */
  constructor({ baseUrl = '', token, workspaceId, language, fetch = globalThis.fetch } = {}) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '');
    this.#token = token;
    this.#workspaceId = workspaceId;
    this.#language = language;
    this.#fetch = fetch;
  }

  /**
   * A response as it came, whatever its status.
   *
   * @param {string} method
   * @param {string} path
   * @param {{ query?: object, body?: object, headers?: Record<string, string>, signal?: AbortSignal }} [options]
   */
  async request(method, path, { query = {}, body, headers = {}, signal } = {}) {
    const token = typeof this.#token === 'function' ? await this.#token() : this.#token;
    /** @type {Record<string, string>} */
    const all = { accept: 'application/json', ...headers };
    if (token) all.authorization = `Bearer ${token}`;
    if (this.#language) all['accept-language'] = this.#language;
    if (body !== undefined) all['content-type'] = 'application/json';
    const given = Object.entries({ workspaceId: method === 'GET' ? this.#workspaceId : undefined, ...query });
    const search = String(new URLSearchParams(given.filter(([, value]) => value != null).map(([name, value]) => [name, String(value)])));
    const send = this.#fetch;
    return send(`${this.#baseUrl}${path}${search && `?${search}`}`, {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify({ workspaceId: this.#workspaceId, ...body }),
      // A cookie goes to its own origin only; elsewhere the token is what counts.
      credentials: 'same-origin',
      cache: 'no-store',
      signal,
    });
  }

  /**
   * The data of a successful answer; everything else is thrown as a `BerestaError`.
   *
   * @param {string} method
   * @param {string} path
   * @param {Parameters<ChatApi['request']>[2]} [options]
   */
  async call(method, path, options) {
    const response = await this.request(method, path, options);
    if (!response.ok) throw await problem(response);
    return (await response.json()).data;
  }

  /**
   * The active actions of a chat, those that ended in the last `recent` minutes, and the cursor to watch from.
   *
   * @type {Declared['actions']}
   */
  actions(chatId, { recent, signal } = {}) {
    return this.call('GET', '/api/chat/actions', { query: { chatId, recent }, signal });
  }

  /**
   * What was said in a chat, newest first.
   *
   * @type {Declared['messages']}
   */
  async messages(chatId, { before, limit, signal } = {}) {
    return this.call('GET', `${chat(chatId)}/messages`, { query: { before, limit }, signal });
  }

  /**
   * Says something in a chat. The same `messageId` again says it once.
   *
   * @type {Declared['send']}
   */
  async send(chatId, { text, messageId = newId(), role, metadata }) {
    return this.call('POST', `${chat(chatId)}/messages`, { body: { messageId, role, text, metadata } });
  }

  /**
   * Tells that an action has begun. Safe to repeat; not a heartbeat.
   *
   * @type {Declared['start']}
   */
  start(action) {
    return this.call('POST', '/api/chat/actions/start', { body: action });
  }

  /**
   * Tells how far an action is (`processing`) or how it ended (`done`, `error`). Safe to repeat.
   *
   * @type {Declared['update']}
   */
  update(action) {
    return this.call('POST', '/api/chat/actions/update', { body: action });
  }

  /**
   * The event stream of a chat; `since` is the cursor of a GET, `lastEventId` that of an event.
   *
   * @type {Declared['events']}
   */
  async events(chatId, { since, lastEventId, signal } = {}) {
    const headers = { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) };
    const response = await this.request('GET', `${chat(chatId)}/events`, { query: { since }, headers, signal });
    if (!response.ok) throw await problem(response);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
      throw new BerestaError('this is not an event stream', { status: response.status, code: 'http.content_type' });
    }
    return response.body;
  }
}

/**
 * Refuses a chat that no address can name, as the server does where it is asked: `.` and `..` are steps in an address,
 * escaped or not, and lead elsewhere.
 *
 * @param {string} chatId
 */
export function checkChatId(chatId) {
  if (chatId !== '.' && chatId !== '..') return;
  const about = { status: 422, code: 'request.invalid', retryable: false, details: { field: 'chatId' } };
  throw new BerestaError(`'${chatId}' cannot be a chatId`, about);
}

function chat(chatId) {
  checkChatId(chatId);
  return `/api/chats/${encodeURIComponent(chatId)}`;
}

/** A new id for a message or an action. Browsers give out UUIDs only over https and on localhost. */
export function newId() {
  if (globalThis.crypto.randomUUID) return globalThis.crypto.randomUUID();
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
