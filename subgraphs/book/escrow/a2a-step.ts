import { type JsonObject, present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { A2aEscrowParty } from '../../../schema/escrow.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { A2aName } from '../../../schema/requests/escrow.ts';
import type { Database, Tx } from '../../database.ts';
import { readsOf } from '../../transaction.ts';
import type { BookContext } from '../context.ts';
import { type Heads, lockBooks } from '../ledger/append.ts';
import { writeInTurn } from '../write-in-turn.ts';
import type { StoredA2aEscrow } from './a2a-escrow.entity.ts';
import { type A2aMove, a2aEscrowMachine } from './a2a-escrow.machine.ts';
import type { A2aEscrow } from './a2a-escrow.type.ts';
import { a2aEscrowAgain, requireA2aEscrow } from './a2a-find.ts';
import { type A2aStep, a2aExpired, hasActed, recordA2aSteps } from './a2a-phases.ts';
import { a2aView, partyOf, phaseMember } from './a2a-view.ts';
import { a2aChecks, receiptFacts, submissionChecks } from './checks.ts';
import { escrowReceipt, requireCollectedRow, rowOfTask } from './collected-row.ts';
import { judgeMove } from './machine.ts';
import { phasesUpTo, requestHash, requireMove, requirePassed } from './phase.ts';

type StepContext = Pick<BookContext, 'database' | 'clock' | 'random'>;

/** A requested step. */
interface StepRequest {
  readonly action: A2aMove;
  readonly said: JsonObject;
}

/** The current state of an escrow, as this agent sees it. @throws escrow_not_found, invalid_request */
export async function a2aEscrow(
  { database }: Pick<StepContext, 'database'>,
  agent_id: AgentId,
  name: A2aName,
): Promise<A2aEscrow> {
  const { escrow, now_ms } = await requireA2aEscrow(database, agent_id, name);
  return a2aView(escrow, requireParty(escrow, agent_id), { now_ms });
}

/**
 * Carries out a step and records it on all books concerned or on none. Repeating the step returns its first result. @throws
 * escrow_not_found, not_found, invalid_request, invalid_escrow_action, escrow_claim_required, escrow_not_collected,
 * escrow_backing_used, escrow_fulfillment_used, escrow_checks_failed, record_damaged, rate_limited, book_damaged
 */
export async function moveA2aEscrow(
  acting: StepContext,
  agent_id: AgentId,
  name: A2aName,
  request: StepRequest,
): Promise<A2aEscrow> {
  const { escrow: found } = await requireA2aEscrow(acting.database, agent_id, name);
  const party = requireParty(found, agent_id);
  return writeInTurn(agent_id, async () => {
    for (let escrow = found; ; ) {
      const read = escrow;
      const outcome = await acting.database.transaction(tx => step(tx, acting, { read, party, request }));
      if (outcome.kind === 'stepped') return outcome.view;
      escrow = outcome.escrow;
    }
  });
}

type Outcome =
  | { readonly kind: 'stepped'; readonly view: A2aEscrow }
  /** The counterparty has acted since the escrow was read, but its head is not locked. The caller tries again with both heads. */
  | { readonly kind: 'more_books'; readonly escrow: StoredA2aEscrow };

interface Step {
  /** The escrow as it was read before any head was locked. */
  readonly read: StoredA2aEscrow;
  readonly party: A2aEscrowParty;
  readonly request: StepRequest;
}

async function step(tx: Tx, acting: StepContext, { read, party, request }: Step): Promise<Outcome> {
  const { action, said } = request;
  const request_hash = requestHash(action, said);
  const books = await lockBooks(tx, boundBooks(read, party));
  const escrow = await a2aEscrowAgain(tx, read);
  if (!boundBooks(escrow, party).every(id => books.has(id))) return { kind: 'more_books', escrow };
  const view = (moved: StoredA2aEscrow, phases: number): Outcome => ({
    kind: 'stepped',
    view: a2aView(moved, party, { phases }),
  });
  const before = phasesUpTo(escrow.phases, request_hash);
  if (before !== null && escrow.phases[before - 1]?.by === party) return view(escrow, before);
  const at_ms = timeOf(books);
  const standing = { state: escrow.state, overdue: at_ms >= escrow.expiresAt.getTime() };
  const wish = { action, party, claimed: said.claim_type !== undefined };
  const move = requireMove(judgeMove(a2aEscrowMachine, standing, wish), party);
  const facts = await (restsOn[action]?.({ tx, reads: readsOf(tx), escrow, said }) ?? {});
  const taken: A2aStep = { action, by: party, state: move.to, request_hash, said: { ...said, ...facts } };
  const steps = move.expired_first ? [a2aExpired, taken] : [taken];
  const moved = await recordA2aSteps(tx, acting, escrow, { steps, at_ms });
  return view(moved, moved.phases.length);
}

/**
 * Agents whose heads must be locked for a step of this party, or for an expiry if `party` is null. The head of the counterparty is not
 * locked before its first act.
 */
export function boundBooks(escrow: StoredA2aEscrow, party: A2aEscrowParty | null): readonly AgentId[] {
  const { principalAgentId, counterpartyAgentId, phases } = escrow;
  return party === 'counterparty' || hasActed(phases) ? [principalAgentId, counterpartyAgentId] : [principalAgentId];
}

/** Time (Unix ms) by the clock of the database, when the last of these heads was locked. */
export function timeOf(books: Heads): number {
  return Math.max(...[...books.values()].map(({ now_ms }) => now_ms));
}

function requireParty(escrow: StoredA2aEscrow, agent_id: AgentId): A2aEscrowParty {
  const party = partyOf(escrow, agent_id);
  if (party === null) throw new Refusal('escrow_not_found');
  return party;
}

/** Input of the check of an action. The escrow was read under the locks of the heads. */
interface StepFacts {
  readonly tx: Tx;
  readonly reads: Pick<Database, 'query'>;
  readonly escrow: StoredA2aEscrow;
  readonly said: JsonObject;
}

/** Check of each action. It returns the facts that are recorded with the step. @throws the same errors as moveA2aEscrow */
const restsOn: { readonly [A in A2aMove]?: (rests: StepFacts) => Promise<JsonObject> } = {
  fund: back,
  submit,
  release: requireChecks,
};

/** Checks the backing payment: it is collected on the principal's book, covers the amount, and has never backed another escrow. */
async function back({ tx, escrow: { escrowId, principalAgentId, amount }, said }: StepFacts): Promise<JsonObject> {
  const task_id = String(said.task_id);
  const row = await requireCollectedRow(tx, principalAgentId, task_id);
  if (row.amount < amount) throw new Refusal('escrow_not_collected', { param: 'task_id' });
  const { rows } = await tx.query({
    name: 'back a2a escrow',
    text: 'insert into a2a_escrow_backing (task_id, escrow_id) values ($1, $2) on conflict do nothing returning 1',
    values: [task_id, escrowId],
  });
  if (rows.length === 0) throw new Refusal('escrow_backing_used', { param: 'task_id' });
  return {};
}

/**
 * Checks the named receipt: it is on the book of either party, was collected after the escrow was opened, and has never fulfilled
 * another escrow. The errors reveal nothing about a book, because receipts are public.
 */
async function submit({ tx, reads, escrow, said }: StepFacts): Promise<JsonObject> {
  const receipt = await escrowReceipt(reads, String(said.fulfillment_receipt_id));
  const parties: readonly (number | null)[] = [escrow.principalAgentId, escrow.counterpartyAgentId];
  if (!receipt || receipt.agentId === null || !parties.includes(receipt.agentId)) {
    const detail = 'Neither party has a receipt with this task id on their book.';
    throw new Refusal('not_found', { param: 'fulfillment_receipt_id', detail });
  }
  const shown = receiptFacts(receipt);
  const delivered = { output_commitment: String(said.output_commitment), receipt: shown };
  const param = 'fulfillment_receipt_id';
  requirePassed(submissionChecks(escrow, delivered, receipt.collectedAt), { action: 'submit', param });
  if (!(await fulfils(tx, receipt.taskId, escrow))) throw new Refusal('escrow_fulfillment_used', { param });
  const { commitment, tier } = shown;
  const facts = present({ output_commitment: commitment, proof_tier: tier, payload_hash: receipt.payloadHash });
  return { fulfillment_receipt: facts };
}

/**
 * Assigns a receipt to this escrow, and returns whether the receipt belongs to it. The first escrow that a receipt is submitted for
 * keeps it. A release calls this too, because earlier versions did not assign the receipt when it was submitted.
 */
async function fulfils(tx: Tx, task_id: string, { escrowId }: StoredA2aEscrow): Promise<boolean> {
  // If two steps insert one receipt at once, the second waits, inserts nothing, and finds no row in its older snapshot.
  const { rows } = await tx.query<{ escrow_id: string }>({
    name: 'fulfil a2a escrow',
    text: `with taken as (
        insert into a2a_escrow_fulfillment (task_id, escrow_id) values ($1, $2) on conflict do nothing returning escrow_id)
      select escrow_id from taken union all select escrow_id from a2a_escrow_fulfillment where task_id = $1`,
    values: [task_id, escrowId],
  });
  return rows.some(({ escrow_id }) => escrow_id === escrowId);
}

async function requireChecks({ tx, reads, escrow }: StepFacts): Promise<JsonObject> {
  const { principalAgentId, phases } = escrow;
  const backing = await rowOfTask(tx, principalAgentId, phaseMember(phases, 'fund', 'task_id') ?? '');
  const fulfilled_by = phaseMember(phases, 'submit', 'fulfillment_receipt_id') ?? '';
  const receipt = await escrowReceipt(reads, fulfilled_by);
  const own = await fulfils(tx, fulfilled_by, escrow);
  const output_commitment = phaseMember(phases, 'submit', 'output_commitment') ?? '';
  const delivered = { output_commitment, receipt: receipt && receiptFacts(receipt) };
  const checks = a2aChecks(escrow, delivered, { backing: backing?.evidence ?? null, own });
  requirePassed(checks, { action: 'release' });
  return { checks };
}
