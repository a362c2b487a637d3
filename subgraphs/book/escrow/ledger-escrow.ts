import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { type AgentId, escrowId } from '../../../schema/ids.ts';
import type { LedgerName, LedgerOpen } from '../../../schema/requests/escrow.ts';
import { asRecord } from '../../columns.ts';
import { insertRows, type Tx } from '../../database.ts';
import { readsOf } from '../../transaction.ts';
import type { BookContext } from '../context.ts';
import { headOf, lockBooks } from '../ledger/append.ts';
import { noteEscrows } from '../ledger/note-escrow.ts';
import { writeInTurn } from '../write-in-turn.ts';
import { ledgerChecks, type ReleaseCheck, receiptFacts } from './checks.ts';
import { escrowReceipt, requireCollectedRow, rowOfTask } from './collected-row.ts';
import { type LedgerPhase, StoredLedgerEscrow } from './ledger-escrow.entity.ts';
import { type LedgerMove, ledgerEscrowMachine } from './ledger-escrow.machine.ts';
import type { LedgerEscrow } from './ledger-escrow.type.ts';
import { findLedgerEscrow, ledgerEscrowAgain, openLedgerEscrowOf } from './ledger-find.ts';
import { judgeMove, legalFor, stateBy } from './machine.ts';
import { phasesUpTo, requestHash, requireEnd, requireMove, requirePassed } from './phase.ts';
import { requireLedgerRoom } from './room.ts';
import { type EscrowView, phasesAt, shownMembers } from './shown-phases.ts';

/* Ledger escrows. Every step is recorded under the lock of the head of the book, with its event in the same transaction. */

/** Random bytes of an id. */
const ID_BYTES = 10;

type StepContext = Pick<BookContext, 'database' | 'clock' | 'random'>;

/** A phase before the ledger assigns its position. */
type LedgerStep = Omit<LedgerPhase, 'at' | 'position'>;

/**
 * Opens an escrow on a collected call of the book. Repeating the request returns the same escrow while it is live. @throws not_found,
 * escrow_not_collected, escrow_amount_mismatch, escrow_exists, escrows_full, rate_limited, book_damaged
 */
export function openLedgerEscrow(
  { database, clock, random }: StepContext,
  agent_id: AgentId,
  request: LedgerOpen,
): Promise<LedgerEscrow> {
  const { task_id, amount: meant, expires_at, required: { output_hash = null, proof_tier = null } = {} } = request;
  const request_hash = requestHash('open', present({ ...request, required: present({ output_hash, proof_tier }) }));
  const escrow_id = escrowId(clock.now_ms(), random.bytes(ID_BYTES));
  return writeInTurn(agent_id, () =>
    database.transaction(async tx => {
      const { now_ms } = headOf(await lockBooks(tx, [agent_id]), agent_id);
      const standing = await openLedgerEscrowOf(tx, agent_id, task_id);
      if (standing && now_ms < standing.expiresAt.getTime()) {
        if (phasesUpTo(standing.phases, request_hash) !== 1) throw new Refusal('escrow_exists', { param: 'task_id' });
        return ledgerView(standing, { phases: 1 });
      }
      const { seq, amount } = await requireCollectedRow(tx, agent_id, task_id);
      if (meant !== undefined && BigInt(meant) !== amount)
        throw new Refusal('escrow_amount_mismatch', { param: 'amount' });
      const end_ms = requireEnd(expires_at, now_ms);
      await requireLedgerRoom(tx, agent_id);
      if (standing) await recordSteps(tx, standing, [expiredStep]);
      const opened = Object.assign(new StoredLedgerEscrow(), {
        escrowId: escrow_id,
        agentId: agent_id,
        taskId: task_id,
        seq,
        amount,
        state: 'open',
        phases: [],
        required: { output_hash, proof_tier },
        openedAt: new Date(now_ms),
        expiresAt: new Date(end_ms),
      } satisfies Partial<StoredLedgerEscrow>);
      insertRows(tx, 'ledger_escrow', [asRecord(opened)]);
      const step = { action: 'open', state: 'open', request_hash, said: {} } as const;
      return ledgerView(await recordSteps(tx, opened, [step]), { phases: 1 });
    }),
  );
}

/** The phase that records an expiry. */
export const expiredStep: LedgerStep = { action: null, state: 'expired', request_hash: null, said: {} };

/** The current state of an escrow. @throws escrow_not_found */
export async function ledgerEscrow(
  { database }: Pick<StepContext, 'database'>,
  agent_id: AgentId,
  name: LedgerName,
): Promise<LedgerEscrow> {
  const { escrow, now_ms } = await requireFound(database, agent_id, name);
  return ledgerView(escrow, { now_ms });
}

