import type { JsonObject } from '../../schema/canonical-json.ts';
import { Refusal } from '../../schema/errors.ts';
import type { Context } from '../../subgraphs/context.ts';
import { DatabaseAway } from '../../subgraphs/outage.ts';
import { transactionOf } from '../../subgraphs/receipt/claim/settlement/read.ts';
import { namedIn } from '../rails/named-payment.ts';
import type { Till } from './till.ts';

/** A payment whose outcome is not known yet, told with the transaction that was sent for it, if any: its payer can look. */
export async function withTransaction({ database }: Till, { payment }: Context, error: unknown): Promise<unknown> {
  if (!(error instanceof Refusal) || error.code !== 'settlement_pending' || error.extensions.transaction) return error;
  if (error.originalError instanceof DatabaseAway) return error;
  const named = payment && namedIn(payment);
  const transaction = named && (await transactionOf(database, named.claim_key).catch(() => null));
  if (!transaction) return error;
  const { code: _, status: _status, ...facts } = error.extensions;
  return new Refusal(error.code, {
    detail: error.message,
    facts: { ...facts, transaction },
    cause: error.originalError,
  });
}

/** What a facilitator has named is told once, as nothing is known of it here. */
export function transactionIn(error: unknown): JsonObject {
  const { transaction } = error instanceof Refusal ? error.extensions : {};
  return typeof transaction === 'string' ? { transaction } : {};
}
