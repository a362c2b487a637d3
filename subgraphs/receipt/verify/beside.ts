import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type Jwks, verifyEd25519, verifyEip191 } from './signature.ts';

/** A receipt of which the signatures beside its token are asked about. */
interface Signed {
  readonly document: JsonObject;
  readonly claims: JsonObject;
  readonly jwks: Jwks;
}

const names = ['signature', 'co_signature'] as const;
type Name = (typeof names)[number];

const verifiers = { signature: verifyEd25519, co_signature: verifyEip191 } as const;
const judged = new WeakMap<Signed, Partial<Record<Name, boolean>>>();

/** Whether that signature signs the receipt's payload_hash. Judged once for each opened receipt: it is a third of all its work. */
export function signsBeside(name: Name, opened: Signed): boolean {
  const { document, claims, jwks } = opened;
  const known = judged.get(opened) ?? {};
  judged.set(opened, known);
  known[name] ??= verifiers[name](jwks, document[name], String(claims.payload_hash ?? document.payload_hash));
  return known[name];
}

/** Of the signatures that stand in the document, those that do not verify. */
export function brokenBeside(opened: Signed): Name[] {
  return names.filter(name => opened.document[name] !== undefined && !signsBeside(name, opened));
}
