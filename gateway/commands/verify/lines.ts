import { headlineOf } from '../../../rest-compat/receipt/page/facts.ts';
import { moneyText } from '../../../rest-compat/receipt/page/texts.js';
import type { ExportCover } from '../../../schema/audit/export-cover.ts';
import { type ReceiptSummary, spendLanes } from '../../../schema/audit/receipt-summary.ts';
import type { ReceiptTally } from '../../../schema/audit/receipt-tally.ts';
import { isJsonObject } from '../../../schema/canonical-json.ts';
import { notSettledHere } from '../../../schema/router/work-report.ts';
import type { VerifiedDocument } from '../../../subgraphs/receipt/verify/module.ts';
import { documentOutcome, type ExaminedDocument } from './examine.ts';

/* Results as lines for people. */

interface KindTexts {
  /** Label of the first line. */
  readonly head: string;
  /** Name of the kind within sentences. */
  readonly noun: string;
  /** Lines for a valid document. */
  valid(claims: Claims): readonly string[];
}

type Claims = NonNullable<VerifiedDocument['claims']>;

const ofReceipt = (claims: Claims) => [
  `Valid: task ${claims.jti}, signed by ${claims.iss}, ${bookText(claims)}.`,
  ...(claims.profile === undefined ? [] : [`Made in the ${claims.profile} profile: no real money moved.`]),
  ...(isJsonObject(claims.reported) ? [notSettledHere(claims.reported)] : []),
];

/** The book that a receipt signs. Receipts of payload version 8 could not sign one yet. */
function bookText({ claim_id, book_id, payload_version }: Claims): string {
  const book = claim_id ?? book_id ?? null;
  if (book !== null) return `on book ${book}`;
  return payload_version === 8 ? 'which does not sign its book (payload version 8)' : 'on no book';
}

/** Lines about the payment of a receipt in any form. */
function linesOfSpend(spend: ReceiptSummary): string[] {
  return [
    `${spendText(spend)}.`,
    spendLanes[spend.lane].means,
    ...(spend.payment_ref === null
      ? []
      : [`The signature does not prove that the money moved: look up ${spend.payment_ref} on its network.`]),
  ];
}

/** Payer, payee, amount and reference of a payment in one line, marked if it is not spend. */
function spendText(spend: ReceiptSummary): string {
  const { payer, payee, payment_ref } = spend;
  const parties = [
    ...(payer === null ? [] : [`by ${payer}`]),
    ...(payee === null ? [] : [`to ${payee}`]),
    ...(payment_ref === null ? [] : [`in ${payment_ref}`]),
  ];
  const said = [headlineOf(spend), ...(payment_ref === null ? [] : parties)].join(' ');
  return spend.is_spend ? said : `${said} (not spend)`;
}

/** Lines about the rows that an export contains. */
function linesOfCover({ rows, of, complete, cut_off, filtered_out, filters }: ExportCover): string[] {
  const chosen = Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  return [
    `The export has ${rows ?? 'an unknown number of'} of ${of ?? 'an unknown number of'} rows of the book: it is ${complete ? 'complete' : 'NOT complete'}.`,
    `Filters: ${chosen.length > 0 ? chosen.join(', ') : 'none'}. Rows omitted by filters: ${filtered_out ?? 'unknown'}; by the limit: ${cut_off ?? 'unknown'}.`,
  ];
}

/** Lines with the sums of a directory's receipts. */
export function linesOfTally({ receipts, duplicates, transfers_repeated, spend, not_counted }: ReceiptTally): string[] {
  if (receipts === 0) return [];
  const sum = ({ network, rail, payer, receipts: of, amount }: ReceiptTally['spend'][number]) =>
    `${moneyText(amount, rail)} by ${payer} on ${network} (${of} receipts)`;
  return [
    `${receipts} receipts. Not counted again: ${duplicates} more documents of these receipts, ${transfers_repeated} receipts of a transfer that another receipt names.`,
    ...spend.map(each => `Spend whose transfer was seen: ${sum(each)}.`),
    ...not_counted.map(each => `Not counted as spend: ${sum(each)}.`),
  ].map(plain);
}

