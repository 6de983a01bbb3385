import assert from 'node:assert/strict';
import { test } from 'node:test';

import { watchChat } from '../src/index.js';
import { backoff } from '../src/watch.js';
import { FakeServer, recorder, until } from './support/fake.js';

/** A watch on a fake server, closed with its test. */
function stage(t, options = {}, server = new FakeServer()) {
  const { told, callbacks } = recorder();
  const watch = watchChat({ baseUrl: 'http://fake/', chatId: 'c/1', token: 'secret', fetch: server.fetch, ...callbacks, ...options });
  t.after(() => watch.close());
  const live = () => until('a stream', () => watch.state === 'live' && server.watchers === 1);
  return { server, told, watch, live };
}

const texts = ({ messages }) => messages.map(({ text }) => text);
const paths = (server) => server.requests.map(({ pathname }) => pathname.split('/').at(-1));

test('on mount it reads the actions, then the messages, then the stream from the cursor of the first', async (t) => {
  const server = new FakeServer();
  server.act('a', 'processing');
  for (const text of ['one', 'two', 'three']) server.say(text);
  const { told, watch, live } = stage(t, { workspaceId: 'w', history: 2 }, server);
  assert.deepEqual(told.states, [], 'nobody is called back before watchChat returns');
  await live();
  assert.deepEqual(paths(server), ['actions', 'messages', 'events']);
  const [actions, messages, events] = server.requests;
  assert.deepEqual(actions.query, { workspaceId: 'w', chatId: 'c/1', recent: '15' });
  assert.equal(actions.headers.authorization, 'Bearer secret');
  assert.equal(messages.pathname, '/api/chats/c%2F1/messages');
  assert.deepEqual(events.query, { workspaceId: 'w', since: '4' });
  assert.deepEqual(watch.actions.map(({ actionId }) => actionId), ['a']);
  assert.deepEqual(texts(told), ['two', 'three']);
  assert.deepEqual(told.states, ['connecting', 'live']);
});

test('what happens between the snapshot and the stream is heard', async (t) => {
  const server = new FakeServer();
  const fetch = async (url, init) => {
    const response = await server.fetch(url, init);
    if (url.includes('/chat/actions')) server.act('between', 'processing');
    if (url.includes('/messages')) server.say('between');
    return response;
  };
  const { told } = stage(t, { fetch }, server);
  await until('both', () => told.actions.length === 1 && told.messages.length === 1);
});

test('each change is told once, and an end with its action', async (t) => {
  const { server, told, live, watch } = stage(t);
  await live();
  server.act('a', 'processing');
  server.publish(server.log.at(-1));
  server.act('a', 'processing', { payload: { progress: 0.5 } });
  server.act('a', 'error', { displayText: 'Сломалось' });
  server.publish(server.log[0]);
  server.say('after');
  server.publish(server.log.at(-1));
  server.say('last');
  await until('the last message', () => texts(told).includes('last'));
  assert.deepEqual(told.actions.map((active) => active.map(({ payload }) => payload?.progress ?? 0)), [[0], [0.5], []]);
  assert.deepEqual(told.ended.map(({ displayText }) => displayText), ['Сломалось']);
  assert.deepEqual(texts(told), ['after', 'last']);
  assert.deepEqual(watch.actions, []);
});

for (const fault of ['drop', 'cut']) {
  test(`after a stream that ended (${fault}) it reads the actions again and goes on from the last event`, async (t) => {
    const { server, told, live } = stage(t);
    await live();
    server.act('a', 'processing');
    server.act('b', 'processing');
    await until('both', () => told.actions.length === 2);
    server[fault]();
    server.act('a', 'error', { displayText: 'Сломалось' });
    server.act('c', 'processing');
    server.act('c', 'done');
    server.say('while you were away');
    await live();
    await until('the message', () => told.messages.length === 1);
    assert.deepEqual(paths(server).slice(3), ['actions', 'events'], 'messages are told by the stream');
    assert.equal(server.requests.at(-1).headers['last-event-id'], '2');
    assert.equal(server.requests.at(-1).query.since, undefined);
    assert.deepEqual(told.ended.map(({ actionId }) => actionId), ['a'], 'c was never seen');
    assert.deepEqual(told.actions.at(-1).map(({ actionId }) => actionId), ['b']);
    assert.equal(told.actions.length, 3, 'what the snapshot told is not told again');
    assert.deepEqual(told.states, ['connecting', 'live', 'reconnecting', 'live']);
  });
}

