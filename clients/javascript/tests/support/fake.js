// A chat server in a few lines, without a socket: what the contract says, and faults on demand.

const stamp = (n) => `2026-03-02T09:00:00.${String(n).padStart(6, '0')}Z`;

export class FakeServer {
  #clock = 0;
  #streams = new Set();
  log = [];
  actions = new Map();
  messages = [];
  /** Every request: method, path, query, headers. */
  requests = [];
  /** Statuses to answer with first, in order, by kind of call: `actions`, `messages`, `events`. */
  refusals = { actions: [], messages: [], events: [] };
  /** Cursors before this one are too old. */
  oldest = 0;

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
      workspaceId: 'w', chatId: 'c', actionId, actionType: 'summarize', status, ...more, updatedAt: stamp((this.#clock += 1)),
    };
    this.actions.set(actionId, action);
    this.publish({ type: 'bot_action', action });
    return action;
  }

  say(text) {
    const seq = this.messages.length + 1;
    const message = { workspaceId: 'w', chatId: 'c', messageId: `m${seq}`, seq, role: 'user', text, createdAt: stamp(seq) };
    this.messages.push(message);
    this.publish({ type: 'message', message });
  }

  publish(event) {
    this.log.push(event);
    this.send(`id: ${this.log.length}\ndata: ${JSON.stringify(event)}\n\n`);
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
      cursor: String(this.log.length),
      actions: all.filter(({ status }) => status === 'processing'),
      recent: recent ? all.filter(({ status }) => status !== 'processing') : [],
    };
    return Response.json({ ok: true, data });
  }

  #history(before, limit) {
    const messages = this.messages.filter(({ seq }) => seq < before).reverse().slice(0, limit);
    const next = messages.at(-1)?.seq > 1 ? messages.at(-1).seq : null;
    return Response.json({ ok: true, data: { messages, next, cursor: String(this.log.length) } });
  }

  #stream(cursor, signal) {
    const from = cursor == null ? this.log.length : Number(cursor);
    let mine;
    const body = new ReadableStream({
      start: (controller) => {
        mine = controller;
        const write = (text) => controller.enqueue(new TextEncoder().encode(text));
        write(`: hello\nid: ${this.log.length}\nretry: 1\n\n`);
        if (from < this.oldest) {
          const event = { type: 'resync', cursor: String(this.log.length) };
          write(`id: ${this.log.length}\ndata: ${JSON.stringify(event)}\n\n`);
        } else {
          this.log.slice(from).forEach((event, n) => write(`id: ${from + n + 1}\ndata: ${JSON.stringify(event)}\n\n`));
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
export async function until(what, look, patienceMs = 20_000) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`still waiting: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 5); });
  }
}
