import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ChatApi, watchChat } from '../src/index.js';
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

/** Long timers run by seconds that pass only when told to, while this test lasts; short ones run as ever. */
function seconds(t) {
  const { setTimeout: wait, clearTimeout: forget } = globalThis;
  const timers = new Map();
  let now = 0;
  globalThis.setTimeout = (callback, ms, ...more) => {
    if (ms < 10_000) return wait(callback, ms, ...more);
    const name = {};
    timers.set(name, { callback, at: now + ms });
    return name;
  };
  globalThis.clearTimeout = (name) => { if (!timers.delete(name)) forget(name); };
  t.after(() => { Object.assign(globalThis, { setTimeout: wait, clearTimeout: forget }); });
  return (count) => {
    now += count * 1000;
    for (const [name, { callback, at }] of timers) {
      if (at <= now && timers.delete(name)) callback();
    }
  };
}

const texts = ({ messages }) => messages.map(({ text }) => text);
const ids = (actions) => actions.map(({ actionId }) => actionId);
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
  assert.deepEqual(events.query, { workspaceId: 'w', since: '4-4' });
  assert.deepEqual(watch.actions.map(({ actionId }) => actionId), ['a']);
  assert.deepEqual(texts(told), ['two', 'three']);
  assert.deepEqual(told.states, ['connecting', 'live']);
});

test('what is older than the history that was asked for is not told, also when the stream begins before it', async (t) => {
  const server = new FakeServer();
  for (const text of ['one', 'two', 'three']) server.say(text);
  const fetch = async (url, init) => {
    const response = await server.fetch(url, init);
    if (!url.includes('/chat/actions')) return response;
    // A transaction that had not ended held the cursor back.
    const body = await response.json();
    return Response.json({ ...body, data: { ...body.data, cursor: '1-0' } });
  };
  const { told, live } = stage(t, { fetch, history: 1 }, server);
  await live();
  server.say('four');
  await until('it', () => told.messages.length >= 2);
  assert.deepEqual(texts(told), ['three', 'four']);
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
    assert.equal(server.requests.at(-1).headers['last-event-id'], '2-2');
    assert.equal(server.requests.at(-1).query.since, undefined);
    assert.deepEqual(told.ended.map(({ actionId }) => actionId), ['a'], 'c was never seen');
    assert.deepEqual(told.actions.at(-1).map(({ actionId }) => actionId), ['b']);
    assert.equal(told.actions.length, 3, 'what the snapshot told is not told again');
    assert.deepEqual(told.states, ['connecting', 'live', 'reconnecting', 'live']);
  });
}

test('what began and ended during a long absence is not told, and what was seen or is still active is', async (t) => {
  const { server, told, watch, live } = stage(t);
  await live();
  server.act('seen', 'processing');
  await until('it', () => told.actions.length === 1);
  watch.pause();
  await until('the pause', () => watch.state === 'paused');
  server.act('unseen', 'processing');
  server.act('unseen', 'processing', { payload: { progress: 0.5 } });
  server.act('unseen', 'error', { displayText: 'Сломалось давно' });
  server.act('seen', 'error', { displayText: 'Сломалось' });
  server.act('lasting', 'processing');
  server.minutes += 60;
  server.say('last');
  watch.resume();
  await until('the end of the past', () => texts(told).includes('last'));
  assert.deepEqual(ids(told.ended), ['seen']);
  assert.deepEqual(told.actions.slice(1).map(ids), [['lasting']], 'the snapshot told it, and the stream added nothing');
  server.act('new', 'processing');
  await until('what is new', () => told.actions.length === 3);
});

test('what began and ended while a resync was answered is not told', async (t) => {
  const server = new FakeServer();
  let looks = 0;
  const fetch = async (url, init) => {
    // The stream goes on from before this look, and what ends here is not of late any more.
    if (url.includes('/chat/actions') && (looks += 1) === 3) {
      server.act('unseen', 'processing');
      server.act('unseen', 'error');
      server.minutes += 60;
    }
    return server.fetch(url, init);
  };
  const { told, live } = stage(t, { fetch }, server);
  await live();
  server.cut();
  server.say('missed');
  server.oldest = server.log.length;
  await until('the resync', () => told.resyncs === 1);
  server.say('last');
  await until('the last', () => texts(told).includes('last'));
  assert.deepEqual([looks, told.actions, told.ended], [3, [], []]);
});

