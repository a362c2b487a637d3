import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { payloadVersionOf } from '../../../schema/receipt-payload.ts';
import { addressesOf } from './addresses.ts';
import { reportOn } from './coverage.ts';
import type { Report } from './report.ts';
import { type Opened, rules } from './rules.ts';
import { type Jwks, parseJws } from './signature.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, unopened } from './signed.ts';
import { tokenOf } from './token-document.ts';

export type Verification =
  | {
      readonly kind: 'valid';
      readonly claims: JsonObject;
      /** `legacy`: version 8 did not sign it yet. `none`: the call landed on no book. */
      readonly claim_id: number | 'legacy' | 'none';
      readonly checks: readonly Check[];
      /** What is left open: unsigned members, a signature that is broken beside one that is not, what was not checked. */
      readonly report: Report;
    }
  | Invalid;

export interface VerifyOptions {
  /** Where the receipt was read: its links may lead there as well as to the signed issuer. */
  readonly base_url?: string;
  /** Histories and lists of revocations at hand: what a key said that was revoked since counts by what stands on it. */
  readonly histories?: readonly JsonObject[];
  /** The caller proves by the log that it was signed before its key was revoked, if it was: an audit document brings that. */
  readonly dated_by_log?: boolean;
}

/**
 * Verifies a public receipt against a published key set, offline. What it cannot tell is whether USDC moved:
 * for that look up `payment_ref` on its network.
 */
export function verifyReceipt(document: JsonObject, jwks: Jwks, options: VerifyOptions = {}): Verification {
  try {
    const opened = open(document, jwks, options);
    if (opened === null) return unopened(tokenOf(document), NOT_A_RECEIPT);
    const judged = judgeBy(rules, opened);
    if (judged.kind === 'invalid') return judged;
    const { claims } = opened;
    return { kind: 'valid', claims, claim_id: claimId(claims), checks: judged.checks, report: reportOn(opened) };
  } catch (fault) {
    // Only text without a canonical form gets here: a lone surrogate, a number beyond IEEE doubles.
    return malformedDocument(`The receipt has no canonical form: ${String(fault)}`);
  }
}

const NOT_A_RECEIPT = 'This is not a receipt: payload or issuer_signature.jws is missing.';

function open(document: JsonObject, jwks: Jwks, { base_url, dated_by_log }: VerifyOptions): Opened | null {
  const { payload } = document;
  const jws = parseJws(tokenOf(document));
  if (!isJsonObject(payload) || jws === null) return null;
  const { claims } = jws;
  const addresses = addressesOf(claims.iss, base_url, jwks);
  return { document, payload, jws, claims, jwks, addresses, ...(dated_by_log && { dated_by_log }) };
}

function claimId(claims: JsonObject): number | 'legacy' | 'none' {
  if (typeof claims.claim_id === 'number') return claims.claim_id;
  return payloadVersionOf(claims)?.legacy ? 'legacy' : 'none';
}
