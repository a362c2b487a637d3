import type { StoredLedgerEscrow } from './ledger-escrow.entity.ts';
import { ledgerEscrowMachine } from './ledger-escrow.machine.ts';
import type { LedgerEscrow } from './ledger-escrow.type.ts';
import { legalFor, stateBy } from './machine.ts';
import { phasesAt, type Shown, shownSaid } from './shown-phases.ts';

/** A ledger escrow as its owner is shown it. */
export function ledgerView(escrow: StoredLedgerEscrow, shown: Shown) {
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
      ...shownSaid(said),
    })),
    legal: legalFor(ledgerEscrowMachine, standing, 'owner'),
  } satisfies LedgerEscrow;
}
