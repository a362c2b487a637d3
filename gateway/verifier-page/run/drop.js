import '../../../subgraphs/receipt/verify/browser/without-eval.ts';
import { factsOfReceipt, factsOfRefusal, headlineOf } from '../../../rest-compat/receipt/page/facts.ts';
import { moneyText } from '../../../rest-compat/receipt/page/texts.js';
import { isSettled, receiptSummary, spendLanes } from '../../../schema/audit/receipt-summary.ts';
import { openTally } from '../../../schema/audit/receipt-tally.ts';
import { isZip } from '../../../schema/audit/zip.ts';
import { escapeControls } from '../../../schema/bidi.js';
import { explorerPage } from '../../../schema/explorers.ts';
import { keysBrought } from '../../../subgraphs/receipt/verify/audit.ts';
import { keysInBundle, verifyBundle } from '../../../subgraphs/receipt/verify/bundle.ts';
import { documentIn, needsKeys } from '../../../subgraphs/receipt/verify/document.ts';
import { envelopeIn } from '../../../subgraphs/receipt/verify/envelope.ts';
import { isIssuerHistory, isRevocations } from '../../../subgraphs/receipt/verify/histories.ts';
import { undecided, verify } from '../../../subgraphs/receipt/verify/module.ts';
import { documentFrom } from '../../../subgraphs/receipt/verify/read-document.ts';
import { byId, element, findingsOf, itemsOf, page, parent } from './findings.js';

/*
 * The program of `dist/verify/verify.html`: verifies each file that is dropped on the page, and text that is pasted, in this browser. It
 * sends no request.
 */

/** A key set by which no signature is valid. */
const NO_KEYS = { keys: [] };
/** Maximum size of a file. A published export has up to 200 rows, each with texts of callers. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
const FILES_MAX = 10_000;
/** Maximum number of documents that are shown as cards. More are shown as a table. */
const CARDS_MAX = 20;
const ROWS_AT_ONCE = 500;
/** Longest time of work without a pause in which the browser can draw. */
const BUSY_MS = 40;

/** @typedef {import('../../../subgraphs/receipt/verify/module.ts').VerifiedDocument} VerifiedDocument */
/** @typedef {Omit<VerifiedDocument, 'kind'> & {kind: string}} Verified */
/** The content of a file: bytes of an envelope, or JSON. @typedef {{name: string, bytes: any, json: any, fault: string | null}} Dropped */
/** A receipt in a document, and the claims that it signs. @typedef {{claims: any, document: any}} Receipt */
/** @typedef {{status: 'passed' | 'failed' | 'open', headline: string, detail: string, verified: Verified | null, receipt: any, receipts?: readonly Receipt[]}} Judgement */

/** @type {Dropped[]} */
let dropped = [];
/** Histories and lists of revocations among the dropped files. @type {any[]} */
let histories = [];
/** Key sets, in the order in which they were added. @type {{name: string, json: any}[]} */
const key_sets = [];
/** Files that were left out, each with the reason. @type {string[]} */
const left_out = [];
let pasted = 0;

/** @type {Record<string, string>} */
const kinds = {
  receipt: 'receipt',
  refusal: 'refusal',
  export: 'export of a book',
  audit_pack: 'audit pack of a book',
  receipt_audit: 'audit document of a receipt',
  refusal_audit: 'audit document of a refusal',
  inflow: 'claim of an inflow',
  verdict: 'verdict of a dispute',
  reconciliation: 'reconciliation of a wallet',
  totals: 'statement or proof of totals',
  issuer_history: 'history of an issuer’s keys',
  receipt_policy_history: 'history of receipt policies',
  revocations: 'list of revoked keys',
  ingest_record: 'record of a payment to somebody else',
  allowance: 'allowance of a book',
  statement: 'receipt as a statement (COSE)',
  credential: 'receipt as a credential (JWT)',
  export_coverage: 'coverage of an export',
  log_break: 'declaration of a break of the log',
  log_breaks: 'list of declared breaks of the log',
  tree_head: 'signed tree head of the log',
  checkpoint: 'checkpoint of the log',
  log_proof: 'proof of the log',
  token: 'token by itself',
  agent_card: 'agent card (A2A)',
  offer: 'signed offer (x402)',
  delivery: 'signed receipt of x402',
  session_grant: 'grant of a session',
  session_act: 'act of a session',
  session_revocation: 'revocation of a session',
  wallet_text: 'text signed by a wallet',
  webhook_message: 'message of a webhook',
  hmac: 'signature by a shared secret',
  unsigned: 'document',
};

const RECEIPTS = ['receipt', 'receipt_audit', 'statement', 'credential'];

/** @param {any} value */
const isKeySet = value => Array.isArray(value?.keys) && value.schema === undefined;

