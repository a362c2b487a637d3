import * as z from 'zod';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { DisputeClaim } from '../../../schema/dispute/claim.ts';
import {
  disputeSides,
  factOfReceipt,
  factSources,
  isFactName,
  partsOf,
  repeatedByReceipt,
} from '../../../schema/dispute/facts.ts';
import { claimTypes, verdictWords } from '../../../schema/dispute/reasons.ts';
import { type Adjudication, adjudicate, isKnownRule } from '../../../schema/dispute/rule.ts';
import { documents } from '../../../schema/documents.ts';
import { disputeStatusUrl } from '../../../schema/links.ts';
import { wordList } from '../../../schema/words.ts';
import { type OpenedDocument, verifyIssuerDocument } from './issuer-document.ts';
import { verifyReceipt } from './receipt.ts';
import { type DocumentVerification, isSameJson } from './report.ts';
import type { Report } from './result.ts';
import { misshapen } from './shape.ts';
import type { Jwks } from './signature.ts';
import { type Rule, unless } from './signed-document.ts';

/**
 * Verifies a verdict against a published key set, offline: its signature, the receipts on which it is based, and each fact that a receipt
 * signs. It also runs the rule of the verdict again, to check that the outcome follows from the facts.
 */
export function verifyDispute(
  document: JsonObject,
  jwks: Jwks,
  options: { readonly base_url?: string } = {},
): DocumentVerification {
  return verifyIssuerDocument(document, jwks, options, { name: 'verdict of a dispute', rules, reportOn });
}

const RowShape = z.looseObject({ task_id: z.string(), seq: z.int().min(1), row_hash: z.string() });
const VerdictShape = z.looseObject({
  schema: z.literal(documents.dispute_verdict),
  iss: z.string(),
  dispute_id: z.string(),
  agent_id: z.int(),
  task_id: z.string(),
  claim_type: z.enum(wordList(claimTypes)),
  evidence: z.looseObject({}),
  rule_version: z.int(),
  reason: z.string(),
  facts: z.array(z.looseObject({ name: z.string(), from: z.string() })),
  rows: z.looseObject({ disputed: RowShape, other: RowShape.optional() }),
  receipts: z.looseObject({ disputed: z.looseObject({}).optional(), other: z.looseObject({}).optional() }),
  as_of: z.looseObject({ position: z.int().min(0), event_hash: z.string() }),
  moves_money: z.literal(false),
});

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<OpenedDocument>[] = [
  {
    code: 'not_a_verdict',
    says: 'The signed claims are a dispute verdict.',
    fault: ({ claims }) => shapeFault(claims),
  },
  {
    code: 'rule_unknown',
    says: 'The verdict was decided by a rule version that this verifier knows.',
    fault: ({ claims }) =>
      unless(
        isKnownRule(claims.rule_version),
        'The verdict was decided by a rule version that this verifier does not know. Update the verifier.',
      ),
  },
  { code: 'receipt_invalid', says: 'Each receipt that the verdict is based on is valid.', fault: receiptFault },
  {
    code: 'fact_differs',
    says: 'Each fact that is taken from a receipt has the value that the receipt signs.',
    fault: ({ claims }) => factFault(claims),
  },
  {
    code: 'revision_unsaid',
    says: 'The verdict states its revision number, and the URL that returns the latest verdict.',
    fault: ({ claims }) => revisionFault(claims),
  },
  {
    code: 'outcome_does_not_follow',
    says: 'The rule, run again here on the stated facts, gives the same outcome and reason.',
    fault: ({ claims }) => outcomeFault(claims),
  },
];

function shapeFault(claims: JsonObject): string | null {
  const member = misshapen(VerdictShape, claims);
  return member === null ? null : `The signed claims are not a dispute verdict: ${member} has the wrong type.`;
}

/** The row or the receipt of a side, whose shape the first rule has checked; null if there is none. */
function ofSide(claims: JsonObject, member: 'rows' | 'receipts', side: string): JsonObject | null {
  const sides = claims[member];
  const found = isJsonObject(sides) ? sides[side] : null;
  return isJsonObject(found) ? found : null;
}

function receiptFault({ claims, jwks }: OpenedDocument): string | null {
  for (const side of disputeSides) {
    const receipt = ofSide(claims, 'receipts', side);
    const row = ofSide(claims, 'rows', side);
    if (receipt === null) continue;
    const verified = verifyReceipt(receipt, jwks);
    if (verified.kind === 'invalid') return `The receipt of the ${side} row is not valid: ${verified.sentence}`;
    const { task_id, book_seq, claim_id } = verified.claims;
    const placed =
      (book_seq === undefined || book_seq === row?.seq) && (claim_id === undefined || claim_id === claims.agent_id);
    if (task_id !== row?.task_id || !placed) return `The receipt of the ${side} row belongs to another row.`;
    if (receipt.leaf_index !== verified.claims.leaf_index)
      return `The receipt of the ${side} row shows another leaf_index than it signs.`;
  }
  return unless(
    ofSide(claims, 'rows', 'disputed')?.task_id === claims.task_id,
    'The disputed row belongs to another task than the claim.',
  );
}

