import { escapeControls } from '../../../../schema/bidi.js';

/*
 * Elements of these pages. Untrusted values are inserted as text, never as markup.
 */

/** @type {any} */
export const page = globalThis;

/** @param {string} id */
export const byId = id => page.document.getElementById(id);

/** @param {string} tag @param {unknown} [text] */
export function elementOf(tag, text = '') {
  const element = page.document.createElement(tag);
  element.textContent = escapeControls(text);
  return element;
}
