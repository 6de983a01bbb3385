// A chat server in a few lines, without a socket: what the contract says, and faults on demand.

const stamp = (n, minutes = 0) =>
  `${new Date(Date.UTC(2026, 2, 2, 9, minutes)).toISOString().slice(0, 19)}.${String(n).padStart(6, '0')}Z`;

export class FakeServer {
  #clock = 0;
  #streams = new Set();
  /** By id: the minute in which an action ended. */
  #ended = new Map();
  log = [];
  actions = new Map();
  messages = [];
  /** Every request: method, path, query, headers. */
  requests = [];
  /** Statuses to answer with first, in order, by kind of call: `actions`, `messages`, `events`. */
  refusals = { actions: [], messages: [], events: [] };
  /** Who has heard fewer events than this comes too late for the rest. */
  oldest = 0;
  /** Since it began; a test moves them. */
  minutes = 0;

  fetch = async (url, { headers, signal, method }) => {
    const { pathname, searchParams } = new URL(url, 'http://fake');
    this.requests.push({ method, pathname, query: Object.fromEntries(searchParams), headers });
    const kind = pathname.split('/').at(-1);
    const refusal = this.refusals[kind]?.shift();
    if (refusal instanceof Error) throw refusal;
    if (refusal) return refusal;
    await new Promise((resolve) => { setImmediate(resolve); });
    if (signal?.aborted) throw signal.reason;
    if (kind === 'events') return this.#stream(headers['last-event-id'] ?? searchParams.get('since'), signal);
    if (kind === 'actions') return this.#snapshot(searchParams.get('recent'));
    return this.#history(Number(searchParams.get('before') ?? Infinity), Number(searchParams.get('limit') ?? 50));
  };

  act(actionId, status, more = {}) {
    const action = {
      workspaceId: 'w', chatId: 'c', actionId, actionType: 'summarize', status, ...more, updatedAt: stamp((this.#clock += 1), this.minutes),
    };
    this.actions.set(actionId, action);
    if (status !== 'processing' && !this.#ended.has(actionId)) this.#ended.set(actionId, this.minutes);
    this.publish({ type: 'bot_action', action });
    return action;
  }

  say(text) {
    const seq = this.messages.length + 1;
    const message = { workspaceId: 'w', chatId: 'c', messageId: `m${seq}`, seq, role: 'user', text, createdAt: stamp(seq, this.minutes) };
    this.messages.push(message);
    this.publish({ type: 'message', message });
  }

  publish(event) {
    this.log.push(event);
    this.send(`id: ${eventId(this.log.length)}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  /** As the server writes it: everything before it is visible, and whatever comes has a later one. */
  get #position() {
    return this.log.length ? eventId(this.log.length) : '1-0';
  }

  send(text) {
    for (const controller of this.#streams) controller.enqueue(new TextEncoder().encode(text));
  }

  /** Ends every stream, as a server does that stops. */
  drop() {
    for (const controller of this.#streams) controller.close();
    this.#streams.clear();
  }

  /** Breaks every stream, as a network does. */
  cut() {
    for (const controller of this.#streams) controller.error(new TypeError('terminated'));
    this.#streams.clear();
  }

  get watchers() {
    return this.#streams.size;
  }

  #snapshot(recent) {
    const all = [...this.actions.values()].reverse();
    const data = {
      cursor: this.#position,
      actions: all.filter(({ status }) => status === 'processing'),
      recent: recent ? all.filter(({ actionId }) => this.#ended.get(actionId) >= this.minutes - Number(recent)) : [],
    };
    return Response.json({ ok: true, data });
  }

  #history(before, limit) {
    const messages = this.messages.filter(({ seq }) => seq < before).reverse().slice(0, limit);
    const next = messages.at(-1)?.seq > 1 ? messages.at(-1).seq : null;
    return Response.json({ ok: true, data: { messages, next, cursor: this.#position } });
  }

  #stream(cursor, signal) {
    const [next, within] = (cursor ?? this.#position).split('-').map(Number);
    const from = within ? next : next - 1;
    let mine;
    const body = new ReadableStream({
      start: (controller) => {
        mine = controller;
        const write = (text) => controller.enqueue(new TextEncoder().encode(text));
        write(`: hello\nid: ${this.#position}\nretry: 1\n\n`);
        if (from < this.oldest) {
          const event = { type: 'resync', cursor: this.#position };
          write(`id: ${this.#position}\ndata: ${JSON.stringify(event)}\n\n`);
        } else {
          this.log.slice(from).forEach((event, n) => write(`id: ${eventId(from + n + 1)}\ndata: ${JSON.stringify(event)}\n\n`));
        }
        this.#streams.add(controller);
        signal.addEventListener('abort', () => {
          if (this.#streams.delete(controller)) controller.error(signal.reason);
        });
      },
      cancel: () => { this.#streams.delete(mine); },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}

/** Each event in a transaction of its own. */
const eventId = (n) => `${n}-${n}`;

/** Everything that a watch tells, in order. */
export function recorder() {
  const told = { actions: [], ended: [], messages: [], states: [], resyncs: 0, problems: [] };
  const callbacks = {
    onActions: (active) => told.actions.push(active),
    onEnd: (action) => told.ended.push(action),
    onMessage: (message) => told.messages.push(message),
    onResync: () => { told.resyncs += 1; },
    onState: (state, problem) => {
      told.states.push(state);
      if (problem) told.problems.push(problem);
    },
  };
  return { told, callbacks };
}

/** Looks until the fact is there. */
export async function until(what, look, patienceMs = 60_000) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`still waiting: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
}