const versionText = (ref: Claims[string] | undefined) => `version ${isJsonObject(ref) ? ref.version : 'unknown'}`;

const ofRefusal = ({ jti, iss, agent_id, policy_blocked_seq, policy_code }: Claims) => [
  `Valid: ${jti}, signed by ${iss}: ${policy_code}, row ${policy_blocked_seq} of book ${agent_id}.`,
  'Nothing was charged. It is not a receipt and not spend.',
];

const ofEnvelope = ({ task_id, payload_hash, iss, signed_at }: Claims) => [
  `Valid: task ${task_id}, payload ${payload_hash}.`,
  `Signed in this form by ${iss} at ${signed_at}.`,
];

/** Lines with a verdict's facts other than its outcome. */
function ofVerdict({ revision, final, decides_after, standing_task_id, owed_back, owed_by_winner }: Claims): string[] {
  const [back, by_winner] = [owed_back, owed_by_winner].map(owed => (isJsonObject(owed) ? owed : null));
  return [
    ...(back ? [`The issuer owes back ${back.amount} atomic USDC, the charge of ${back.task_id}.`] : []),
    ...(by_winner
      ? [
          `The winner, agent ${by_winner.agent_id}, was paid ${by_winner.amount} atomic USDC: this is not a debt of the issuer.`,
        ]
      : []),
    ...(standing_task_id === undefined ? [] : [`The charge of ${standing_task_id} stands.`]),
    ...(decides_after === undefined ? [] : [`It can be decided after ${decides_after}: file the same dispute again.`]),
    ...(revision === undefined
      ? []
      : [`Judgement ${revision}${final === true ? ', final.' : ': a later verdict may supersede it.'}`]),
  ];
}

const ofLogBreak = ({ iss, found, reason, declared_at }: Claims) => [
  `Valid: ${iss} declared at ${declared_at} that the log goes on from ${isJsonObject(found) ? found.tree_size : 'an unknown number of'} leaves: ${reason}`,
];

const ofCheckpoint = ({ origin, tree_size, root_hash, cosignatures }: Claims) => [
  `Valid: ${origin} had ${tree_size} leaves and the root ${root_hash}.`,
  ...(Array.isArray(cosignatures) ? cosignatures.filter(isJsonObject) : []).map(
    ({ witness, at }) => `Cosigned by ${witness} at ${at}.`,
  ),
];

const forService = (service: Claims[string] | undefined) =>
  typeof service === 'string' ? `for ${service}` : 'for an unknown service';

