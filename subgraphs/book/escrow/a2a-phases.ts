import { type InitialFacts, unknownFacts } from '../../../schema/book-row.ts';
import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import type { A2aEscrowParty } from '../../../schema/escrow.ts';
import type { Tx } from '../../database.ts';
import { newTask } from '../../new-task.ts';
import type { BookContext } from '../context.ts';
import { appendNewRows, type NewRow } from '../ledger/append-new-rows.ts';
import { type A2aPhase, StoredA2aEscrow } from './a2a-escrow.entity.ts';

/* Records the phases of an escrow between two agents. Each phase is a row on the books of the parties that have acted. */

/** A phase before its rows are recorded. */
export type A2aStep = Omit<A2aPhase, 'at' | 'task_id' | 'principal_seq' | 'counterparty_seq'>;

/** The phase that records an expiry. */
export const a2aExpired: A2aStep = { action: null, by: null, state: 'expired', request_hash: null, said: {} };

/** Members of a phase that are recorded on the book of one party only. */
const private_to: Readonly<Record<string, A2aEscrowParty>> = { task_id: 'principal' };

/**
 * Records these phases as rows, under the locks of the heads of the books. The book of the principal gets each phase at once. The book
 * of the counterparty gets none before its first act, and with that act it also gets all earlier phases. Either all rows are recorded
 * or none, so one closed book prevents all of them. @throws book_damaged
 */
export async function recordA2aSteps(
  tx: Tx,
  { clock, random }: Pick<BookContext, 'clock' | 'random'>,
  escrow: StoredA2aEscrow,
  { steps, at_ms }: { readonly steps: readonly A2aStep[]; readonly at_ms: number },
): Promise<StoredA2aEscrow> {
  const taken = steps.map(step => ({
    ...step,
    task_id: newTask({ clock, random }) as string,
    at: null,
    principal_seq: null,
    counterparty_seq: null,
  }));
  const phases: readonly (A2aPhase | (typeof taken)[number])[] = [...escrow.phases, ...taken];
  const parties: readonly A2aEscrowParty[] = hasActed(phases) ? ['principal', 'counterparty'] : ['principal'];
  const births: NewRow[] = [];
  const places = phases.map((phase, index) =>
    parties.map(party => {
      if (phase[`${party}_seq`] !== null) return null;
      const agent_id = party === 'principal' ? escrow.principalAgentId : escrow.counterpartyAgentId;
      const parent_ref = phases[index - 1]?.task_id ?? null;
      const birth = initialFactsOf(escrow, phase, { task_id: phase.task_id, party, parent_ref });
      return births.push({ agent_id, birth, owed: false, at_ms }) - 1;
    }),
  );
  const rows = await appendNewRows(tx, births);
  const seqOf = (place: number | null | undefined) => (typeof place === 'number' ? (rows[place]?.seq ?? null) : null);
  const born = phases.map((phase, index): A2aPhase => {
    const [own, other] = places[index] ?? [];
    return {
      ...phase,
      at: phase.at ?? rows[own ?? -1]?.collected_at ?? '',
      principal_seq: phase.principal_seq ?? seqOf(own) ?? 0,
      counterparty_seq: phase.counterparty_seq ?? seqOf(other),
    };
  });
  const moved = Object.assign(new StoredA2aEscrow(), escrow, {
    state: born.at(-1)?.state ?? escrow.state,
    phases: born,
  });
  tx.write({
    name: 'move a2a escrow',
    text: 'update a2a_escrow set state = $2, phases = $3 where escrow_id = $1',
    values: [moved.escrowId, moved.state, JSON.stringify(moved.phases)],
  });
  return moved;
}

/** Whether the counterparty has acted. Its book has rows of the escrow from its first act on. */
export function hasActed(phases: readonly Pick<A2aPhase, 'by'>[]): boolean {
  return phases.some(({ by }) => by === 'counterparty');
}

/** Facts of the row of a phase. The row has no payment: the amount of the escrow is one of its facts and counts in no total. */
function initialFactsOf(
  escrow: StoredA2aEscrow,
  { action, by, state, said, at }: A2aStep & { readonly at: string | null },
  { task_id, party, parent_ref }: { task_id: string; party: A2aEscrowParty; parent_ref: string | null },
): InitialFacts {
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
    // A row that is written together with a later phase has the time of that phase, so the time of its own phase is added.
    ...(at === null ? {} : { phase_at: at }),
    ...Object.fromEntries(shown),
  };
  return { ...unknownFacts, task_id, evidence: 'a2a_escrow', collected: false, parent_ref, facts: { a2a_escrow } };
}
