import { canonicalHash, isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';

/* The request in the evidence, compared with the hash that the receipt signs. */

export interface ShownRequest {
  readonly field: string;
  readonly args: JsonObject;
  /** Absent for a call without a session. */
  readonly delegation_hash?: string;
}

export function requestIn({ request }: JsonObject): ShownRequest | null {
  if (!isJsonObject(request)) return null;
  const { field, args, delegation_hash } = request;
  if (typeof field !== 'string' || !isJsonObject(args)) return null;
  return { field, args, ...(typeof delegation_hash === 'string' ? { delegation_hash } : {}) };
}

/**
 * As in the receipt policy: SHA-256 of the canonical {request_hash, salt}, where request_hash is that of {field, args}, or of
 * {field, args, delegation_hash} under a session.
 */
export function isProven(request_hash: Json, shown: ShownRequest | null, salt: Json | undefined): boolean {
  if (shown === null || typeof salt !== 'string') return false;
  return canonicalHash({ request_hash: canonicalHash({ ...shown }), salt }) === request_hash;
}

export const shownText = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Tasks have their model in another member. */
export const modelOf = ({ args }: ShownRequest): string | null => shownText(args.model) ?? shownText(args.model_id);
