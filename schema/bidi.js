/*
 * Text from outside, as a page shows it. Bidirectional control characters (UAX #9, section 2) reorder the text beside them, so an address
 * or an amount could be shown as another one.
 */

/** Marks, embeddings, overrides and isolates. */
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text with each control character as its JSON escape, such as `\u202e`. @param {unknown} text */
export const escapeControls = text =>
  String(text).replace(CONTROLS, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
