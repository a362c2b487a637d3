import type { AtomicAmount } from '../../../schema/amount.ts';
import type { Evidence } from '../../../schema/evidence.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';

/** Facts of a row for others that cite its receipt. */
export interface CitedRow {
  readonly evidence: Evidence;
  readonly collected: boolean;
  /** Atomic units of the rail. Null if nothing is known to have been paid. */
  readonly amount: AtomicAmount | null;
  readonly rail: string | null;
  readonly hub: string | null;
  readonly model: string | null;
  /** Purpose of a payment to others as it was described, usually a URL. */
  readonly resource: string | null;
  readonly payer_wallet: string | null;
  /** Payee of a payment to others. Null for a payment to this service. */
  readonly pay_to: string | null;
  /** Whether the seller signed that it was for that resource. */
  readonly merchant_signed: boolean;
}

/** Null if that book has no row of that task. Reads from `readsOf` of a transaction or from the database. */
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
