import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventParser, readEvents } from '../src/sse.js';

const WHOLE = ': hello\nid: 1-1\nretry: 2500\n\nid: 1-2\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: beat\n\nevent: other\rdata:x\r\rdata: cut off';
const EVENTS = [
  { event: 'message', id: '1-1', retry: 2500, data: '' },
  { event: 'message', id: '1-2', data: '{"a":\n1}' },
  { event: 'other', data: 'x' },
];

test('events are the same however the stream is cut into pieces', () => {
  assert.deepEqual(new EventParser().push(WHOLE), EVENTS);
  for (let size = 1; size < 9; size += 1) {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < WHOLE.length; at += size) found.push(...parser.push(WHOLE.slice(at, at + size)));
    assert.deepEqual(found, EVENTS, `pieces of ${size}`);
  }
});

test('comments, unknown fields and bad numbers are passed over', () => {
  assert.deepEqual(new EventParser().push(':\n\nfoo: bar\nretry: soon\ndata\n\n'), [{ event: 'message', data: '' }]);
  assert.deepEqual(new EventParser().push('id: a\0b\ndata:  two spaces\n\n'), [{ event: 'message', data: ' two spaces' }]);
});

test('a line without an end is refused before it fills the memory', () => {
  const parser = new EventParser();
  assert.throws(() => { for (;;) parser.push('x'.repeat(1 << 20)); }, /longer than/);
});

test('a letter may be cut in two, every arrival is noticed, and who stops listening closes the stream', async () => {
  const bytes = new TextEncoder().encode('data: Готово\n\ndata: next\n\n');
  let isCancelled = false;
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
    },
    cancel() { isCancelled = true; },
  });
  let beats = 0;
  for await (const { data } of readEvents(body, () => { beats += 1; })) {
    assert.equal(data, 'Готово');
    break;
  }
  assert.ok(beats > 10);
  await new Promise((resolve) => { setImmediate(resolve); });
  assert.ok(isCancelled);
});