const kinds: Readonly<Record<ExaminedDocument['kind'], KindTexts>> = {
  statement: {
    head: 'Statement',
    noun: 'statement',
    valid: claims => [`In the log: leaf ${claims.leaf_index} of ${claims.tree_size}.`, ...ofEnvelope(claims)],
  },
  credential: { head: 'Credential', noun: 'credential', valid: ofEnvelope },
  receipt: { head: 'Receipt', noun: 'receipt', valid: claims => ofReceipt(claims) },
  receipt_audit: { head: 'Audit', noun: 'receipt', valid: claims => ofReceipt(claims) },
  refusal: { head: 'Refusal', noun: 'refusal', valid: ofRefusal },
  refusal_audit: { head: 'Audit', noun: 'refusal', valid: ofRefusal },
  export: {
    head: 'Export',
    noun: 'export',
    valid: ({ slug, iss, agent_id, exported_at, specimen }) => [
      `Valid: export ${slug} of book ${agent_id}, as it stood at ${exported_at}, signed by ${iss}.`,
      ...(specimen === true ? ['A specimen: made in the development profile, where no real money moves.'] : []),
    ],
  },
  inflow: {
    head: 'Inflow',
    noun: 'claim',
    valid: ({ task_id, iss, agent_id, bucket, allocation, corrects }) => [
      `Valid: ${task_id}${corrects === undefined ? '' : `, in place of ${corrects}`}, signed by ${iss}: ${allocation} to ${bucket}, on book ${agent_id}.`,
      'A claim, not a payment: it is neither money that moved nor spend.',
    ],
  },
  verdict: {
    head: 'Verdict',
    noun: 'verdict',
    valid: ({ dispute_id, iss, agent_id, task_id, claim_type, outcome = 'open', reason, ...said }) => [
      `Valid: ${dispute_id}, signed by ${iss}: ${claim_type} of ${task_id}, on book ${agent_id}.`,
      `The outcome follows: ${outcome} (${reason}). A verdict moves no money.`,
      ...ofVerdict(said),
    ],
  },
  issuer_history: {
    head: 'History',
    noun: 'issuer history',
    valid: ({ iss, issuer_history }) => [`Valid: ${versionText(issuer_history)} of the keys of ${iss}.`],
  },
  receipt_policy_history: {
    head: 'History',
    noun: 'history of receipt policies',
    valid: ({ iss, receipt_policy }) => [`Valid: ${versionText(receipt_policy)} of the receipt policy of ${iss}.`],
  },
  revocations: {
    head: 'List',
    noun: 'list of revoked keys',
    valid: ({ revoked }) => [
      `Valid: revoked keys: ${Array.isArray(revoked) && revoked.length > 0 ? revoked.join(', ') : 'none'}.`,
    ],
  },
  ingest_record: {
    head: 'Record',
    noun: 'record of a payment to somebody else',
    valid: ({ task_id, agent_id, recorded_at }) => [
      `Valid: task ${task_id} on book ${agent_id}, recorded at ${recorded_at}. The issuer attests nothing about the merchant.`,
    ],
  },
  allowance: {
    head: 'Allowance',
    noun: 'allowance',
    valid: ({ agent_id, remaining, as_of }) => [
      `Valid: book ${agent_id} had ${remaining ?? 'an unlimited amount of'} atomic USDC remaining at ${as_of}.`,
    ],
  },
  bundle: {
    head: 'Bundle',
    noun: 'bundle',
    valid: ({ iss, agent_id, rows, receipts, receipts_signed_for_it, refusals, ...said }) => [
      `Valid: ${rows} rows, by ${iss}, with ${receipts} receipts, ${refusals} refusals and ${said.inflow_claims} claims; ${said.rows_without_document} rows have no document.`,
      agent_id === null
        ? 'No document signs which book this is.'
        : `${receipts_signed_for_it} receipts, and each refusal and claim, sign that they belong to book ${agent_id}.`,
      `Each receipt is in the log, under its tree head of ${said.tree_size} leaves.`,
      'Whether rows were left out cannot be verified, because no signature covers that.',
    ],
  },
  audit_pack: { head: 'Pack', noun: 'audit pack', valid: () => [] },
  export_coverage: {
    head: 'Coverage',
    noun: 'coverage',
    valid: ({ book_id, enumerated_count, universe_count }) => [
      `Valid: the export lists ${enumerated_count} of ${universe_count ?? 'an unknown number of'} rows of book ${book_id}.`,
    ],
  },
  log_break: { head: 'Break', noun: 'declaration', valid: ofLogBreak },
  log_breaks: {
    head: 'Breaks',
    noun: 'list of declarations',
    valid: ({ log_breaks }) => [`Valid: ${log_breaks} breaks of the log were declared and signed.`],
  },
  tree_head: {
    head: 'Head',
    noun: 'tree head of the log',
    valid: ({ iss, tree_size, root_hash, leaf_index }) => [
      `Valid: the log of ${iss} had ${tree_size} leaves and the root ${root_hash}.`,
      ...(leaf_index === undefined ? [] : [`In the log: leaf ${leaf_index} of ${tree_size}.`]),
    ],
  },
  checkpoint: { head: 'Note', noun: 'checkpoint', valid: ofCheckpoint },
  log_proof: { head: 'Proof', noun: 'proof', valid: ofCheckpoint },
  token: {
    head: 'Token',
    noun: 'token',
    valid: ({ iss, jti = null }) => [`Valid: signed by ${iss}${jti === null ? '' : `, of ${jti}`}.`],
  },
  agent_card: {
    head: 'Card',
    noun: 'agent card',
    valid: ({ name, version }) => [`Valid: the card of ${name}, version ${version}.`],
  },
  offer: {
    head: 'Offer',
    noun: 'offer',
    valid: ({ offers }) =>
      (Array.isArray(offers) ? offers.filter(isJsonObject) : []).map(
        ({ amount, asset, network, payTo, resourceUrl, validUntil }) =>
          `Valid: ${amount} atomic units of ${asset} on ${network} to ${payTo}, for ${resourceUrl}, until ${validUntil} (Unix seconds).`,
      ),
  },
  delivery: {
    head: 'Delivery',
    noun: 'receipt of x402',
    valid: ({ payer, network, transaction, resourceUrl, issuedAt }) => [
      `Valid: ${payer} paid for ${resourceUrl} in ${network}:${transaction}, as the seller stated at ${issuedAt} (Unix seconds).`,
    ],
  },
  session_grant: {
    head: 'Grant',
    noun: 'grant',
    valid: ({ payer, agentPubkey, capAtomic, delegation_hash, service, ...said }) => [
      `Valid: ${payer} allows ${agentPubkey} ${capAtomic} atomic USDC from ${said.validAfter} to ${said.sessionExpiry} (Unix seconds).`,
      `Session ${delegation_hash}, ${forService(service)}.`,
    ],
  },
  session_act: {
    head: 'Act',
    noun: 'act',
    valid: ({ action, resource, deadline, delegation_hash, signer, service }) => [
      `Valid: ${action} of ${resource}, by ${signer}, until ${deadline} (Unix seconds).`,
      `Session ${delegation_hash}, ${forService(service)}.`,
    ],
  },
  session_revocation: {
    head: 'Revoked',
    noun: 'revocation',
    valid: ({ delegation_hash, at, signer, service }) => [
      `Valid: ${signer} revokes session ${delegation_hash} at ${at} (Unix seconds), ${forService(service)}.`,
    ],
  },
  wallet_text: {
    head: 'Text',
    noun: 'signed text',
    valid: ({ text, signer }) => [`Valid: ${signer} signed: ${text}`],
  },
  webhook_message: { head: 'Webhook', noun: 'message of a webhook', valid: () => [] },
  hmac: { head: 'HMAC', noun: 'HMAC', valid: () => [] },
  unsigned: { head: 'Unsigned', noun: 'document', valid: () => [] },
  reconciliation: {
    head: 'Report',
    noun: 'reconciliation',
    valid: ({ report_id, iss, wallet, from_block, to_block, transfers_total }) => [
      `Valid: ${report_id}, signed by ${iss}: ${transfers_total} transfers of ${wallet} in blocks ${from_block} to ${to_block}.`,
    ],
  },
  totals: {
    head: 'Totals',
    noun: 'total',
    valid: ({ iss, tree_size, computed_at }) => [
      `Valid: totals over ${tree_size} leaves of the log, as of ${computed_at}, signed by ${iss}.`,
    ],
  },
};

