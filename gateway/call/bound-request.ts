import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Database } from '../../subgraphs/database.ts';
import { isFormerClaim } from '../../subgraphs/receipt/claim/former-request.ts';
import { identifierSlot, type NamedPayment } from '../../subgraphs/receipt/claim/identifier.ts';
import type { AnyPaid } from '../../subgraphs/sale.ts';
import { paidRequestHash } from './request-hash.ts';

interface Paying {
  readonly paid: AnyPaid;
  readonly args: JsonObject;
  readonly delegation: { readonly delegation_hash: string } | null;
  readonly claim_key: string;
  readonly names: readonly NamedPayment[];
}

/** The request to which a payment is bound and for which work is done; its receipt names no other. */
interface BoundRequest {
  readonly args: JsonObject;
  readonly request_hash: string;
  readonly is_former: boolean;
}

/**
 * The request as it came; or as the previous version understood it, if that version claimed the payment for it: what it bought or
 * is owed is for that request. A payment claimed since for a request without some member never serves one with it.
 */
export async function boundRequest(
  database: Pick<Database, 'query'>,
  { paid, args, delegation, claim_key, names }: Paying,
): Promise<BoundRequest> {
  const whole = { args, request_hash: paidRequestHash(paid.field, args, delegation), is_former: false };
  const former = paid.former_args?.(args) ?? null;
  if (former === null) return whole;
  const request_hash = paidRequestHash(paid.field, former, delegation);
  const slots = names.map(identifierSlot);
  const is_former = await isFormerClaim(database, { request_hash, claim_key, slots });
  return is_former ? { args: former, request_hash, is_former } : whole;
}
