import type { A2aEscrowParty } from '../../../schema/escrow.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { A2aPhase, StoredA2aEscrow } from './a2a-escrow.entity.ts';
import { a2aEscrowMachine } from './a2a-escrow.machine.ts';
import type { A2aEscrow } from './a2a-escrow.type.ts';
import { legalFor, stateBy } from './machine.ts';
import { type EscrowView, phasesAt, shownMembers } from './shown-phases.ts';

/** Role of an agent in an escrow. Null if it is not a party. For such an agent the escrow is not found. */
export function partyOf(
  { principalAgentId, counterpartyAgentId }: Pick<StoredA2aEscrow, 'principalAgentId' | 'counterpartyAgentId'>,
  agent_id: AgentId,
): A2aEscrowParty | null {
  if (agent_id === principalAgentId) return 'principal';
  return agent_id === counterpartyAgentId ? 'counterparty' : null;
}

/** A text member that was sent with an action. Null if the action was not taken or had no such member. */
export function phaseMember(phases: readonly A2aPhase[], action: A2aPhase['action'], member: string): string | null {
  const value = phases.find(phase => phase.action === action)?.said[member];
  return typeof value === 'string' ? value : null;
}

/** An escrow as one party sees it: with the rows of its own book, and without private members of the other party. */
export function a2aView(escrow: StoredA2aEscrow, party: A2aEscrowParty, shown: EscrowView): A2aEscrow {
  const { phases, standing } = phasesAt(escrow, shown);
  const { escrowId, jobId, jobSpecHash, amount, openedAt, expiresAt, requiredOutputHash } = escrow;
  const { principalAgentId, counterpartyAgentId } = escrow;
  return {
    escrowId,
    jobId,
    jobSpecHash,
    amount,
    required: { outputHash: requiredOutputHash },
    openedAt,
    expiresAt,
    party,
    parties: { principalAgentId, counterpartyAgentId },
    state: stateBy(a2aEscrowMachine, standing),
    taskId: party === 'principal' ? phaseMember(phases, 'fund', 'task_id') : null,
    fulfillmentReceiptId: phaseMember(phases, 'submit', 'fulfillment_receipt_id'),
    outputCommitment: phaseMember(phases, 'submit', 'output_commitment'),
    phases: phases.map(phase => shownPhase(phase, party)),
    legal: legalFor(a2aEscrowMachine, standing, party),
  };
}

function shownPhase(phase: A2aPhase, party: A2aEscrowParty): A2aEscrow['phases'][number] {
  const { action, by, state, at, task_id, principal_seq, counterparty_seq, said } = phase;
  const seq = party === 'principal' ? principal_seq : counterparty_seq;
  return { action, by, state, at: new Date(at), taskId: seq === null ? null : task_id, seq, ...shownMembers(said) };
}