/** Lines about one document in full: one for each check and each open question. */
export function linesOf(examined: ExaminedDocument): string[] {
  const { source, kind, keys, verified, place, chain, spend, covers, tally } = examined;
  const { head, noun, valid } = kinds[kind];
  const { checks, fault, claims, report } = verified;
  const lines = [`${`${head}:`.padEnd(8)} ${source}`, `Keys:    ${keys.source}`, ...checks.map(passed)];
  if (fault && documentOutcome(examined) === 'unknown') return [...lines, open(fault)].map(plain);
  if (fault)
    return [...lines, failed(fault), `This ${noun} is NOT valid. Do not rely on it; get it again from its issuer.`].map(
      plain,
    );
  if (report) lines.push(...linesOfReport(report, keys.from === 'given'));
  if (claims) lines.push(...valid(claims));
  if (spend) lines.push(...linesOfSpend(spend));
  if (covers) lines.push(...linesOfCover(covers));
  if (tally) lines.push(...linesOfTally(tally));
  if (place) lines.push(...linesOfPlace(place));
  if (chain) {
    const word = { moved: 'ok', nothing_paid: 'note', contradicted: 'FAIL', unknown: 'open' }[chain.outcome];
    const named = chain.outcome === 'contradicted' || chain.outcome === 'unknown' ? ` (${chain.code})` : '';
    lines.push('Chain:   Base', `  ${word.padEnd(5)} ${chain.sentence}${named}`);
    if (chain.outcome === 'contradicted') lines.push(`The chain does NOT say what this ${noun} says.`);
    if (chain.outcome === 'unknown') lines.push('Whether USDC moved is UNKNOWN: it is neither proven nor refuted.');
  }
  return lines.map(plain);
}

