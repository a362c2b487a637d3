import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';

/**
 * What a payment is bound to: the field, its canonical arguments and, with a grant, the id of its session, which is a digest of
 * all its bytes. The same payment with another grant is for another request.
 */
export function paidRequestHash(
  field: string,
  args: JsonObject,
  delegation: { readonly delegation_hash: string } | string | null = null,
): string {
  const delegation_hash = typeof delegation === 'string' ? delegation : delegation?.delegation_hash;
  return canonicalHash(delegation_hash === undefined ? { field, args } : { field, args, delegation_hash });
}
