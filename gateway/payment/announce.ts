import type { Context } from '../../subgraphs/context.ts';
import type { Authorized } from './authorized.ts';
import { settlementHeaders } from './headers.ts';

/** Tells an x402 client what became of its payment, in the header of the version that it speaks. */
export function announce(context: Context, { authorization, x402_version }: Authorized, transaction: string): void {
  const { payer } = authorization;
  Object.assign(context.response.headers, settlementHeaders(x402_version, { success: true, transaction, payer }));
}