/** @param {string} name @param {Uint8Array} bytes @returns {Dropped} */
function readBytes(name, bytes) {
  if (isZip(bytes)) return { name, bytes, json: null, fault: null };
  const json = documentFrom(bytes);
  if (json) return { name, bytes: null, json, fault: null };
  const envelope = envelopeIn(Buffer.from(bytes));
  if (envelope) return { name, bytes, json: null, fault: null };
  const fault =
    'The file is not a document that can be verified: it is neither a JSON object (without duplicate members) nor a statement, a token, a checkpoint or a bundle.';
  return { name, bytes: null, json: null, fault };
}

/** @param {any} file @returns {Promise<Dropped>} */
async function readFile(file) {
  const { name } = file;
  if (file.size <= FILE_BYTES_MAX) return readBytes(name, new Uint8Array(await file.arrayBuffer()));
  left_out.push(`${name}: longer than ${FILE_BYTES_MAX} bytes`);
  return { name, bytes: null, json: null, fault: `The file is longer than ${FILE_BYTES_MAX} bytes.` };
}

/** Id of the key that signed, according to the document. @param {any} document @returns {unknown} */
function kidOf(document) {
  const { issuer_signature, signature, receipt, refusal, statement } = document ?? {};
  return receipt || refusal || statement
    ? kidOf(receipt ?? refusal ?? statement)
    : (issuer_signature?.kid ?? signature?.kid);
}

/** The key set that has the key that signed; if none has it, the last one that was added. @param {any} document */
function keysFor(document) {
  const kid = kidOf(document);
  const having = key_sets.find(
    ({ json }) => kid !== undefined && json.keys.some((/** @type {any} */ key) => key?.kid === kid),
  );
  return having ?? key_sets.at(-1) ?? null;
}

/** @param {Dropped} file @returns {Judgement} */
function judge({ json, bytes, fault }) {
  const bare = { verified: null, receipt: null };
  if (fault !== null) return { status: 'failed', headline: 'Not a document', detail: fault, ...bare };
  if (bytes && isZip(bytes)) return judgeBundle(bytes);
  const document = json && documentIn(json);
  const keys = keysFor(document);
  const of_issuer = bytes ? envelopeIn(Buffer.from(bytes))?.needs_keys : needsKeys(document);
  if (!keys && of_issuer && (bytes || keysBrought(document) === null)) {
    const detail = 'The document contains no keys: also drop the key set of its issuer (/.well-known/jwks.json) here.';
    return { status: 'open', headline: 'Not checked', detail, ...bare };
  }
  const verified = bytes
    ? openEnvelope(bytes, keys?.json ?? NO_KEYS)
    : verify(document, keys?.json ?? keysBrought(document) ?? NO_KEYS, { histories });
  const what = kinds[verified.kind] ?? verified.kind;
  if (verified.fault && undecided(verified.fault)) {
    const open = verified.fault.code === 'not_signed' ? 'is not signed' : 'cannot be decided here';
    return { status: 'open', headline: `This ${what} ${open}`, detail: verified.fault.sentence, ...bare };
  }
  if (verified.fault) {
    const detail = `${verified.fault.sentence} (${verified.fault.code}) Do not rely on the document; get it again from its issuer.`;
    return { status: 'failed', headline: `This ${what} is NOT valid`, detail, verified, receipt: null };
  }
  const whose = !of_issuer
    ? 'Checked against the address of its signer: make sure whose address it is.'
    : keys
      ? `Checked with the keys in ${keys.name}: make sure that they are the keys of the issuer.`
      : 'Checked with the keys that it contains: compare them with a key set that you already trust.';
  const receipt = RECEIPTS.includes(verified.kind) ? (document?.receipt ?? document ?? {}) : null;
  if (receipt === null)
    return { status: 'passed', headline: `This ${what} is valid`, detail: whose, verified, receipt };
  const summary = receiptSummary(verified.claims ?? {}, receipt);
  return {
    status: isSettled(summary.lane) ? 'passed' : 'open',
    headline: `This ${what} is valid. ${headlineOf(summary)}`,
    detail: `${spendLanes[summary.lane].means} ${whose}`,
    verified,
    receipt,
  };
}

/** Verifies a bundle by the last key set that was added, or else by the keys in the bundle. @param {Uint8Array} bytes @returns {Judgement} */
function judgeBundle(bytes) {
  const given = key_sets.at(-1);
  const said = verifyBundle(bytes, given?.json ?? keysInBundle(bytes) ?? NO_KEYS);
  if (said.kind === 'invalid') {
    const { code, sentence, checks } = said;
    const verified = { kind: 'bundle', valid: false, checks, fault: { code, sentence }, claims: null, report: null };
    const detail = `${sentence} (${code}) Do not rely on the document; get it again from its issuer.`;
    return { status: 'failed', headline: 'This bundle of a book is NOT valid', detail, verified, receipt: null };
  }
  const { checks, claims, report, receipts } = said;
  const verified = { kind: 'bundle', valid: true, checks, fault: null, claims, report };
  const whole = 'Whether rows were left out cannot be verified, because no signature covers that.';
  const headline = `This bundle of a book is valid: ${claims.rows} rows, ${claims.receipts} receipts, ${claims.refusals} refusals`;
  const whose = given
    ? `Checked with the keys in ${given.name}.`
    : 'Checked with the keys that it contains: compare them with a key set that you already trust.';
  return {
    status: 'passed',
    headline,
    detail: `${report.unchecked[0]} ${whole} ${whose}`,
    verified,
    receipt: null,
    receipts,
  };
}

