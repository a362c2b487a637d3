import type { AtomicAmount } from '../../../schema/amount.ts';
import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { BookPolicy } from '../../../schema/policy-kinds.ts';
import type { Database } from '../../database.ts';

/** What a book's owner allows: no event of the book tells of it, so it has a hash of its own. */
export interface BookTerms {
  readonly budget_atomic: AtomicAmount | null;
  readonly policy: BookPolicy;
}

/** SHA-256 of the canonical {agent_id, budget_atomic, policy}: what is signed as an allowance depends on them. */
export function termsHash(agent_id: number, { budget_atomic, policy }: BookTerms): string {
  const budget = budget_atomic === null ? null : budget_atomic.toString();
  return canonicalHash({ agent_id, budget_atomic: budget, policy: policy as JsonObject });
}

/**
 * Changes them under the head's lock; as they then stand, null where there is no such book. In force for every
 * reservation that begins after this returns. @throws Refusal book_damaged
 */
export function setTerms(
  database: Database,
  agent_id: AgentId,
  change: (terms: BookTerms) => BookTerms,
): Promise<BookTerms | null> {
  return database.transaction(async tx => {
    const { rows } = await tx.query<BookTerms & { damage: object | null }>({
      name: 'lock terms',
      text: 'select budget_atomic, policy, damage from book where agent_id = $1 for update',
      values: [agent_id],
    });
    const [standing] = rows;
    if (!standing) return null;
    if (standing.damage !== null) throw new Refusal('book_damaged');
    const { budget_atomic, policy } = change(standing);
    tx.write({
      name: 'set terms',
      text: `update book set budget_atomic = $2, policy = $3, terms_hash = $4, policy_version = policy_version + 1
        where agent_id = $1`,
      values: [agent_id, budget_atomic?.toString() ?? null, policy, termsHash(agent_id, { budget_atomic, policy })],
    });
    return { budget_atomic, policy };
  });
}
