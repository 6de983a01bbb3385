// Reads an event stream from the body of a fetch. `EventSource` can send neither `Authorization` nor a cursor of our own.

/** A line of this many characters is no event of ours; without a limit a broken server could fill the memory. */
const LINE_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Takes text in pieces of any size and gives out whole events, as the HTML standard says: lines end in LF, CR or CRLF, an
 * empty line ends an event, an event that is cut off is none.
 */
export class EventParser {
  #rest = '';
  #isAfterCr = false;
  /** @type {{ event?: string, id?: string, retry?: number, data?: string[] } | null} */
  #fields = null;

  /** @param {string} text */
  push(text) {
    const events = [];
    if (this.#isAfterCr && text) {
      this.#isAfterCr = false;
      // The CR ended its line already: this LF belongs to it.
      if (text.startsWith('\n')) text = text.slice(1);
    }
    let from = 0;
    for (const end of text.matchAll(/\r\n|\r|\n/g)) {
      this.#line(this.#rest + text.slice(from, end.index), events);
      this.#rest = '';
      from = end.index + end[0].length;
    }
    this.#isAfterCr = text.endsWith('\r');
    this.#rest += text.slice(from);
    if (this.#rest.length > LINE_CHARS_MAX) throw new Error(`a line of the event stream is longer than ${LINE_CHARS_MAX} characters`);
    return events;
  }

  #line(line, events) {
    if (line === '') {
      if (this.#fields) events.push({ event: 'message', ...this.#fields, data: (this.#fields.data ?? []).join('\n') });
      this.#fields = null;
      return;
    }
    if (line.startsWith(':')) return;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    const fields = (this.#fields ??= {});
    if (name === 'data') (fields.data ??= []).push(value);
    else if (name === 'event') fields.event = value || 'message';
    else if (name === 'id' && !value.includes('\0')) fields.id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) fields.retry = Number(value);
  }
}

/**
 * The events of a response, until it ends or is aborted. `onBytes` is called whenever anything arrives: a heartbeat too
 * shows that the server is there.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {() => void} [onBytes]
 */
export async function* readEvents(body, onBytes = () => {}) {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // Whoever stops listening closes the connection, and an error of closing is of no interest.
    reader.cancel().catch(() => {});
  }
}
