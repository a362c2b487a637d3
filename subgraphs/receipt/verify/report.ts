import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import type { Report, VerifiedDocument } from './result.ts';
import { type Check, type Invalid, judgeBy, malformedDocument, type Rule } from './signed-document.ts';

/** The result for a document: what was signed, which rules it passed and what is left open, or the first rule that it breaks. */
export type DocumentVerification =
  | { readonly kind: 'valid'; readonly claims: JsonObject; readonly checks: readonly Check[]; readonly report: Report }
  | Invalid;

/** A kind of documents: its name in sentences, its rules, and what a document that has passed them leaves open. */
export interface JudgedKind<Opened> {
  readonly noun: string;
  /** Rules in the order in which they are checked: each may rely on all before it. */
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
    // A rule throws only for a text without a canonical form (RFC 8785).
    return malformedDocument(`The ${noun} has no canonical form: ${String(fault)}`);
  }
}

/** For each member, by its path: whether the signed facts of the opened document confirm it. */
export type Coverage<Opened> = Readonly<Record<string, (opened: Opened) => boolean>>;

/** Members of `document` that no signed fact confirms. `unknown`: those that are in neither table. `lane`: all others. */
export function unsignedIn<Opened>(
  document: JsonObject,
  opened: Opened,
  { coverage, lane }: { readonly coverage: Coverage<Opened>; readonly lane: ReadonlySet<string> },
): Report['unsigned'] {
  // A Map, because a member may have the name of a property that every object has, such as `constructor`.
  const tabled = new Map(Object.entries(coverage));
  const open = pathsOf(document, [...tabled.keys()]).filter(path => !tabled.get(path)?.(opened));
  return {
    lane: open.filter(path => lane.has(path) || tabled.has(path)),
    unknown: open.filter(path => !lane.has(path) && !tabled.has(path)),
  };
}

/** Paths of all members. Where `named` has paths inside a member, the members of that member are listed in its place. */
function pathsOf(document: JsonObject, named: readonly string[]): string[] {
  return Object.entries(document).flatMap(([name, value]) =>
    isJsonObject(value) && named.some(path => path.startsWith(`${name}.`))
      ? Object.keys(value).map(inner => `${name}.${inner}`)
      : [name],
  );
}

export const always = () => true;

export function isSameJson(a: Json | undefined, b: Json | undefined): boolean {
  // Values other than lists and objects are compared directly, which is faster: most compared values are texts.
  if (typeof a !== 'object' || typeof b !== 'object') return a !== undefined && a === b;
  return canonicalJson(a) === canonicalJson(b);
}

/** A verification as plain data. Checks that held are shown without a code, because the code of a rule names what is wrong if it fails. */
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
  /** The links of the document lead to an address to which the issuer may have moved (addresses.ts). */
  'address_unknown',
  /** The signature is an HMAC, which only holders of the secret can check. */
  'needs_secret',
  /** The document does not name its signer. */
  'needs_signer',
  /** The document does not name the service that it was signed for. */
  'needs_service',
  /** Only the code of a contract can decide whether the contract accepts the signature (ERC-1271). */
  'needs_chain',
  /** The signing key was revoked later, and nothing proves that it signed before that. */
  'needs_history',
]);
