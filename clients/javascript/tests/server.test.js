// Against a real server: BERESTA_URL and BERESTA_TOKEN say which (scopes read and write). BERESTA_URL_2 is another process on
// the same database. `cargo xtask test` sets all three.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BerestaError, ChatApi, errorTextOf, newId, watchChat } from '../src/index.js';
import { recorder, until } from './support/fake.js';
import { wire } from './support/proxy.js';

const { BERESTA_URL: baseUrl = '', BERESTA_TOKEN: token = '', BERESTA_URL_2: secondUrl = '' } = process.env;
const skip = baseUrl && token ? false : 'BERESTA_URL and BERESTA_TOKEN are not set';
const api = new ChatApi({ baseUrl, token });

/** A watch of a chat of its own, closed with its test. */
async function stage(t, options = {}) {
  const chatId = options.chatId ?? `chat/${newId()} 🌿`;
  const { told, callbacks } = recorder();
  const watch = watchChat({ baseUrl, token, chatId, ...callbacks, ...options });
  t.after(() => watch.close());
  await until('the stream', () => watch.state === 'live');
  const start = (more = {}) => api.start({ chatId, actionId: newId(), actionType: 'summarize', ...more });
  return { chatId, told, watch, start };
}

const ids = (actions) => actions.map(({ actionId }) => actionId);
const texts = ({ messages }) => messages.map(({ text }) => text);

test('an action is seen from its start to its end', { skip }, async (t) => {
  const { chatId, told, start } = await stage(t);
  const { action, outcome } = await start({ displayText: ' <b>Читаю</b> файл ' });
  assert.equal(outcome, 'created');
  await until('the start', () => told.actions.length === 1);
  assert.deepEqual(told.actions[0], [action]);
  assert.equal(action.displayText, 'Читаю файл');
  const { actionId } = action;
  await api.update({ actionId, status: 'processing', payload: { progress: 0.5, step: 'half' } });
  await until('the progress', () => told.actions.at(-1)[0].payload?.progress === 0.5);
  await api.update({ actionId, chatId, status: 'error', displayText: 'Файл повреждён' });
  await until('the end', () => told.ended.length === 1);
  assert.deepEqual([told.ended[0].displayText, told.ended[0].status], ['Файл повреждён', 'error']);
  assert.deepEqual(told.actions.at(-1), []);
  assert.equal(told.messages.length, 0, 'an action is no message');
});

test('an error without words of its own does not repeat what was being done', { skip }, async (t) => {
  const { told, start } = await stage(t);
  const { action } = await start({ displayText: 'Читаю файл' });
  const { actionId } = action;
  await until('the start', () => told.actions.length === 1);
  await api.update({ actionId, status: 'error', payload: { code: 'timeout' } });
  await until('the end', () => told.ended.length === 1);
  assert.equal(errorTextOf(told.ended[0]), 'Время ожидания истекло');
});

/** As if every end were long ago. */
class Forgetful extends ChatApi {
  async actions(chatId, options) {
    return { ...await super.actions(chatId, options), recent: [] };
  }
}

test('what began and ended long ago, while nobody watched, is not told', { skip }, async (t) => {
  const { chatId, told, watch, start } = await stage(t, { api: new Forgetful({ baseUrl, token }) });
  const { told: heard } = await stage(t, { chatId });
  watch.pause();
  await until('the pause', () => watch.state === 'paused');
  const { action } = await start();
  await api.update({ actionId: action.actionId, status: 'error' });
  await api.send(chatId, { text: 'the end' });
  // What one watcher has heard is before every cursor from now on.
  await until('the other watcher', () => heard.messages.length === 1);
  assert.deepEqual(ids(heard.ended), [action.actionId]);
  watch.resume();
  await until('the message', () => told.messages.length === 1);
  assert.deepEqual([told.actions, told.ended], [[], []]);
});

test('a chat that no address can name is refused, however it is named', { skip }, async () => {
  for (const chatId of ['.', '..']) {
    const refusal = { status: 422, code: 'request.invalid', retryable: false };
    await assert.rejects(api.messages(chatId), refusal);
    await assert.rejects(api.actions(chatId), refusal);
    await assert.rejects(api.start({ chatId, actionId: newId(), actionType: 'summarize' }), refusal);
  }
});

test('retries publish nothing, and nothing brings an ended action back', { skip }, async (t) => {
  const { chatId, told, start } = await stage(t);
  const { action } = await start();
  const { actionId } = action;
  for (let n = 0; n < 2; n += 1) assert.equal((await start({ actionId })).outcome, 'unchanged');
  assert.equal((await api.update({ actionId, status: 'done' })).outcome, 'changed');
  assert.equal((await api.update({ actionId, status: 'done' })).outcome, 'unchanged');
  assert.equal((await api.update({ actionId, status: 'error' })).outcome, 'ignored');
  assert.deepEqual((await start({ actionId })).action.status, 'done');
  await api.send(chatId, { text: 'the end' });
  await until('the message', () => told.messages.length === 1);
  assert.deepEqual([told.actions.length, told.ended.length], [2, 1]);
});

