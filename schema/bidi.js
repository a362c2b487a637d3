/*
 * Text of strangers on a page. Controls of the bidirectional algorithm (UAX #9, 2) reorder what stands beside them: an address or a sum
 * could be shown as another one.
 */

/** Marks, embeddings, overrides and isolates. */
const CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Each control as JSON may write it, such as `\u202e`. Text without them stays as it is. @param {unknown} text */
export const visibleText = text =>
  String(text).replace(CONTROLS, it => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
