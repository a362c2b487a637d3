import type { LedgerEscrowAction, LedgerEscrowState } from '../../../schema/escrow.ts';
import type { Machine } from './machine.ts';

export type LedgerMove = Exclude<LedgerEscrowAction, 'open' | 'status'>;

/** The owner of the book is the only party. A clawback requires a claim type before the expiry, and is the only action after it. */
export const ledgerEscrowMachine: Machine<LedgerEscrowState, LedgerMove, 'owner'> = {
  moves: {
    open: {
      owner: {
        release: { to: 'released', wants: 'checks' },
        clawback: { to: 'clawed_back', wants: 'claim' },
      },
    },
    expired: { owner: { clawback: { to: 'clawed_back' } } },
    released: {},
    clawed_back: {},
  },
  expires: ['open'],
  expired: 'expired',
};
