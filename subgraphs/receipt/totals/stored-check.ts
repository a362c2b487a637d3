import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { EMPTY_MAP, type RailSum } from '../verify/map-proof.ts';
import { base64url, type Jwks, keysIn, verifyEs256 } from '../verify/signature.ts';
import { type SumNode, sumRoot } from '../verify/sum-proof.ts';

/* Checks, before a statement is signed over the stored trees, that they are still those of the last statement. */

/** The stored trees were altered: they differ from what was signed. They are then rebuilt from the log. */
export class TotalsAltered extends Error {
  override name = 'TotalsAltered';
}

interface Roots {
  readonly payments_root: string;
  readonly books_root: string;
}

/**
 * Roots of both maps in the last statement, hex; those of empty maps before the first statement.
 * @throws TotalsAltered if this service did not sign the statement
 * @throws Error if the key of the statement is not in the key set
 */
export function statedRoots(statement: string | null, jwks: Jwks): Roots {
  const empty = EMPTY_MAP.toString('hex');
  if (statement === null) return { payments_root: empty, books_root: empty };
  const { signature, ...claims } = JSON.parse(statement) as JsonObject;
  const { kid, value } = isJsonObject(signature) ? signature : {};
  // During a rotation of keys, another process may sign with a key that this process does not have yet.
  if (!keysIn(jwks).some(key => key.kid === kid))
    throw new Error(`the statement of totals is signed by ${kid}, an unknown key`);
  if (!verifyEs256(jwks, kid, canonicalJson(claims), base64url(value)))
    throw new TotalsAltered('the statement of totals was not signed here');
  return { payments_root: String(claims.payments_root), books_root: String(claims.books_root) };
}

/** @throws TotalsAltered if a book's peaks do not add up to its stated total */
export function requireSum(agent_id: number, { total, root }: RailSum, peaks: readonly SumNode[]): void {
  const { sum, hash } = sumRoot(peaks);
  if (sum.toString() !== total || hash.toString('hex') !== root)
    throw new TotalsAltered(`the rows of book ${agent_id} do not come to its total`);
}
