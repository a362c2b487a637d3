import { atomicAmount } from '../../../schema/amount.ts';
import { present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, agentId, escrowId, escrowJobId } from '../../../schema/ids.ts';
import type { A2aOpen } from '../../../schema/requests/escrow.ts';
import { asRecord } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import type { BookContext } from '../context.ts';
import { headOf, lockBooks } from '../ledger/append.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { StoredA2aEscrow } from './a2a-escrow.entity.ts';
import type { A2aEscrow } from './a2a-escrow.type.ts';
import { a2aEscrowOfJob } from './a2a-find.ts';
import { recordA2aSteps } from './a2a-phases.ts';
import { a2aView } from './a2a-view.ts';
import { notifyCounterparty } from './announce-offer.ts';
import { phasesUpTo, requestHash, requireEnd } from './phase.ts';
import { requireA2aRoom } from './room.ts';

/** Random bytes of an escrow id, and of a job id if the request has none. */
const ID_BYTES = 10;

/**
 * Opens an escrow with another agent. Nothing is written on the book of the counterparty yet. Repeating the request returns the
 * existing escrow. @throws invalid_escrow_action, invalid_request, not_found, escrow_exists, escrows_full, rate_limited, book_damaged
 */
export async function openA2aEscrow(
  acting: Pick<BookContext, 'database' | 'clock' | 'random'>,
  agent_id: AgentId,
  request: A2aOpen,
): Promise<A2aEscrow> {
  const { database, clock, random } = acting;
  const counterparty = requireParties(agent_id, request);
  const { job_spec_hash, amount, expires_at, required } = request;
  const [escrow_id, made] = [escrowId, escrowJobId].map(id => id(clock.now_ms(), random.bytes(ID_BYTES)));
  const job_id = request.job_id ?? made ?? '';
  const said = present({ job_spec_hash, amount, expires_at, required, counterparty_agent_id: counterparty });
  const request_hash = requestHash('open', said);
  return writeInTurn(agent_id, () =>
    database.transaction(async tx => {
      const { now_ms } = headOf(await lockBooks(tx, [agent_id]), agent_id);
      const standing = await a2aEscrowOfJob(tx, agent_id, job_id);
      if (standing) {
        if (phasesUpTo(standing.phases, request_hash) !== 1) throw new Refusal('escrow_exists', { param: 'job_id' });
        return a2aView(standing, 'principal', { phases: 1 });
      }
      const end_ms = requireEnd(expires_at, now_ms);
      await requireBook(tx, counterparty);
      await requireA2aRoom(tx, agent_id, counterparty);
      const opened = Object.assign(new StoredA2aEscrow(), {
        escrowId: escrow_id as StoredA2aEscrow['escrowId'],
        jobId: job_id,
        jobSpecHash: job_spec_hash,
        principalAgentId: agent_id,
        counterpartyAgentId: counterparty,
        amount: atomicAmount(BigInt(amount)),
        requiredOutputHash: required?.output_hash ?? null,
        state: 'open',
        phases: [],
        openedAt: new Date(now_ms),
        expiresAt: new Date(end_ms),
        offerToldAt: null,
      } satisfies Partial<StoredA2aEscrow>);
      insertRows(tx, 'a2a_escrow', [asRecord(opened)]);
      await notifyCounterparty(tx, opened);
      const step = { action: 'open', by: 'principal', state: 'open', request_hash, said: {} } as const;
      return a2aView(await recordA2aSteps(tx, acting, opened, { steps: [step], at_ms: now_ms }), 'principal', {
        phases: 1,
      });
    }),
  );
}

/** Returns the counterparty. Only the principal, which pays, can open an escrow. @throws invalid_escrow_action, invalid_request */
function requireParties(agent_id: AgentId, { parties }: A2aOpen): AgentId {
  const { principal_agent_id = agent_id, counterparty_agent_id } = parties;
  if (principal_agent_id !== agent_id) {
    const detail = 'Only the principal can open an escrow, from their own book.';
    throw new Refusal('invalid_escrow_action', { param: 'action', detail, facts: { legal: ['status'] } });
  }
  if (counterparty_agent_id === agent_id)
    throw new Refusal('invalid_request', {
      param: 'parties.counterparty_agent_id',
      detail: 'parties.counterparty_agent_id: must not be the principal.',
    });
  return agentId(counterparty_agent_id);
}

/** Checks that an agent has a book. The error reveals nothing, because agent ids are public. @throws not_found */
async function requireBook(tx: Tx, agent_id: AgentId): Promise<void> {
  const { rows } = await tx.query({
    name: 'book of counterparty',
    text: 'select 1 from book where agent_id = $1',
    values: [agent_id],
  });
  if (rows.length > 0) return;
  throw new Refusal('not_found', { param: 'parties.counterparty_agent_id', detail: 'No agent has this id.' });
}