type Line = { readonly sentence: string; readonly code: string };
const passed = ({ sentence }: Pick<Line, 'sentence'>) => `  ok    ${sentence}`;
const open = ({ sentence, code }: Line) => `  open  ${sentence} (${code})`;
const failed = ({ sentence, code }: Line) => `  FAIL  ${sentence} (${code})`;

/** Lines about facts that a valid document does not prove, such as the owner of keys that were not given. */
function linesOfReport({ unsigned, broken, unchecked }: NonNullable<VerifiedDocument['report']>, keys_given: boolean) {
  const [unknown, lane] = [unsigned.unknown.join(', '), unsigned.lane.join(', ')];
  return [
    ...broken.map(name => `  WARN  ${name} does not verify. Another signature does, and one is enough.`),
    ...(unknown ? [`  WARN  Not signed, and not part of such a document: ${unknown}.`] : []),
    ...(lane ? [`  note  Not signed, and may change: ${lane}.`] : []),
    ...unchecked.map(sentence => `  open  ${sentence}`),
    ...(keys_given ? [] : ["  open  Whether the keys are the issuer's: the document itself named them."]),
  ];
}

function linesOfPlace({ source, keys_given, verification }: NonNullable<ExaminedDocument['place']>): string[] {
  const lines = [`Proof:   ${source}`, ...verification.checks.map(passed)];
  if (verification.kind === 'invalid')
    return [...lines, failed(verification), 'This receipt is NOT proven to be in that log.'];
  const whose = "  open  Whether the log's key is the issuer's: the service itself named it.";
  return [...lines, ...(keys_given ? [] : [whose]), `In the log: leaf ${verification.index} of ${verification.size}.`];
}

/** One line about a document of a directory. */
export function lineOf(examined: ExaminedDocument): string {
  const { source, kind, verified, chain, spend, covers } = examined;
  const outcome = documentOutcome(examined);
  const [noun, { code, sentence }] = [kinds[kind].noun, verified.fault ?? chain ?? { code: '', sentence: '' }];
  if (outcome === 'valid') {
    const { unsigned, broken } = verified.report ?? { unsigned: { unknown: [] }, broken: [] };
    const warned = [
      ...broken.map(name => `${name} is broken`),
      ...unsigned.unknown.map(name => `${name} is not signed`),
    ];
    const id = String(verified.claims?.jti ?? verified.claims?.task_id ?? '');
    const said = [
      ...(spend ? [spendText(spend)] : []),
      ...(covers
        ? [`${covers.rows ?? '?'} of ${covers.of ?? '?'} rows`, covers.complete ? 'complete' : 'NOT complete']
        : []),
      ...warned,
    ];
    const line = `  ${warned.length > 0 ? 'WARN ' : 'ok   '} ${source}: ${noun} ${id}`.trimEnd();
    return plain(said.length > 0 ? `${line}: ${said.join('; ')}` : line);
  }
  return plain(`  ${outcome === 'invalid' ? 'FAIL ' : 'open '} ${source}: ${sentence} (${code})`);
}

/** Replaces control characters and bidirectional ones, because text in documents is untrusted. */
export const plain = (line: string): string =>
  line.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}');