test('a cursor that is too old leads to one look at everything, and the stream goes on', async (t) => {
  const { server, told, live } = stage(t);
  await live();
  server.say('first');
  server.act('a', 'processing');
  await until('the action', () => told.actions.length === 1);
  server.cut();
  for (let n = 0; n < 450; n += 1) server.say(`missed ${n}`);
  server.act('a', 'done');
  server.oldest = server.log.length;
  await until('the resync', () => told.resyncs === 1);
  assert.equal(told.messages.length, 451);
  assert.deepEqual(told.messages.map(({ seq }) => seq), Array.from({ length: 451 }, (_, n) => n + 1));
  server.say('live again');
  await until('the next message', () => texts(told).at(-1) === 'live again');
  assert.deepEqual([told.resyncs, told.ended.length, server.watchers], [1, 1, 1]);
  server.cut();
  await live();
  assert.equal(told.resyncs, 1, 'the cursor of the resync is a good one');
});

test('the greeting does not move the cursor past a resync that was not heard', async (t) => {
  const { server, told, live } = stage(t);
  await live();
  server.say('first');
  await until('it', () => told.messages.length === 1);
  // The look that the resync asks for fails at first.
  server.refusals.actions.push(null, new TypeError('fetch failed'));
  server.cut();
  server.say('missed');
  server.oldest = server.log.length;
  await until('the resync', () => told.resyncs === 1);
  assert.deepEqual(texts(told), ['first', 'missed']);
});

test('it stops when it may not watch, and goes on when the server is away or full', async (t) => {
  const server = new FakeServer();
  server.refusals.actions.push(new TypeError('fetch failed'), new Response('<h1>Not found</h1>', { status: 404 }));
  server.refusals.events.push(new Response(null, { status: 429, headers: { 'retry-after': '1' } }));
  const { told, live } = stage(t, {}, server);
  const started = performance.now();
  await live();
  assert.ok(performance.now() - started > 1000, 'it waited as it was told');
  assert.deepEqual(told.states, ['connecting', 'reconnecting', 'live']);
  const error = { message: 'this token is not known', retryable: false, details: { code: 'auth.token' } };
  server.refusals.actions.push(Response.json({ ok: false, error }, { status: 401 }));
  server.drop();
  await until('the stop', () => told.states.at(-1) === 'stopped');
  assert.deepEqual([told.problems.at(-1).code, told.problems.at(-1).status], ['auth.token', 401]);
  const asked = server.requests.length;
  await new Promise((resolve) => { setTimeout(resolve, 50); });
  assert.equal(server.requests.length, asked);
});

test('a paused watch has no connection, and catches up when it goes on', async (t) => {
  const { server, told, watch, live } = stage(t);
  await live();
  server.act('a', 'processing');
  await until('it', () => told.actions.length === 1);
  watch.pause();
  await until('no connection', () => server.watchers === 0 && watch.state === 'paused');
  server.act('a', 'done');
  server.say('meanwhile');
  watch.resume();
  await live();
  await until('both', () => told.ended.length === 1 && told.messages.length === 1);
  watch.pause();
  watch.resume();
  await live();
  watch.close();
  await until('no connection', () => server.watchers === 0);
  server.say('nobody hears this');
  assert.deepEqual([watch.state, told.messages.length], ['closed', 1]);
});

test('an event that this version does not know, or cannot read, is passed over', async (t) => {
  const { server, told, live } = stage(t);
  await live();
  server.publish({ type: 'reaction', emoji: '👍' });
  server.send('id: 2\ndata: no JSON\n\n');
  server.send('data: null\n\n');
  server.say('next');
  await until('the next', () => told.messages.length === 1);
  assert.deepEqual(told.states, ['connecting', 'live']);
});

test('the waits grow up to a limit, and no two are the same', () => {
  const waits = [0, 1, 2, 10, 1000].map((failures) => backoff(failures, 1000, 0, () => 1));
  assert.deepEqual(waits, [1000, 2000, 4000, 30_000, 30_000]);
  assert.equal(backoff(0, 1000, 0, () => 0), 500);
  assert.equal(backoff(0, 1000, 7000, () => 0), 7500);
});
