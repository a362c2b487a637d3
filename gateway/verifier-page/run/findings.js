import { escapeControls } from '../../../schema/bidi.js';

/*
 * Findings of the verifier about a document, line by line, as elements of a page. They are made from text alone, so that the content of a
 * document is never read as markup.
 */

/** @typedef {Omit<import('../../../subgraphs/receipt/verify/module.ts').VerifiedDocument, 'kind'>} VerifiedDocument */
/** @typedef {'passed' | 'failed' | 'open'} Status */
/** @typedef {{status: Status, word: string, text: string, code: string}} Finding */

/** @param {Status} status @param {string} word @param {string} text @param {string} [code] @returns {Finding} */
export const finding = (status, word, text, code = '') => ({ status, word, text, code });

/** @param {VerifiedDocument} verified @returns {Finding[]} */
export function findingsOf({ checks, fault, report }) {
  const { unsigned, broken, unchecked } = report ?? { unsigned: { lane: [], unknown: [] }, broken: [], unchecked: [] };
  return [
    ...checks.map(({ sentence }) => finding('passed', 'Passed', sentence)),
    ...(fault ? [finding('failed', 'Failed', `${fault.sentence} (${fault.code})`, fault.code)] : []),
    ...broken.map(name =>
      finding(
        'failed',
        'Broken',
        `${name} is not a valid signature. Another signature of the document is valid.`,
        name,
      ),
    ),
    ...unsigned.unknown.map(name =>
      finding(
        'failed',
        'Not signed',
        `${name} is not a known member of such a document. It was added after signing.`,
        name,
      ),
    ),
    // In one row, because a receipt has a dozen of them.
    ...(unsigned.lane.length > 0
      ? [finding('open', 'Not signed', `These members are not signed, and may change: ${unsigned.lane.join(', ')}.`)]
      : []),
    ...unchecked.map(sentence => finding('open', 'Not checked', sentence)),
  ];
}

/** @param {readonly Finding[]} findings @returns {any[]} */
export const itemsOf = findings =>
  findings.map(({ status, word, text, code }) =>
    parent(
      'li',
      { 'data-status': status, ...(code && { 'data-check': code }) },
      element('span', word, { class: 'status' }),
      element('span', text),
    ),
  );

/** @type {any} */
export const page = globalThis;

/** @param {string} id @returns {any} */
export const byId = id => page.document.getElementById(id);

/** @param {string} tag @param {string} text @param {Record<string, string>} [attributes] @returns {any} */
export function element(tag, text, attributes = {}) {
  const made = page.document.createElement(tag);
  made.textContent = escapeControls(text);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** @param {string} tag @param {Record<string, string>} attributes @param {...any} children @returns {any} */
export function parent(tag, attributes, ...children) {
  const made = element(tag, '', attributes);
  made.append(...children);
  return made;
}