test('an update before its start and a start in another chat are refused in the words of the contract', { skip }, async (t) => {
  const { start } = await stage(t);
  const actionId = newId();
  await assert.rejects(api.update({ actionId, status: 'done' }), (error) => {
    assert.ok(error instanceof BerestaError);
    assert.deepEqual([error.status, error.code], [404, 'actions.unknown_action']);
    assert.equal(error.message, `Действие с actionId '${actionId}' не найдено. Сначала вызовите start.`);
    return true;
  });
  const english = new ChatApi({ baseUrl, token, language: 'en' });
  await assert.rejects(english.update({ actionId, status: 'done' }), (error) => !/[а-я]/i.test(error.message));
  await start({ actionId });
  await assert.rejects(start({ actionId, chatId: newId() }), { status: 409, code: 'actions.other_chat' });
  await assert.rejects(start({ actionId, actionType: 'generate_image' }), { status: 409, code: 'actions.other_type' });
});

test('a new watch finds what is active and the last messages', { skip }, async (t) => {
  const { chatId, start } = await stage(t);
  const first = await start();
  const second = await start();
  for (let n = 0; n < 5; n += 1) await api.send(chatId, { text: `message ${n}`, role: n % 2 ? 'bot' : 'user' });
  const { told, watch } = await stage(t, { chatId, history: 3 });
  assert.deepEqual(ids(watch.actions), [second.action.actionId, first.action.actionId]);
  assert.deepEqual(texts(told), ['message 2', 'message 3', 'message 4']);
  const page = await api.messages(chatId, { before: told.messages[0].seq, limit: 10 });
  assert.deepEqual(page.messages.map(({ text }) => text), ['message 1', 'message 0']);
});

test('the same message id says it once', { skip }, async (t) => {
  const { chatId, told } = await stage(t);
  const messageId = newId();
  assert.equal((await api.send(chatId, { messageId, text: 'hello' })).outcome, 'created');
  assert.equal((await api.send(chatId, { messageId, text: 'hello' })).outcome, 'unchanged');
  await assert.rejects(api.send(chatId, { messageId, text: 'other' }), { status: 409, code: 'actions.other_message' });
  await api.send(chatId, { text: 'next' });
  await until('both', () => told.messages.length === 2);
  assert.deepEqual(texts(told), ['hello', 'next']);
});

test('a cut wire loses nothing: ends, starts and messages are caught up with', { skip }, async (t) => {
  const line = await wire(baseUrl);
  t.after(() => line.close());
  const { chatId, told, watch, start } = await stage(t, { baseUrl: line.url });
  const [failing, lasting] = [await start(), await start()];
  await until('both', () => watch.actions.length === 2);
  line.cut();
  await until('the cut', () => watch.state === 'reconnecting');
  await api.update({ actionId: failing.action.actionId, status: 'error', displayText: 'Сломалось' });
  const fresh = await start();
  await api.send(chatId, { text: 'while you were away' });
  line.mend();
  watch.resume();
  await until('the stream', () => watch.state === 'live');
  await until('the message', () => told.messages.length === 1);
  assert.deepEqual(told.ended.map(({ displayText }) => displayText), ['Сломалось']);
  assert.deepEqual(ids(watch.actions), [fresh.action.actionId, lasting.action.actionId]);
  await api.send(chatId, { text: 'live again' });
  await until('the next one', () => told.messages.length === 2);
});

test('a cursor that nobody can read leads to one resync, and the stream goes on', { skip }, async (t) => {
  const { chatId } = await stage(t);
  const aborting = new AbortController();
  t.after(() => aborting.abort());
  const stream = await api.events(chatId, { lastEventId: 'nobody-knows', signal: aborting.signal });
  const decoder = new TextDecoder();
  let text = '';
  const reader = stream.getReader();
  const read = async () => { text += decoder.decode((await reader.read()).value, { stream: true }); };
  while (!text.includes('"resync"')) await read();
  await api.send(chatId, { text: 'after the resync' });
  while (!text.includes('after the resync')) await read();
  assert.equal(text.split('"resync"').length, 2, text);
});

test('many watchers of one chat hear the same', { skip }, async (t) => {
  const { chatId, told: first } = await stage(t);
  const others = await Promise.all(Array.from({ length: 5 }, () => stage(t, { chatId })));
  const count = 40;
  await Promise.all(Array.from({ length: count }, (_, n) => api.send(chatId, { text: `message ${n}` })));
  for (const told of [first, ...others.map((other) => other.told)]) {
    await until('all of them', () => told.messages.length === count);
    assert.deepEqual(told.messages.map(({ seq }) => seq).sort((a, b) => a - b), Array.from({ length: count }, (_, n) => n + 1));
  }
});

test('a token that is not known stops the watch', { skip }, async (t) => {
  const { told, callbacks } = recorder();
  const watch = watchChat({ baseUrl, token: 'brs_wrong', chatId: newId(), ...callbacks });
  t.after(() => watch.close());
  await until('the stop', () => watch.state === 'stopped');
  assert.deepEqual([told.problems[0].status, told.problems[0].code], [401, 'auth.token']);
});

const skipTwo = skip || (secondUrl ? false : 'BERESTA_URL_2 is not set');
test('what is started through one process is seen through the other', { skip: skipTwo }, async (t) => {
  const { told, start } = await stage(t, { baseUrl: secondUrl });
  const { action } = await start();
  await until('the start', () => told.actions.length === 1);
  await new ChatApi({ baseUrl: secondUrl, token }).update({ actionId: action.actionId, status: 'done' });
  await until('the end', () => told.ended.length === 1);
});
