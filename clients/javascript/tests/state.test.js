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

test('what the snapshot does not know of its own past was over: it is neither shown nor told', () => {
  const state = new ChatState(['before']);
  state.snapshot({ actions: [action('a', 'processing', 5)], cursor: '100-0' });
  const untold = { isChanged: false, ended: null };
  // Later as texts, earlier as numbers.
  assert.deepEqual(state.action(action('old', 'processing', 1), '99-7'), untold);
  assert.deepEqual(state.action(action('old', 'error', 2), '99-8'), untold);
  assert.deepEqual(state.action(action('equal', 'processing', 1), '100-0'), untold);
  assert.deepEqual(ids(state), ['a']);
  assert.equal(state.action(action('a', 'done', 6), '99-9').ended.actionId, 'a', 'what is known goes by its time');
  assert.deepEqual(state.action(action('before', 'processing', 1), '98-1'), untold);
  assert.equal(state.action(action('before', 'error', 2), '98-2').ended.actionId, 'before', 'somebody saw it active');
  for (const id of ['100-1', '1000-0', undefined, 'of another server']) {
    assert.equal(state.action(action(`new ${id}`, 'processing', 7), id).isChanged, true, id);
  }
});

test('cursors are compared as whole numbers of any size', () => {
  const state = new ChatState();
  state.snapshot({ actions: [], cursor: '18446744073709551614-9007199254740992' });
  assert.equal(state.action(action('a', 'processing', 1), '18446744073709551614-9007199254740992').isChanged, false);
  assert.equal(state.action(action('b', 'processing', 1), '18446744073709551614-9007199254740993').isChanged, true);
  assert.equal(state.action(action('c', 'processing', 1), '18446744073709551615-0').isChanged, true);
});

test('a list that is cut off does not say what is over', () => {
  const state = new ChatState();
  const actions = Array.from({ length: 200 }, (_, n) => action(`x${n}`, 'processing', n + 2));
  state.snapshot({ actions: [], cursor: '50-0' });
  state.snapshot({ actions, cursor: '100-0' });
  assert.equal(state.action(action('a', 'processing', 1), '60-1').isChanged, true);
  assert.equal(state.action(action('b', 'processing', 1), '40-1').isChanged, false, 'the whole one before it still does');
});

test('a list that is cut off ends nothing', () => {
  const state = new ChatState();
  state.action(action('a', 'processing', 1));
  const actions = Array.from({ length: 200 }, (_, n) => action(`x${n}`, 'processing', n + 2));
  state.snapshot({ actions });
  assert.equal(state.active().length, 201);
});

test('a change of the time alone is remembered and not told', () => {
  const state = new ChatState();
  const content = { displayText: 'Читаю', payload: { pages: [1, { of: 2 }], step: 'x' } };
  state.action(action('a', 'processing', 1, content));
  const reordered = { payload: { step: 'x', pages: [1, { of: 2 }] }, displayText: 'Читаю' };
  assert.deepEqual(state.action({ ...reordered, ...action('a', 'processing', 2) }), { isChanged: false, ended: null });
  assert.equal(state.active()[0].updatedAt, at(2));
  assert.equal(state.action(action('a', 'processing', 1, { displayText: 'old' })).isChanged, false);
  let n = 2;
  for (const payload of [{ pages: [1, { of: 3 }], step: 'x' }, { pages: [1] }, { pages: { 0: 1 } }, { pages: null }, {}, null, { step: 1 }]) {
    assert.equal(state.action(action('a', 'processing', (n += 1), { ...content, payload })).isChanged, true, JSON.stringify(payload));
    assert.equal(state.action(action('a', 'processing', (n += 1), { ...content, payload })).isChanged, false, JSON.stringify(payload));
  }
  assert.equal(state.action(action('a', 'processing', n + 1, { displayText: null, payload: { step: 1 } })).isChanged, true);
  assert.equal(state.action(action('a', 'processing', n + 2, { payload: { step: 1 } })).isChanged, false, 'null is absent');
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

test('what was said up to the first look is not new', () => {
  const state = new ChatState();
  state.looked(7);
  assert.equal(state.newestSeq, 7);
  assert.deepEqual([7, 6, 8, 8].map((seq) => state.message({ seq })), [false, false, true, false]);
  const empty = new ChatState();
  empty.looked();
  assert.equal(empty.newestSeq, 0);
  assert.equal(empty.message({ seq: 1 }), true);
});

test('numbers of messages are forgotten in the end, and one from before them is no new message', () => {
  const state = new ChatState();
  for (let seq = 10; seq <= 5000; seq += 1) if (seq !== 4990) assert.equal(state.message({ seq }), true);
  assert.deepEqual([10, 2500, 4989, 5000].map((seq) => state.message({ seq })), [false, false, false, false]);
  assert.equal(state.message({ seq: 9 }), false, 'nothing comes thousands of messages late');
  assert.equal(state.message({ seq: 4990 }), true, 'a little late is still new');
  assert.equal(state.newestSeq, 5000);
});
