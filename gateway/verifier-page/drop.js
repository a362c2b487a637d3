import { receiptFacts, refusalFacts } from '../../rest-compat/receipt/page/check/facts.js';
import { shownBy } from '../../rest-compat/receipt/page/check/receipt-checks.js';
import { verify } from '../../subgraphs/receipt/verify/browser/module.ts';
import { strictJson } from '../../subgraphs/receipt/verify/strict-json.ts';

/*
 * Verifies each file that is dropped on the page, in this browser: the program of `dist/verify/verify.html`. It asks nobody.
 */

/** @type {any} */
const page = globalThis;
const { document } = page;

/** A published export has up to 200 rows, each with what callers wrote on it. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
const FILES_MAX = 200;

/** What a reader is told of a file, as text alone. @typedef {{status: 'passed' | 'failed' | 'open', headline: string, detail: string}} Verdict */
/** @typedef {{name: string, json: any, fault: string | null}} Dropped */

/** @type {Dropped[]} */
const dropped = [];
/** @type {{name: string, json: any} | null} */
let keys = null;

const kinds = {
  receipt: 'receipt',
  refusal: 'refusal',
  export: 'export of a book',
  receipt_audit: 'audit document of a receipt',
  refusal_audit: 'audit document of a refusal',
  inflow: 'claim of an inflow',
  verdict: 'verdict of a dispute',
};
const tellers = {
  receipt: receiptFacts,
  receipt_audit: receiptFacts,
  refusal: refusalFacts,
  refusal_audit: refusalFacts,
};

/** @param {any} value */
const isKeySet = value => Array.isArray(value?.keys) && value.schema === undefined;

/** @param {any} file @returns {Promise<Dropped>} */
async function read(file) {
  const { name } = file;
  if (file.size > FILE_BYTES_MAX) return { name, json: null, fault: `It is longer than ${FILE_BYTES_MAX} bytes.` };
  const json = strictJson(new Uint8Array(await file.arrayBuffer()));
  return { name, json, fault: json ? null : 'It holds no JSON object, or one that names a member twice.' };
}

/** Made of text alone: nothing of a file is ever read as markup. @param {string} tag @param {string} text @param {Record<string, string>} [attributes] */
function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** @param {Dropped} file @returns {{verdict: Verdict, said: any}} */
function judge({ json, fault }) {
  if (fault !== null) return { verdict: { status: 'failed', headline: 'Not a document', detail: fault }, said: null };
  try {
    const said = verify(json, keys?.json ?? null);
    const what = kinds[/** @type {keyof typeof kinds} */ (said.kind)];
    if (said.fault) {
      const detail = `${said.fault.sentence} (${said.fault.code}) Nothing in it is to be believed.`;
      return { verdict: { status: 'failed', headline: `This ${what} is NOT valid`, detail }, said };
    }
    const whose = keys
      ? `By the keys in ${keys.name}: whether those are the issuer’s is for you to know.`
      : 'By the keys that it brings itself: compare them with a key set that you had before.';
    return { verdict: { status: 'passed', headline: `This ${what} is valid`, detail: whose }, said };
  } catch {
    const detail = 'It brings no keys: drop the key set of its issuer (/.well-known/jwks.json) here, too.';
    return { verdict: { status: 'open', headline: 'Not checked', detail }, said: null };
  }
}

/** @param {any} said @returns {{status: string, word: string, text: string}[]} */
function linesOf({ checks, fault, report }) {
  const line = (/** @type {string} */ status, /** @type {string} */ word) => (/** @type {string} */ text) => ({
    status,
    word,
    text,
  });
  const { unsigned, broken, unchecked } = report ?? { unsigned: { lane: [], unknown: [] }, broken: [], unchecked: [] };
  return [
    ...checks.map((/** @type {any} */ check) => line('passed', 'Passed')(check.sentence)),
    ...(fault ? [line('failed', 'Failed')(`${fault.sentence} (${fault.code})`)] : []),
    ...broken.map((/** @type {string} */ name) =>
      line('failed', 'Broken')(`${name} does not verify; another signature does.`),
    ),
    ...unsigned.unknown.map((/** @type {string} */ name) =>
      line('failed', 'Not signed')(`${name} is no part of such a document.`),
    ),
    ...unsigned.lane.map((/** @type {string} */ name) =>
      line('open', 'Not signed')(`${name} stands beside what was signed, and may change.`),
    ),
    ...unchecked.map(line('open', 'Not checked')),
  ];
}

/** @param {any} said */
function factsOf({ kind, claims }) {
  const teller = tellers[/** @type {keyof typeof tellers} */ (kind)];
  const list = document.createElement('dl');
  for (const [name, text] of Object.entries(teller !== undefined && claims ? shownBy(teller(claims)) : {}))
    list.append(element('dt', name), element('dd', text));
  return list.childElementCount > 0 ? [list] : [];
}

/** @param {any} said */
function checksOf(said) {
  const list = element('ul', '', { class: 'checks' });
  for (const { status, word, text } of linesOf(said)) {
    const item = element('li', '', { 'data-status': status });
    item.append(element('span', word, { class: 'status' }), element('span', text));
    list.append(item);
  }
  return list;
}

/** What was made with stand-ins says so before all else that is told of it. */
function developmentBanner() {
  const banner = element('p', '', { class: 'profile', role: 'note' });
  banner.append(element('strong', 'development'), 'Stand-ins were in use: no real money moved.');
  return banner;
}

/** @param {Dropped} file */
function cardOf(file) {
  const { verdict, said } = judge(file);
  const card = element('section', '', { class: 'document', 'data-status': verdict.status });
  const box = element('div', '', { class: 'verdict', role: 'status' });
  box.append(element('p', verdict.headline, { class: 'headline' }), element('p', verdict.detail, { class: 'detail' }));
  card.append(element('h2', file.name), box);
  if (said?.claims?.profile === 'development') card.append(developmentBanner());
  if (said) card.append(...factsOf(said), checksOf(said));
  return card;
}

function show() {
  document.getElementById('keys').textContent = keys
    ? `Keys: ${keys.name}`
    : 'Keys: none given; an audit document brings its own.';
  document.getElementById('results').replaceChildren(...dropped.map(cardOf));
}

/** @param {Iterable<any>} files */
async function take(files) {
  for (const file of [...files].slice(0, FILES_MAX)) {
    const one = await read(file);
    if (one.fault === null && isKeySet(one.json)) keys = one;
    else dropped.unshift(one);
  }
  dropped.length = Math.min(dropped.length, FILES_MAX);
  show();
}

const input = document.getElementById('files');
input.addEventListener('change', async () => {
  await take(input.files);
  // The same file may be chosen again.
  input.value = '';
});
page.addEventListener('dragover', (/** @type {any} */ event) => event.preventDefault());
page.addEventListener('drop', (/** @type {any} */ event) => {
  event.preventDefault();
  take(event.dataTransfer.files);
});
document.body.dataset.ready = 'true';
show();
