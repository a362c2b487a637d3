import type { A2aEscrowAction, A2aEscrowParty, A2aEscrowState } from '../../../schema/escrow.ts';
import type { Machine } from './machine.ts';

export type A2aMove = Exclude<A2aEscrowAction, 'open' | 'status'>;

/**
 * The principal opens, funds, releases or challenges an escrow. The counterparty submits, and can give up (`clawback`) once the escrow
 * is funded. An escrow that was submitted in time does not expire, because the principal has to answer the submission. After a
 * challenge the counterparty can concede, and the principal can claw the escrow back once the expiry has passed.
 */
export const a2aEscrowMachine: Machine<A2aEscrowState, A2aMove, A2aEscrowParty> = {
  moves: {
    open: {
      principal: { fund: { to: 'funded' }, clawback: { to: 'clawed_back' } },
    },
    funded: {
      principal: { clawback: { to: 'clawed_back', wants: 'claim' } },
      counterparty: { submit: { to: 'submitted' }, clawback: { to: 'clawed_back' } },
    },
    submitted: {
      principal: { release: { to: 'released', wants: 'checks' }, challenge: { to: 'challenged' } },
      counterparty: { clawback: { to: 'clawed_back' } },
    },
    challenged: {
      principal: { release: { to: 'released', wants: 'checks' }, clawback: { to: 'clawed_back', wants: 'overdue' } },
      counterparty: { clawback: { to: 'clawed_back' } },
    },
    expired: { principal: { clawback: { to: 'clawed_back' } } },
    released: {},
    clawed_back: {},
  },
  expires: ['open', 'funded'],
  expired: 'expired',
};
