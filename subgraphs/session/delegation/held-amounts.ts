import type { Tx } from '../../database.ts';

/** The amount held by a payment is stored with its claim (gateway/record/facts.ts), which determines how long it is held. */
const PATH = `landing->'delegation'->'path'`;
const OPEN = `state in ('claimed', 'settling', 'held') and landing ? 'delegation'`;

/**
 * Amounts held by open payments, by session; each counts for all sessions above its own. Read after the sessions are locked, so
 * that it includes everything committed before. `but`: keys that are excluded.
 */
export async function heldAmounts(
  tx: Pick<Tx, 'query'>,
  delegation_hashes: readonly string[],
  but: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await tx.query<{ name: string; held: bigint }>({
    name: 'held under sessions',
    text: `select name, sum((landing->'delegation'->>'holds')::numeric) as held
      from payment_claim, jsonb_array_elements_text(${PATH}) as names(name)
      where ${OPEN} and ${PATH} ?| $1 and name = any($1) and not claim_key = any($2) group by name`,
    values: [delegation_hashes, but],
  });
  return new Map(rows.map(({ name, held }) => [name, held]));
}