/**
 * Carries out a step. Repeating the step returns its first result. @throws escrow_not_found, invalid_escrow_action,
 * escrow_claim_required, escrow_checks_failed, record_damaged, rate_limited, book_damaged
 */
export async function moveLedgerEscrow(
  { database }: Pick<StepContext, 'database'>,
  agent_id: AgentId,
  name: LedgerName,
  { action, said }: { readonly action: LedgerMove; readonly said: JsonObject },
): Promise<LedgerEscrow> {
  const { escrow } = await requireFound(database, agent_id, name);
  const request_hash = requestHash(action, said);
  return writeInTurn(agent_id, () =>
    database.transaction(async tx => {
      const { now_ms } = headOf(await lockBooks(tx, [agent_id]), agent_id);
      const found = await ledgerEscrowAgain(tx, escrow);
      const before = phasesUpTo(found.phases, request_hash);
      if (before !== null) return ledgerView(found, { phases: before });
      const standing = { state: found.state, overdue: now_ms >= found.expiresAt.getTime() };
      const move = { action, party: 'owner', claimed: said.claim_type !== undefined } as const;
      const { to, checks, expired_first } = requireMove(judgeMove(ledgerEscrowMachine, standing, move), 'owner');
      const checked: JsonObject = checks ? { checks: await requireChecks(tx, found) } : {};
      const step = { action, state: to, request_hash, said: { ...said, ...checked } };
      const moved = await recordSteps(tx, found, [...(expired_first ? [expiredStep] : []), step]);
      return ledgerView(moved, { phases: moved.phases.length });
    }),
  );
}

/** Returns the checks of a release, which have all passed. @throws escrow_checks_failed, record_damaged */
async function requireChecks(
  tx: Tx,
  { agentId, taskId, required }: StoredLedgerEscrow,
): Promise<readonly ReleaseCheck[]> {
  const row = await rowOfTask(tx, agentId, taskId);
  const receipt = await escrowReceipt(readsOf(tx), taskId);
  const checks = ledgerChecks(required, row?.evidence ?? null, receipt && receiptFacts(receipt));
  requirePassed(checks, { action: 'release' });
  return checks;
}

async function requireFound(database: BookContext['database'], agent_id: AgentId, name: LedgerName) {
  const found = await findLedgerEscrow(database, agent_id, name);
  if (!found) throw new Refusal('escrow_not_found');
  return found;
}

/** Records the events of these steps and the new state, under the lock of the head. @throws book_damaged */
export async function recordSteps(
  tx: Tx,
  escrow: StoredLedgerEscrow,
  steps: readonly LedgerStep[],
): Promise<StoredLedgerEscrow> {
  const { escrowId: escrow_id, agentId: agent_id, taskId: task_id, seq } = escrow;
  const events = await noteEscrows(
    tx,
    steps.map(({ action, state, said }) => ({ agent_id, seq, task_id, body: bodyOf(escrow, { action, state, said }) })),
  );
  const phases = steps.map((step, index) => {
    const { at = '', position = 0 } = events[index] ?? {};
    return { ...step, at, position };
  });
  const moved = Object.assign(new StoredLedgerEscrow(), escrow, {
    state: phases.at(-1)?.state ?? escrow.state,
    phases: [...escrow.phases, ...phases],
  });
  tx.write({
    name: 'move ledger escrow',
    text: 'update ledger_escrow set state = $2, phases = $3 where escrow_id = $1',
    values: [escrow_id, moved.state, JSON.stringify(moved.phases)],
  });
  return moved;
}

/** Body of the event of a step. The event that opens the escrow also has its terms. */
function bodyOf(
  { escrowId: escrow_id, amount, required, expiresAt }: StoredLedgerEscrow,
  { action, state, said }: Pick<LedgerStep, 'action' | 'state' | 'said'>,
): JsonObject {
  const terms = { amount: String(amount), expires_at: expiresAt.toISOString(), required: present(required) };
  return { escrow_id, phase: state, ...present({ action }), ...(action === 'open' ? terms : {}), ...said };
}

/** A ledger escrow as its owner sees it. */
function ledgerView(escrow: StoredLedgerEscrow, shown: EscrowView) {
  const { phases, standing } = phasesAt(escrow, shown);
  const { escrowId, agentId, taskId, amount, required, openedAt, expiresAt } = escrow;
  return {
    escrowId,
    agentId,
    taskId,
    amount,
    openedAt,
    expiresAt,
    required: { outputHash: required.output_hash, proofTier: required.proof_tier },
    state: stateBy(ledgerEscrowMachine, standing),
    phases: phases.map(({ action, state, at, position, said }) => ({
      action,
      state,
      position,
      at: new Date(at),
      ...shownMembers(said),
    })),
    legal: legalFor(ledgerEscrowMachine, standing, 'owner'),
  } satisfies LedgerEscrow;
}