/** @param {Uint8Array} bytes @param {any} keys @returns {Verified} */
function openEnvelope(bytes, keys) {
  const envelope = envelopeIn(Buffer.from(bytes));
  if (!envelope) throw new TypeError('these bytes are not an envelope');
  const { payload: _payload, ...verified } = envelope.verify(keys);
  return { kind: envelope.kind, ...verified };
}

/** @param {Judgement} judgement @returns {Record<string, string>} */
function factsOf({ verified, receipt }) {
  const claims = verified?.claims;
  if (!claims) return {};
  if (receipt) return factsOfReceipt(claims, receipt);
  return verified.kind === 'refusal' || verified.kind === 'refusal_audit' ? factsOfRefusal(claims) : {};
}

/** The payment, with a link to an explorer of its network. @param {string} tag @param {string} payment_ref @param {unknown} profile */
function transactionIn(tag, payment_ref, profile) {
  const found = explorerPage(payment_ref, profile);
  const link = found && [
    ' ',
    element('a', `Look it up on ${found.name}`, { href: found.url, rel: 'noreferrer noopener' }),
  ];
  return parent(tag, {}, element('span', payment_ref), ...(link ?? []));
}

/** States that stand-ins were used, before any other fact. */
const developmentBanner = () =>
  parent(
    'p',
    { class: 'profile', role: 'note' },
    element('strong', 'development'),
    'Stand-ins were used: no real money moved.',
  );

/** @param {string} name @param {Judgement} judgement */
function cardOf(name, judgement) {
  const { status, headline, detail, verified } = judgement;
  const box = parent(
    'div',
    { class: 'verdict', role: 'status' },
    element('p', headline, { class: 'headline' }),
    element('p', detail, { class: 'detail' }),
  );
  const facts = Object.entries(factsOf(judgement)).flatMap(([term, text]) => [
    element('dt', term),
    term === 'Transaction' ? transactionIn('dd', text, verified?.claims?.profile) : element('dd', text),
  ]);
  return parent(
    'section',
    { class: 'document', 'data-status': status },
    element('h2', name),
    box,
    ...(verified?.claims?.profile === 'development' ? [developmentBanner()] : []),
    ...(facts.length > 0 ? [parent('dl', {}, ...facts)] : []),
    ...(verified ? [parent('ul', { class: 'checks' }, ...itemsOf(findingsOf(verified)))] : []),
  );
}

const words = { passed: 'Valid', failed: 'NOT valid', open: 'Look closer' };
const columns = ['File', 'Outcome', 'What it says', 'Payer', 'Payee', 'Reference'];

/** @param {string} name @param {Judgement} judgement */
function rowOf(name, judgement) {
  const { status, headline, verified, receipt } = judgement;
  const {
    payer = null,
    payee = null,
    payment_ref = null,
  } = receipt ? receiptSummary(verified?.claims ?? {}, receipt) : {};
  const button = element('button', name, { type: 'button' });
  button.addEventListener('click', () => byId('details').replaceChildren(cardOf(name, judgement)));
  return parent(
    'tr',
    { 'data-status': status },
    parent('td', {}, button),
    element('td', words[status], { class: 'status' }),
    ...[headline, payer, payee].map(text => element('td', text ?? '—')),
    transactionIn('td', payment_ref ?? '—', verified?.claims?.profile),
  );
}

/** @param {ReturnType<ReturnType<typeof openTally>['tally']>} tally @param {Record<string, number>} counts */
function summaryOf(
  { receipts, duplicates, transfers_repeated, spend, not_counted },
  { passed = 0, failed = 0, open = 0 },
) {
  const sum = (/** @type {any} */ { network, rail, payer, receipts: of, amount }) =>
    `${moneyText(amount, rail)} by ${payer} on ${network} (${of} receipts)`;
  return [
    `${passed + failed + open} documents: ${passed} valid, ${failed} NOT valid, ${open} to look closer at.`,
    `${receipts} receipts. Not counted again: ${duplicates} more documents of these receipts, ${transfers_repeated} receipts of a transfer that another receipt names.`,
    ...spend.map(each => `Spend whose transfer was seen: ${sum(each)}.`),
    ...not_counted.map(each => `Not counted as spend: ${sum(each)}.`),
    ...(left_out.length > 0 ? [`Left out: ${left_out.join('; ')}.`] : []),
  ].map(text => element('li', text));
}

