import type { Tx } from '../../database.ts';

/** What each payment holds under its sessions stands with its claim (gateway/record/facts.ts), which alone says how long. */
const PATH = `landing->'delegation'->'path'`;
const OPEN = `state in ('claimed', 'settling', 'held') and landing ? 'delegation'`;

/**
 * What payments hold that are neither recorded nor let go of, by session: of each it counts on all that stand over it.
 * Read anew behind the sessions' locks, so that whatever has been committed before is in it. `but`: keys that count for
 * nothing here.
 */
export async function heldUnder(
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
