import { nothingKnown, type RowBirth } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { A2aEscrowParty } from '../../../schema/escrow.ts';
import type { Tx } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import type { BookContext } from '../context.ts';
import { append, type Birth } from '../ledger/append-births.ts';
import { type A2aPhase, StoredA2aEscrow } from './a2a-escrow.entity.ts';

/* Phases of an escrow between two agents, each a row on the books of those whom it binds by then. */

/** A phase before its rows are born. */
export type A2aStep = Omit<A2aPhase, 'at' | 'task_id' | 'principal_seq' | 'counterparty_seq'>;

/** Its time was over. */
export const a2aExpired: A2aStep = { action: null, by: null, state: 'expired', request_hash: null, said: {} };

/** What came along that is of one party's book alone, and stands on no other. */
const private_to: Readonly<Record<string, A2aEscrowParty>> = { task_id: 'principal' };

/**
 * Under the heads of its books: the rows of these phases, and what they come to. On the principal's book each phase is a
 * row; on the counterparty's, from the one by which it is funded. All of them, or none: one book that is closed refuses all.
 * @throws book_damaged
 */
export async function recordA2aSteps(
  tx: Tx,
  { clock, random }: Pick<BookContext, 'clock' | 'random'>,
  escrow: StoredA2aEscrow,
  { steps, at_ms }: { readonly steps: readonly A2aStep[]; readonly at_ms: number },
): Promise<StoredA2aEscrow> {
  let bound = isFunded(escrow.phases);
  let before = escrow.phases.at(-1);
  const births: Birth[] = [];
  const born = steps.map(step => {
    const task_id: string = newTask({ clock, random });
    const follows = { principal: before?.task_id ?? null, counterparty: bound ? (before?.task_id ?? null) : null };
    bound ||= step.action === 'fund';
    const named = { ...step, task_id, at: '', principal_seq: 0, counterparty_seq: null };
    before = named;
    const parties: readonly A2aEscrowParty[] = bound ? ['principal', 'counterparty'] : ['principal'];
    const places = parties.map(party => {
      const agent_id = party === 'principal' ? escrow.principalAgentId : escrow.counterpartyAgentId;
      const birth = birthOf(escrow, step, { task_id, party, parent_ref: follows[party] });
      return births.push({ agent_id, birth, owed: false, at_ms }) - 1;
    });
    return { named, places };
  });
  const rows = await append(tx, births);
  const phases = born.map(({ named, places: [own = -1, other] }) => ({
    ...named,
    at: rows[own]?.collected_at ?? '',
    principal_seq: rows[own]?.seq ?? 0,
    counterparty_seq: other === undefined ? null : (rows[other]?.seq ?? null),
  }));
  const moved = Object.assign(new StoredA2aEscrow(), escrow, {
    state: phases.at(-1)?.state ?? escrow.state,
    phases: [...escrow.phases, ...phases],
  });
  tx.write({
    name: 'move a2a escrow',
    text: 'update a2a_escrow set state = $2, phases = $3 where escrow_id = $1',
    values: [moved.escrowId, moved.state, JSON.stringify(moved.phases)],
  });
  return moved;
}

/** From then on the counterparty's book tells of it too. */
export function isFunded(phases: readonly Pick<A2aPhase, 'action'>[]): boolean {
  return phases.some(({ action }) => action === 'fund');
}

/** A row without a payment: its amount is said among its facts, and is in no total. */
function birthOf(
  escrow: StoredA2aEscrow,
  { action, by, state, said }: A2aStep,
  { task_id, party, parent_ref }: { task_id: string; party: A2aEscrowParty; parent_ref: string | null },
): RowBirth {
  const shown = Object.entries(said).filter(([name]) => (private_to[name] ?? party) === party);
  const a2a_escrow: JsonObject = {
    escrow_id: escrow.escrowId,
    job_id: escrow.jobId,
    job_spec_hash: escrow.jobSpecHash,
    amount: String(escrow.amount),
    principal_agent_id: escrow.principalAgentId,
    counterparty_agent_id: escrow.counterpartyAgentId,
    expires_at: escrow.expiresAt.toISOString(),
    ...(escrow.requiredOutputHash === null ? {} : { required: { output_hash: escrow.requiredOutputHash } }),
    phase: state,
    ...present({ action, by }),
    ...Object.fromEntries(shown),
  };
  return { ...nothingKnown, task_id, evidence: 'a2a_escrow', collected: false, parent_ref, facts: { a2a_escrow } };
}
