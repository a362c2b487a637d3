import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Report, VerifiedDocument } from './result.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, type Rule } from './signed-document.ts';

/** What is found of a document: what was signed, which rules it passed, and what is left open; or the first rule that it breaks. */
export type DocumentVerification =
  | { readonly kind: 'valid'; readonly claims: JsonObject; readonly checks: readonly Check[]; readonly report: Report }
  | Invalid;

/** What a kind of documents is called in a sentence, by which rules it is judged, and what one that has passed them leaves open. */
export interface JudgedKind<Opened> {
  readonly noun: string;
  /** In order: a later rule may rely on all before it. */
  readonly rules: readonly Rule<Opened>[];
  reportOn(opened: Opened): Report;
}

/** Judges an opened document. @param claims what is known to be signed once every rule has passed */
export function judgeDocument<Opened>(
  opened: Opened,
  claims: JsonObject,
  { noun, rules, reportOn }: JudgedKind<Opened>,
): DocumentVerification {
  try {
    const judged = judgeBy(rules, opened);
    if (judged.kind === 'invalid') return judged;
    return { kind: 'valid', claims, checks: judged.checks, report: reportOn(opened) };
  } catch (fault) {
    // Only text without a canonical form gets here.
    return malformedDocument(`The ${noun} has no canonical form: ${String(fault)}`);
  }
}

/** By path: whether the signed facts vouch for the member, in this very document. */
export type Coverage<Opened> = Readonly<Record<string, (opened: Opened) => boolean>>;

/** The members of `document` that are in neither table, and those whose signed fact is missing or another. */
export function unsignedIn<Opened>(
  document: JsonObject,
  opened: Opened,
  { coverage, lane }: { readonly coverage: Coverage<Opened>; readonly lane: ReadonlySet<string> },
): Report['unsigned'] {
  // A member may be called like what every object has: `constructor` is in no table.
  const tabled = new Map(Object.entries(coverage));
  const open = pathsOf(document, [...tabled.keys()]).filter(path => !tabled.get(path)?.(opened));
  return {
    lane: open.filter(path => lane.has(path) || tabled.has(path)),
    unknown: open.filter(path => !lane.has(path) && !tabled.has(path)),
  };
}

/** Each member; of one whose own members the table names, those instead. */
function pathsOf(document: JsonObject, named: readonly string[]): string[] {
  return Object.entries(document).flatMap(([name, value]) =>
    isJsonObject(value) && named.some(path => path.startsWith(`${name}.`))
      ? Object.keys(value).map(inner => `${name}.${inner}`)
      : [name],
  );
}

export const always = () => true;

export function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  // Values other than lists and objects are the same if they are identical, and most of what is compared is text.
  if (typeof a !== 'object' || typeof b !== 'object') return a !== undefined && a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** The same as plain data. The code of a rule names what is wrong if the rule fails, so a check that held is shown without it. */
export function verificationJson(verification: DocumentVerification): Omit<VerifiedDocument, 'kind'> {
  const checks = verification.checks.map(({ sentence }) => ({ sentence }));
  if (verification.kind === 'valid') {
    const { claims, report } = verification;
    return { valid: true, checks, fault: null, claims, report };
  }
  const { code, sentence } = verification;
  return { valid: false, checks, fault: { code, sentence }, claims: null, report: null };
}

/** Codes of faults that leave a document neither valid nor invalid, because something that decides it is missing. */
export const undecidedFaults: ReadonlySet<string> = new Set([
  /** The document is unsigned. */
  'not_signed',
  /** Its links lead to an address to which the issuer may have moved (addresses.ts). */
  'address_unknown',
  /** An HMAC: only who holds the secret can make it again. */
  'needs_secret',
  /** It does not say who has signed it. */
  'needs_signer',
  /** It does not say for which service it was signed. */
  'needs_service',
  /** Only the code of a contract can say whether it takes the signature for its own (ERC-1271). */
  'needs_chain',
  /** A key that was revoked since signed it, and nothing says that it did so before. */
  'needs_history',
]);
