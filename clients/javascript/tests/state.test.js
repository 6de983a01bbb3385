import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ChatState } from '../src/state.js';

const at = (n) => `2026-03-02T09:00:00.${String(n).padStart(6, '0')}Z`;
const action = (actionId, status, n, more = {}) => ({
  workspaceId: 'w', chatId: 'c', actionId, actionType: 'summarize', status, createdAt: at(0), updatedAt: at(n), ...more,
});
const ids = (state) => state.active().map(({ actionId }) => actionId);

test('a repeat changes nothing', () => {
  const state = new ChatState();
  assert.deepEqual(state.action(action('a', 'processing', 1)), { isChanged: true, ended: null });
  assert.deepEqual(state.action(action('a', 'processing', 1)), { isChanged: false, ended: null });
  const done = action('a', 'done', 2);
  assert.deepEqual(state.action(done), { isChanged: true, ended: done });
  assert.deepEqual(state.action(done), { isChanged: false, ended: null });
});

test('a stale update changes nothing', () => {
  const state = new ChatState();
  state.action(action('a', 'processing', 5, { displayText: 'new' }));
  assert.equal(state.action(action('a', 'processing', 4, { displayText: 'old' })).isChanged, false);
  assert.equal(state.active()[0].displayText, 'new');
});

test('nothing brings an ended action back, and the first ending stays', () => {
  const state = new ChatState();
  state.action(action('a', 'done', 2));
  assert.equal(state.action(action('a', 'processing', 1)).isChanged, false);
  assert.equal(state.action(action('a', 'processing', 9)).isChanged, false);
  assert.deepEqual(state.action(action('a', 'error', 9)), { isChanged: false, ended: null });
  assert.deepEqual(ids(state), []);
});

test('an end is told only of what somebody saw active, also before a reload', () => {
  const state = new ChatState(['b']);
  assert.equal(state.action(action('a', 'error', 2)).ended, null);
  assert.equal(state.snapshot({ actions: [], recent: [action('b', 'error', 2)] }).ended[0].actionId, 'b');
  assert.deepEqual(state.snapshot({ actions: [], recent: [action('b', 'error', 2)] }).ended, []);
});

test('the last change comes first', () => {
  const state = new ChatState();
  for (const [id, n] of [['a', 1], ['b', 10], ['c', 9]]) state.action(action(id, 'processing', n));
  assert.deepEqual(ids(state), ['b', 'c', 'a']);
  state.action(action('a', 'processing', 11));
  assert.deepEqual(ids(state), ['a', 'b', 'c']);
});

test('a snapshot tells what ended meanwhile, and what is in no list has ended unseen', () => {
  const state = new ChatState();
  for (const id of ['a', 'b', 'c']) state.action(action(id, 'processing', 1));
  const failed = action('b', 'error', 3, { displayText: 'Сломалось' });
  const { isChanged, ended } = state.snapshot({ actions: [action('a', 'processing', 2)], recent: [failed] });
  assert.equal(isChanged, true);
  assert.deepEqual(ended, [failed]);
  assert.deepEqual(ids(state), ['a']);
  // The stream tells of the past once more: the unseen end is told, its progress before it is not.
  assert.equal(state.action(action('c', 'processing', 2)).isChanged, false);
  assert.equal(state.action(action('c', 'done', 3)).ended.actionId, 'c');
  assert.equal(state.action(action('b', 'processing', 2)).isChanged, false);
});

test('a list that is cut off ends nothing', () => {
  const state = new ChatState();
  state.action(action('a', 'processing', 1));
  const actions = Array.from({ length: 200 }, (_, n) => action(`x${n}`, 'processing', n + 2));
  state.snapshot({ actions });
  assert.equal(state.active().length, 201);
});

test('times may be absent, then the content decides', () => {
  const state = new ChatState();
  const bare = { workspaceId: 'w', chatId: 'c', actionId: 'a', actionType: 'x', status: 'processing' };
  assert.equal(state.action(bare).isChanged, true);
  assert.equal(state.action({ ...bare }).isChanged, false);
  assert.equal(state.action({ ...bare, displayText: 'more' }).isChanged, true);
});

test('ended actions are forgotten in the end, active ones never', () => {
  const state = new ChatState();
  state.action(action('old', 'processing', 1));
  for (let n = 0; n < 5000; n += 1) {
    state.action(action(`a${n}`, 'processing', n + 2));
    state.action(action(`a${n}`, 'done', n + 3));
  }
  assert.deepEqual(ids(state), ['old']);
  assert.equal(state.action(action('a4999', 'processing', 1)).isChanged, false);
});

test('a message is new once, in whatever order', () => {
  const state = new ChatState();
  assert.equal(state.newestSeq, null);
  assert.deepEqual([2, 1, 2, 3, 1].map((seq) => state.message({ seq })), [true, true, false, true, false]);
  assert.equal(state.newestSeq, 3);
});
