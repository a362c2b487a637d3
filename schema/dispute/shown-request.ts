import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';

/* The request that evidence shows, held against the hash that its receipt signs. */

export interface ShownRequest {
  readonly field: string;
  readonly args: JsonObject;
  /** Left out of a call that was made under no session. */
  readonly delegation_hash?: string;
}

export function requestIn({ request }: JsonObject): ShownRequest | null {
  if (!isJsonObject(request)) return null;
  const { field, args, delegation_hash } = request;
  if (typeof field !== 'string' || !isJsonObject(args)) return null;
  return { field, args, ...(typeof delegation_hash === 'string' ? { delegation_hash } : {}) };
}

/**
 * As the receipt policy has it: SHA-256 of the canonical {request_hash, salt}, where request_hash is that of {field, args},
 * and under a session of {field, args, delegation_hash}.
 */
export function isProven(request_hash: Json, shown: ShownRequest | null, salt: Json | undefined): boolean {
  if (shown === null || typeof salt !== 'string') return false;
  return canonicalHash({ request_hash: canonicalHash({ ...shown }), salt }) === request_hash;
}

export const shownText = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Tasks name their model otherwise than all other work. */
export const modelOf = ({ args }: ShownRequest): string | null => shownText(args.model) ?? shownText(args.model_id);
