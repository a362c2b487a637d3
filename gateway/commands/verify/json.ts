import type { JsonObject } from '../../../schema/canonical-json.ts';
import { documentOutcome, type ExaminedDocument } from './examine.ts';

/** A document that could not be read, so it counts neither as valid nor as invalid. */
export interface UnreadDocument {
  readonly source: string;
  /** Reason, as a sentence. */
  readonly unread: string;
}

/**
 * Result of `--json`: one object per document and line. Names and codes are stable; sentences may change. `outcome` is valid,
 * invalid or unknown. `fault` is null if the document is valid. `claims` is the signed content. `spend` is the payment of a
 * receipt, `covers` the rows of an export and `tally` the sums of a bundle; each is null for other documents.
 */
export function examinedJson(examined: ExaminedDocument | UnreadDocument): string {
  const text = JSON.stringify('unread' in examined ? ofUnread(examined) : ofExamined(examined));
  return text.replaceAll(MOVING, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Characters that control a terminal and that JSON does not escape (ECMA-48 section 5.3, C1). They are escaped because text in
 * documents is untrusted.
 */
const MOVING = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const ofUnread = ({ source, unread }: UnreadDocument) => ({
  source,
  outcome: 'unknown',
  kind: null,
  keys: null,
  checks: [],
  fault: { code: 'unreadable', sentence: unread },
  report: null,
  claims: null,
  place: null,
  chain: null,
  spend: null,
  covers: null,
  tally: null,
});

function ofExamined(examined: ExaminedDocument) {
  const { source, kind, keys, verified, place, chain, spend, covers, tally } = examined;
  const { checks, report, claims } = verified;
  const outcome = documentOutcome(examined);
  return {
    source,
    outcome,
    kind,
    keys,
    checks,
    fault: faultOf(examined),
    report,
    claims,
    place: placeOf(place),
    chain,
    spend,
    covers,
    tally,
  };
}

/** First fault of the document, of its place in the log, or of its transfer; null if none. */
function faultOf({ verified, place, chain }: ExaminedDocument): { code: string; sentence: string } | null {
  if (verified.fault) return verified.fault;
  if (place?.verification.kind === 'invalid') {
    const { code, sentence } = place.verification;
    return { code, sentence };
  }
  const denied = chain?.outcome === 'contradicted' || chain?.outcome === 'unknown';
  return denied ? { code: chain.code, sentence: chain.sentence } : null;
}

function placeOf(place: ExaminedDocument['place']): JsonObject | null {
  if (place === null) return null;
  const { source, keys_given, verification } = place;
  const checks = verification.checks.map(({ sentence }) => ({ sentence }));
  if (verification.kind === 'invalid') return { source, keys_given, checks, leaf_index: null, tree_size: null };
  return { source, keys_given, checks, leaf_index: verification.index, tree_size: verification.size };
}
