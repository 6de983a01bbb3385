// Which text a person sees while a bot is at work, and when it failed. The texts themselves are generated: see ../types.js.

import { defaultTexts, errorTexts } from '../types.js';

export const languages = /** @type {const} */ (['ru', 'en']);

/**
 * The first of the wanted languages that there are texts in: `languageOf(navigator.languages)`.
 *
 * @type {typeof import('./index.d.ts').languageOf}
 */
export function languageOf(wanted, otherwise = 'ru') {
  for (const tag of [wanted].flat()) {
    const language = languages.find((known) => known === String(tag ?? '').toLowerCase().split('-')[0]);
    if (language) return language;
  }
  return otherwise;
}

const own = (texts, key) => (Object.hasOwn(texts, key) ? texts[key] : undefined);
const given = (action) => (typeof action.displayText === 'string' ? action.displayText.trim() : '');

/**
 * What to show while an action is active: its own text, or that of its type, or the neutral one.
 *
 * @type {typeof import('./index.d.ts').textOf}
 */
export function textOf(action, language = 'ru') {
  return given(action) || own(defaultTexts[language], action.actionType) || defaultTexts[language].other;
}

/**
 * What to show, once, when an action has ended with an error.
 *
 * @type {typeof import('./index.d.ts').errorTextOf}
 */
export function errorTextOf(action, language = 'ru') {
  return given(action) || own(errorTexts[language], action.payload?.code) || errorTexts[language].other;
}

/**
 * How far an action is, from 0 to 1; null when it does not say, or says something else.
 *
 * @type {typeof import('./index.d.ts').progressOf}
 */
export function progressOf(action) {
  const progress = action.payload?.progress;
  return typeof progress === 'number' && progress >= 0 && progress <= 1 ? progress : null;
}

/**
 * What an action is at right now, in its own words; empty when it does not say.
 *
 * @type {typeof import('./index.d.ts').stepOf}
 */
export function stepOf(action) {
  const step = action.payload?.step;
  if (typeof step !== 'string' && typeof step !== 'number') return '';
  // A payload is the bot's own and comes as it was sent: what turns the direction of a text would turn the words around it too.
  const plain = String(step).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufeff]/g, '');
  return [...plain.trim()].slice(0, 300).join('');
}
