export * from '../types.js';
export { BerestaError, ChatApi, newId } from './api.js';
export { errorTextOf, languageOf, languages, progressOf, stepOf, textOf } from './texts.js';
export { watchChat } from './watch.js';