const factsIn = ({ facts }: JsonObject): readonly JsonObject[] => (facts as readonly JsonObject[]) ?? [];

function factFault(claims: JsonObject): string | null {
  for (const { name, value = null, from } of factsIn(claims)) {
    if (!isFactName(name)) return `${String(name)} is not a fact that this rule knows.`;
    const { side, fact } = partsOf(name);
    if (from !== factSources[fact]) return `${name} cannot come from ${String(from)}.`;
    const receipt = ofSide(claims, 'receipts', side);
    const { payload, leaf_index = null } = receipt ?? {};
    const signed = factOfReceipt(fact, isJsonObject(payload) ? { payload, leaf_index } : null);
    if (signed !== undefined && !isSameJson(value, signed)) return `${name} is not what the receipt signs.`;
    const repeated = isJsonObject(payload) ? repeatedByReceipt(fact, payload) : undefined;
    // The value is null for a payment that its chain has lost: such a payment counts nothing on the book, whatever its receipt says.
    if (value !== null && repeated !== undefined && !isSameJson(value, repeated))
      return `${name} is not the payment that the receipt names.`;
    if (fact === 'on_book' && value !== (ofSide(claims, 'rows', side) !== null))
      return `${name} contradicts the rows of the verdict.`;
  }
  return null;
}

/** First rule version whose verdicts state that a later verdict may supersede them. */
const REVISED_SINCE = 3;

function revisionFault({ rule_version, revision, supersedes, status_url, iss, dispute_id }: JsonObject): string | null {
  if (Number(rule_version) < REVISED_SINCE) return null;
  const numbered = Number.isInteger(revision) && Number(revision) >= 1;
  const linked = Number(revision) === 1 ? supersedes === undefined : typeof supersedes === 'string';
  const named = status_url === disputeStatusUrl(String(iss), String(dispute_id));
  return unless(numbered && linked && named, 'revision, supersedes or status_url is missing or wrong.');
}

function outcomeFault(claims: JsonObject): string | null {
  const known = new Map(factsIn(claims).map(({ name, value = null }) => [name, value]));
  const missing: string[] = [];
  const again = adjudicate(claims as unknown as DisputeClaim, name => {
    if (!known.has(name)) missing.push(name);
    return known.get(name) ?? null;
  });
  if (missing[0] !== undefined) return `The rule needs the fact ${missing[0]}, which is missing.`;
  return differenceFault(claims, again, [...known.keys()]);
}

/** Members of a rule's result that a verdict repeats, besides its reason and outcome. */
const FOUND = ['decides_after', 'standing_task_id', 'owed_back', 'owed_by_winner'] as const;

function differenceFault(
  claims: JsonObject,
  { reason, outcome, used, ...found }: Adjudication,
  names: readonly (Json | undefined)[],
): string | null {
  const said = claims.outcome ?? 'open';
  if (said !== (outcome ?? 'open'))
    return `The outcome does not follow: the verdict says ${String(said)}, and by its facts it is ${outcome ?? 'open'} (${reason}).`;
  if (claims.reason !== reason) return `The reason does not follow: by its facts it is ${reason}.`;
  const words = Object.entries(verdictWords(Number(claims.rule_version), reason) ?? {});
  if (words.some(([name, sentence]) => claims[name] !== sentence))
    return 'The explanations in the verdict are not those of its outcome.';
  const other = FOUND.find(name => !isSameJson(claims[name] ?? null, found[name] ?? null));
  if (other !== undefined) return `${other} does not follow from the facts of the verdict.`;
  if (Number(claims.rule_version) >= REVISED_SINCE && claims.final !== (outcome === 'refund'))
    return '`final` is wrong: it must be true for a refund, and false for any other outcome.';
  return unless(
    canonicalJson(used) === canonicalJson(names as Json),
    'The verdict lists other facts than the rule uses.',
  );
}

/** A sentence that says whether a later verdict can supersede this one. */
function lastly({ rule_version, outcome, status_url }: JsonObject): string {
  if (Number(rule_version) < REVISED_SINCE)
    return outcome === 'refund' || outcome === undefined
      ? 'Whether the records have changed since: this decision does not change.'
      : 'Whether a later verdict supersedes this one: the service signs one if its records lead to another result.';
  if (outcome === 'refund')
    return 'No later verdict supersedes a refund. This does not say whether the refund was paid.';
  return `Whether a later verdict supersedes this one: compare its SHA-256 (canonical JSON) with ${String(status_url)}.`;
}

/** What a verdict that has passed every rule leaves open. */
function reportOn(claims: JsonObject): Report {
  const facts = factsIn(claims).filter(({ from }) => from !== 'receipt_payload' && from !== 'log_leaf');
  const names = facts.map(({ name }) => String(name)).join(', ');
  const { position } = isJsonObject(claims.as_of) ? claims.as_of : {};
  return {
    unsigned: { lane: [], unknown: [] },
    broken: [],
    unchecked: [
      `Whether the book had these facts at position ${String(position)}: ${names}. The issuer states them, and no receipt signs them.`,
      'Whether USDC moved, or moved back: look the payments up on their networks. A verdict moves no money.',
      lastly(claims),
    ],
  };
}
