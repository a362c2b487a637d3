import { isJsonObject } from '../../../schema/canonical-json.ts';
import { notSettledHere } from '../../../schema/router/reported.ts';
import type { VerifiedDocument } from '../../../subgraphs/receipt/verify/module.ts';
import { documentOutcome, type Examined } from './examine.ts';

/* What was examined, as lines for people. */

interface Told {
  /** At the head of the lines. */
  readonly head: string;
  /** In a sentence. */
  readonly noun: string;
  /** Of a valid one: what it says. */
  valid(claims: Claims): readonly string[];
}

type Claims = NonNullable<VerifiedDocument['claims']>;

const ofReceipt = (claims: Claims, { claim_id = claims.payload_version === 8 ? 'legacy' : 'none' } = claims) => [
  `Valid: task ${claims.jti}, signed by ${claims.iss}, book ${claim_id}.`,
  ...(claims.profile === undefined ? [] : [`Made in the ${claims.profile} profile: no real money moved.`]),
  ofMoney(claims),
];

function ofMoney({ waived_by, reported }: Claims): string {
  if (isJsonObject(reported)) return `${notSettledHere(reported)} It is not spend.`;
  if (waived_by !== undefined)
    return `Nothing was paid: a key stood in for the payment (${waived_by}). It is not spend.`;
  return 'The signature does not prove that USDC moved: look up payment_ref on its network.';
}

const ofRefusal = ({ jti, iss, agent_id, policy_blocked_seq, policy_code }: Claims) => [
  `Valid: ${jti}, signed by ${iss}: ${policy_code}, row ${policy_blocked_seq} of book ${agent_id}.`,
  'Nothing was charged. It is no receipt, and not spend.',
];

const ofEnvelope = ({ task_id, payload_hash, iss, signed_at }: Claims) => [
  `Valid: task ${task_id}, payload ${payload_hash}.`,
  `Signed in this form by ${iss} at ${signed_at}.`,
  'The signature does not prove that USDC moved: look up payment_ref on its network.',
];

const kinds: Readonly<Record<Examined['kind'], Told>> = {
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
    valid: ({ dispute_id, iss, agent_id, task_id, claim_type, outcome = 'open', reason }) => [
      `Valid: ${dispute_id}, signed by ${iss}: ${claim_type} of ${task_id}, on book ${agent_id}.`,
      `The outcome follows: ${outcome} (${reason}). No money moves by it.`,
    ],
  },
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

/** All of one document: a line for each check, and what is left open. */
export function linesOf(examined: Examined): string[] {
  const { source, kind, keys, verified, place, chain } = examined;
  const { head, noun, valid } = kinds[kind];
  const { checks, fault, claims, report } = verified;
  const lines = [`${`${head}:`.padEnd(8)} ${source}`, `Keys:    ${keys.source}`, ...checks.map(passed)];
  if (fault) return [...lines, failed(fault), `This ${noun} is NOT valid.`].map(plain);
  if (report) lines.push(...linesOfReport(report, keys.from === 'given'));
  if (claims) lines.push(...valid(claims));
  if (place) lines.push(...linesOfPlace(place));
  if (chain) {
    const word = { moved: 'ok', nothing_paid: 'ok', contradicted: 'FAIL', unknown: 'open' }[chain.outcome];
    const named = chain.outcome === 'contradicted' || chain.outcome === 'unknown' ? ` (${chain.code})` : '';
    lines.push('Chain:   Base', `  ${word.padEnd(5)} ${chain.sentence}${named}`);
    if (chain.outcome === 'contradicted') lines.push(`The chain does NOT say what this ${noun} says.`);
    if (chain.outcome === 'unknown') lines.push('Whether USDC moved is UNKNOWN: it is neither proven nor refuted.');
  }
  return lines.map(plain);
}

type Line = { readonly sentence: string; readonly code: string };
const passed = ({ sentence }: Line) => `  ok    ${sentence}`;
const failed = ({ sentence, code }: Line) => `  FAIL  ${sentence} (${code})`;

/** What a valid document leaves open. The key set was checked by nobody, unless it was given. */
function linesOfReport({ unsigned, broken, unchecked }: NonNullable<VerifiedDocument['report']>, keys_given: boolean) {
  const [unknown, lane] = [unsigned.unknown.join(', '), unsigned.lane.join(', ')];
  return [
    ...broken.map(name => `  WARN  ${name} does not verify; another signature does, and one is enough.`),
    ...(unknown ? [`  WARN  Nobody signed ${unknown}: no part of such a document.`] : []),
    ...(lane ? [`  note  Nobody signed ${lane}: it is what stands beside, and may change.`] : []),
    ...unchecked.map(sentence => `  open  ${sentence}`),
    ...(keys_given ? [] : ["  open  Whether the keys are the issuer's: the document itself named them."]),
  ];
}

function linesOfPlace({ source, keys_given, verification }: NonNullable<Examined['place']>): string[] {
  const lines = [`Proof:   ${source}`, ...verification.checks.map(passed)];
  if (verification.kind === 'invalid')
    return [...lines, failed(verification), 'This receipt is NOT proven to stand in that log.'];
  const whose = "  open  Whether the log's key is the issuer's: the service itself named it.";
  return [...lines, ...(keys_given ? [] : [whose]), `In the log: leaf ${verification.index} of ${verification.size}.`];
}

/** One document of many, in a line. */
export function lineOf(examined: Examined): string {
  const { source, kind, verified, chain } = examined;
  const outcome = documentOutcome(examined);
  const [told, { code, sentence }] = [kinds[kind].noun, verified.fault ?? chain ?? { code: '', sentence: '' }];
  if (outcome === 'valid') return plain(`  ok    ${source}: ${told} ${String(verified.claims?.jti ?? '')}`.trimEnd());
  return plain(`  ${outcome === 'invalid' ? 'FAIL ' : 'open '} ${source}: ${sentence} (${code})`);
}

/** Text of strangers moves no cursor, and no line pretends to be two. */
export const plain = (line: string): string =>
  line.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}');
