import type { Tx } from '../../database.ts';

/** The claim of a payment stores the held amount (gateway/call/record/facts.ts). The state of the claim determines how long it is held. */
const PATH = `landing->'delegation'->'path'`;
const OPEN = `state in ('claimed', 'settling', 'held') and landing ? 'delegation'`;

/**
 * Amounts that open payments hold, by session. A payment counts for its session and for all sessions above it. Call this after the
 * sessions are locked, so that it includes everything committed before. @param but keys of claims that are excluded
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
