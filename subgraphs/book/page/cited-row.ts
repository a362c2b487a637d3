import type { AtomicAmount } from '../../../schema/amount.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/** Facts of a row for callers that cite its receipt. */
export interface CitedRow {
  readonly evidence: Evidence;
  readonly collected: boolean;
  /** Amount in atomic units of the rail. Null if no payment is known. */
  readonly amount: AtomicAmount | null;
  readonly rail: string | null;
  readonly hub: string | null;
  readonly model: string | null;
  /** Purpose of a payment to others, usually a URL. Null if it was not stated. */
  readonly resource: string | null;
  readonly payer_wallet: string | null;
  /** Payee of a payment to others. Null for a payment to this service. */
  readonly pay_to: string | null;
  /** Whether the seller signed that the payment was for `resource`. */
  readonly merchant_signed: boolean;
}

/**
 * Reads the facts of a row. Null if the book has no row of this task. `query` may be that of `readsOf` of a transaction or of the
 * database.
 */
export async function citedRow(
  { query }: Pick<Database, 'query'>,
  agent_id: AgentId,
  task_id: string,
): Promise<CitedRow | null> {
  const [row] = await query<CitedRow & Record<string, unknown>>({
    name: 'row that is cited',
    text: `select evidence, collected, amount, rail, hub, model, fulfillment->>'resource' as resource, payer_wallet,
        facts->>'pay_to' as pay_to, coalesce((facts->>'merchant_signed')::boolean, false) as merchant_signed
      from book_row where agent_id = $1 and task_id = $2`,
    values: [agent_id, task_id],
  });
  return row ?? null;
}