const drawn = () => new Promise(resolve => page.setTimeout(resolve));
/** Number of the newest display. An earlier display that is still in progress stops. */
let shown = 0;

/** Shows all dropped documents again, because a new key set also applies to documents that were dropped before it. */
async function show() {
  const turn = ++shown;
  byId('keys').textContent = key_sets.length
    ? escapeControls(`Keys: ${key_sets.map(({ name }) => name).join(', ')}`)
    : 'Keys: none given. An audit document contains its own.';
  const as_table = dropped.length > CARDS_MAX;
  const body = page.document.createElement('tbody');
  const results = byId('results');
  const progress = element('progress', '', { max: String(dropped.length), 'aria-label': 'Documents verified' });
  byId('progress').replaceChildren(...(as_table ? [progress] : []));
  const tally = openTally();
  /** @type {Record<string, number>} */
  const counts = {};
  const made = [];
  let since = Date.now();
  for (const [at, file] of dropped.entries()) {
    const judgement = judge(file);
    counts[judgement.status] = (counts[judgement.status] ?? 0) + 1;
    const claims = judgement.verified?.claims ?? {};
    if (judgement.receipt) tally.add(claims, receiptSummary(claims, judgement.receipt));
    for (const each of judgement.receipts ?? []) tally.add(each.claims, receiptSummary(each.claims, each.document));
    made.push({ status: judgement.status, element: (as_table ? rowOf : cardOf)(file.name, judgement) });
    if (Date.now() - since < BUSY_MS) continue;
    progress.value = at + 1;
    await drawn();
    if (turn !== shown) return;
    since = Date.now();
  }
  // Documents that fail come first.
  const order = ['failed', 'open', 'passed'];
  const sorted = as_table ? made.sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status)) : made;
  const elements = sorted.map(each => each.element);
  const head = parent('thead', {}, parent('tr', {}, ...columns.map(name => element('th', name, { scope: 'col' }))));
  results.replaceChildren(
    ...(as_table ? [parent('div', { class: 'wide' }, parent('table', {}, head, body))] : elements),
  );
  // Inserting thousands of rows at once would block the browser for seconds.
  for (let from = 0; as_table && from < elements.length; from += ROWS_AT_ONCE) {
    body.append(...elements.slice(from, from + ROWS_AT_ONCE));
    await drawn();
    if (turn !== shown) return;
  }
  byId('details').replaceChildren();
  byId('progress').replaceChildren();
  const told = dropped.length > 1 || left_out.length > 0 ? summaryOf(tally.tally(), counts) : [];
  byId('summary').replaceChildren(...told);
  page.document.body.dataset.shown = String(dropped.length);
}

/** Adds files. Key sets are added before the documents that were dropped with them are verified. @param {readonly Dropped[]} files */
function add(files) {
  for (const one of files) if (one.fault === null && isKeySet(one.json)) key_sets.push(one);
  dropped = [...files.filter(({ json }) => !isKeySet(json)), ...dropped];
  const beyond = dropped.length - FILES_MAX;
  if (beyond > 0) left_out.push(`${beyond} documents beyond ${FILES_MAX}`);
  dropped = dropped.slice(0, FILES_MAX);
  histories = dropped.flatMap(({ json }) => (json && (isIssuerHistory(json) || isRevocations(json)) ? [json] : []));
  return show();
}

/** @param {Iterable<any>} files */
async function take(files) {
  const read = [];
  for (const file of files) read.push(await readFile(file));
  await add(read);
}

/** A document, or several with one on each line. @param {string} text */
function takeText(text) {
  const trimmed = text.trim();
  if (trimmed === '') return;
  const whole = readBytes('', Buffer.from(trimmed));
  const texts = whole.fault === null ? [trimmed] : trimmed.split('\n').filter(line => line.trim() !== '');
  add(texts.slice(0, FILES_MAX).map(line => readBytes(`pasted text ${++pasted}`, Buffer.from(line.trim()))));
}

/** Listens for files and text that are dropped, chosen or pasted. */
function verifyDropped() {
  const input = byId('files');
  input.addEventListener('change', async () => {
    await take(input.files);
    // The same file may be chosen again.
    input.value = '';
  });
  byId('paste').addEventListener('submit', (/** @type {any} */ event) => {
    event.preventDefault();
    takeText(byId('text').value);
    byId('text').value = '';
  });
  page.addEventListener('dragover', (/** @type {any} */ event) => event.preventDefault());
  page.addEventListener('drop', (/** @type {any} */ event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  page.document.body.dataset.ready = 'true';
  show();
}

verifyDropped();