test('a repeated start that only moved the time is no change', async (t) => {
  const { server, told, live } = stage(t);
  await live();
  server.act('a', 'processing', { payload: { step: 'one', progress: 0.5 } });
  await until('it', () => told.actions.length === 1);
  server.cut();
  // Lists and stream write the fields in different orders.
  server.act('a', 'processing', { payload: { progress: 0.5, step: 'one' } });
  server.say('last');
  await until('the last', () => texts(told).includes('last'));
  assert.equal(told.actions.length, 1);
});

test('without a history nothing of the past is told, and a resync loses nothing', async (t) => {
  const server = new FakeServer();
  for (const text of ['one', 'two']) server.say(text);
  const { told, live } = stage(t, { history: 0 }, server);
  await live();
  assert.deepEqual(paths(server), ['messages', 'actions', 'events']);
  assert.equal(server.requests[0].query.limit, '1');
  server.cut();
  for (const text of ['three', 'four']) server.say(text);
  server.oldest = server.log.length;
  await until('the resync', () => told.resyncs === 1);
  assert.deepEqual(texts(told), ['three', 'four']);
  server.say('five');
  await until('the next', () => texts(told).at(-1) === 'five');
});

for (const call of ['/messages', '/chat/actions']) {
  test(`without a history what is said right after the call of ${call} is told once, also by a resync`, async (t) => {
    for (const isTooOld of [false, true]) {
      const server = new FakeServer();
      const fetch = async (url, init) => {
        const response = await server.fetch(url, init);
        if (url.includes(call) && server.messages.length === 1) {
          server.say('between');
          if (isTooOld) server.oldest = server.log.length;
        }
        return response;
      };
      server.say('before');
      const { told } = stage(t, { history: 0, fetch }, server);
      await until('the stream', () => server.watchers === 1 && told.resyncs === Number(isTooOld));
      server.say('last');
      await until('the last', () => texts(told).includes('last'));
      assert.deepEqual(texts(told), ['between', 'last']);
    }
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

test('a resync that takes longer than the longest silence comes to its end, because somebody answers all the time', async (t) => {
  // Five seconds for every page, which is far from a silence alone, and beyond it together.
  const pass = seconds(t);
  const server = new FakeServer();
  let pages = 0;
  const fetch = async (url, init) => {
    if (url.includes('before=')) {
      pages += 1;
      pass(5);
    }
    return server.fetch(url, init);
  };
  const { told, live } = stage(t, { fetch }, server);
  await live();
  server.cut();
  for (let n = 0; n < 2000; n += 1) server.say(`missed ${n}`);
  server.oldest = server.log.length;
  await until('the resync', () => told.resyncs === 1);
  assert.equal(told.messages.length, 2000);
  assert.ok(pages * 5_000 > 40_000, `${pages} pages take longer than the silence`);
  assert.equal(paths(server).filter((path) => path === 'events').length, 2, 'one connection before it, one that it came through');
});

test('a connection on which nobody says anything for forty seconds is given up, and what was missed is read', async (t) => {
  const pass = seconds(t);
  const { server, told, live } = stage(t);
  await live();
  pass(39);
  server.say('in time');
  await until('it', () => told.messages.length === 1);
  pass(39);
  assert.equal(paths(server).filter((path) => path === 'events').length, 1, 'whoever speaks is there');
  pass(2);
  await until('another connection', () => paths(server).filter((path) => path === 'events').length === 2);
  await live();
  server.say('after');
  await until('what comes then', () => texts(told).at(-1) === 'after');
  assert.deepEqual(texts(told), ['in time', 'after']);
});

test('a token that is a function is asked before each call, and what is undefined has its default', async (t) => {
  const server = new FakeServer();
  server.say('said');
  let calls = 0;
  const token = async () => `t${calls += 1}`;
  const { told, live } = stage(t, { token, history: undefined, recent: undefined }, server);
  await live();
  assert.deepEqual(server.requests.map(({ headers }) => headers.authorization), ['Bearer t1', 'Bearer t2', 'Bearer t3']);
  assert.equal(server.requests[0].query.recent, '15');
  assert.deepEqual(texts(told), ['said']);
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
  server.refusals.actions.push(new Response('<h1>Forbidden by a firewall</h1>', { status: 403 }));
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

/** A watch that is closed inside the callback, or in the state, of this name; `late` is what was told after that. */
function closedIn(t, name, server, options = {}) {
  const { told, callbacks } = recorder();
  const late = [];
  const closing = Object.entries(callbacks).map(([key, callback]) => [key, (...values) => {
    if (watch.state === 'closed' && values[0] !== 'closed') late.push(key);
    callback(...values);
    if (name === key || name === values[0]) watch.close();
  }]);
  const { watch } = stage(t, { ...Object.fromEntries(closing), ...options }, server);
  const over = async () => {
    await until('the close', () => watch.state === 'closed');
    // Long enough for whatever still goes on.
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  };
  return { told, late, over };
}

for (const name of ['connecting', 'onEnd', 'onActions', 'onMessage', 'live']) {
  test(`nobody is called back after a close inside a callback (${name})`, async (t) => {
    const server = new FakeServer();
    for (const text of ['one', 'two', 'three']) server.say(text);
    server.act('a', 'error');
    server.act('b', 'processing');
    const { told, late, over } = closedIn(t, name, server, { known: ['a'] });
    await over();
    assert.deepEqual([late, told.states.at(-1), server.watchers], [[], 'closed', 0]);
    if (name === 'connecting') assert.deepEqual(server.requests, [], 'nothing is asked for nobody');
  });
}

test('nobody is called back after a close inside a resync', async (t) => {
  const server = new FakeServer();
  const { told, late, over } = closedIn(t, 'onMessage', server);
  await until('the stream', () => server.watchers === 1);
  server.cut();
  for (const text of ['missed', 'missed too']) server.say(text);
  server.oldest = server.log.length;
  await over();
  assert.deepEqual([late, texts(told), told.resyncs], [[], ['missed'], 0]);
});

test('a resume inside the callback of a pause is heard, and so is a pause inside that of a connection', async (t) => {
  const states = [];
  const onState = (state) => {
    states.push(state);
    if (states.length === 1) watch.pause();
    if (state === 'paused' && states.length > 2) watch.resume();
  };
  const { server, watch, live } = stage(t, { onState });
  await until('the pause', () => watch.state === 'paused');
  assert.deepEqual(server.requests, [], 'a paused watch asks for nothing');
  watch.resume();
  await live();
  watch.pause();
  await live();
  assert.deepEqual(states, ['connecting', 'paused', 'connecting', 'live', 'paused', 'connecting', 'live']);
});

test('a resume inside the callback of a failure tries again at once', async (t) => {
  const server = new FakeServer();
  server.refusals.actions.push(new Response(null, { status: 503, headers: { 'retry-after': '600' } }));
  const { live, watch } = stage(t, { onState: (state) => { if (state === 'reconnecting') watch.resume(); } }, server);
  await live();
});

for (const chatId of ['.', '..']) {
  test(`a chat that no address can name (${chatId}) is refused before anybody is asked`, async () => {
    const server = new FakeServer();
    const refusal = { name: 'BerestaError', status: 422, code: 'request.invalid', retryable: false, details: { field: 'chatId' } };
    assert.throws(() => watchChat({ chatId, fetch: server.fetch }), refusal);
    const api = new ChatApi({ baseUrl: 'http://fake', fetch: server.fetch });
    const calls = [() => api.messages(chatId), () => api.send(chatId, { text: 'hello' }), () => api.events(chatId)];
    for (const call of calls) {
      const answer = call();
      assert.ok(answer instanceof Promise, 'it is refused as everything else is');
      await assert.rejects(answer, refusal);
    }
    assert.deepEqual(server.requests, []);
    await api.messages(`${chatId}.${chatId}.`);
    assert.equal(server.requests[0].pathname, `/api/chats/${chatId}.${chatId}./messages`);
  });
}

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
