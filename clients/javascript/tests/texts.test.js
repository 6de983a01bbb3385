import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  botActionTypes, defaultTexts, errorTextOf, errorTexts, languageOf, languages, progressOf, stepOf, textOf,
} from '../src/index.js';

test('every type of the contract has a text in every language, and no text is without its type', () => {
  const names = [...botActionTypes, 'other'].sort();
  for (const language of languages) assert.deepEqual(Object.keys(defaultTexts[language]).sort(), names, language);
  for (const language of languages) assert.deepEqual(Object.keys(errorTexts[language]).sort(), ['other', 'timeout'], language);
});

test('the Russian texts are those of the contract', () => {
  const ru = (actionType) => textOf({ actionType });
  assert.equal(ru('transcribe_audio'), 'Готовим стенограмму…');
  assert.equal(ru('summarize'), 'Готовим саммари…');
  assert.equal(ru('generate_image'), 'Создаём изображение…');
  assert.equal(ru('process_file'), 'Обрабатываем файл…');
  assert.equal(ru('of_the_future'), 'Выполняем действие…');
});

test('its own text comes first, then that of its type, then the neutral one', () => {
  assert.equal(textOf({ actionType: 'summarize', displayText: 'Читаю 40 страниц' }), 'Читаю 40 страниц');
  assert.equal(textOf({ actionType: 'summarize', displayText: '  ' }), 'Готовим саммари…');
  assert.equal(textOf({ actionType: 'summarize', displayText: null }, 'en'), 'Preparing the summary…');
  assert.equal(textOf({ actionType: 'brew_coffee' }), 'Выполняем действие…');
  assert.equal(textOf({ actionType: 'brew_coffee', displayText: 'Варю кофе' }), 'Варю кофе');
  for (const actionType of ['toString', '__proto__', 'constructor']) assert.equal(textOf({ actionType }), 'Выполняем действие…');
});

test('an error says what it says, or that the time ran out, or that it failed', () => {
  assert.equal(errorTextOf({ actionType: 'x', displayText: 'Файл повреждён' }), 'Файл повреждён');
  assert.equal(errorTextOf({ actionType: 'x', payload: { code: 'timeout' } }), 'Время ожидания истекло');
  assert.equal(errorTextOf({ actionType: 'x' }, 'en'), 'The action failed');
  assert.equal(errorTextOf({ actionType: 'x', displayText: 'Файл слишком велик', payload: { code: 'timeout' } }), 'Файл слишком велик');
  assert.equal(errorTextOf({ actionType: 'summarize', payload: { code: 'of_its_own', progress: 0.4 } }), 'Не получилось выполнить действие');
});

test('progress is a number from 0 to 1 and nothing else', () => {
  const progress = (value) => progressOf({ actionType: 'x', payload: { progress: value } });
  assert.deepEqual([0, 0.25, 1].map(progress), [0, 0.25, 1]);
  assert.deepEqual([-0.1, 1.1, NaN, Infinity, '0.5', null, {}].map(progress), Array(7).fill(null));
  assert.equal(progressOf({ actionType: 'x' }), null);
  assert.equal(stepOf({ actionType: 'x', payload: { step: ' 2 of 5 ' } }), '2 of 5');
  assert.equal(stepOf({ actionType: 'x', payload: { step: { a: 1 } } }), '');
  assert.equal(stepOf({ actionType: 'x', payload: { step: 'photo\u202egpj.exe\nof 5\u2066' } }), 'photogpj.exe of 5');
  assert.equal(stepOf({ actionType: 'x', payload: { step: '🎧'.repeat(400) } }), '🎧'.repeat(300), 'no half of a character');
});

test('a language is chosen by what the reader wants', () => {
  assert.equal(languageOf(['de-DE', 'en-GB', 'ru']), 'en');
  assert.equal(languageOf('ru-RU'), 'ru');
  assert.equal(languageOf(['de']), 'ru');
  assert.equal(languageOf(undefined, 'en'), 'en');
});
