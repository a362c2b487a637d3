import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Authorized } from './authorized.ts';
import { settlementHeaders } from './headers.ts';
import type { Landing } from './record.ts';

/** Tells an x402 client what became of its payment, in the header of the version that it speaks. */
export function announce(
  { response }: Context,
  { authorization, x402_version }: Authorized,
  transaction: string,
  landing: JsonObject,
): void {
  const { payer } = authorization;
  Object.assign(response.headers, settlementHeaders(x402_version, { success: true, transaction, payer }));
  // With it the payer, and nobody else, can show which request the receipt's request_hash is of.
  response.headers['x-svc-request-salt'] = (landing as Landing).request_salt;
}
