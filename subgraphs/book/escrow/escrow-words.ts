import type {
  A2aEscrowAction,
  A2aEscrowParty,
  A2aEscrowState,
  LedgerEscrowAction,
  LedgerEscrowState,
  ProofTier,
} from '../../../schema/escrow.ts';
import { graphEnum } from '../../graph-enum.ts';

/* Words of escrows, as the graph's enums. */

const said = {
  open: 'Opened.',
  released: 'Released: its checks passed.',
  clawed_back: 'Taken back.',
  expired: 'Its time was over first.',
} as const;

export const LedgerEscrowStateWord = graphEnum<LedgerEscrowState>(
  'LedgerEscrowState',
  'Where a ledger escrow stands.',
  said,
);

export const A2aEscrowStateWord = graphEnum<A2aEscrowState>('A2aEscrowState', 'Where an escrow of two agents stands.', {
  ...said,
  funded: 'A collected payment of the principal backs it.',
  submitted: 'The counterparty has delivered.',
  challenged: 'The principal says that the delivery fails.',
});

const done = {
  open: 'Opens it.',
  release: 'Releases it, if every check passes.',
  clawback: 'Takes it back, or gives it up.',
  status: 'Reads it.',
} as const;

export const LedgerEscrowActionWord = graphEnum<LedgerEscrowAction>(
  'LedgerEscrowAction',
  'What may be done with a ledger escrow.',
  done,
);

export const A2aEscrowActionWord = graphEnum<A2aEscrowAction>(
  'A2aEscrowAction',
  'What may be done with an escrow of two agents.',
  {
    ...done,
    fund: 'Names the payment that backs it.',
    submit: 'Delivers.',
    challenge: 'Says that the delivery fails.',
  },
);

export const A2aEscrowPartyWord = graphEnum<A2aEscrowParty>('A2aEscrowParty', 'Which of the two agents.', {
  principal: 'Who opens and funds it, and is delivered to.',
  counterparty: 'Who delivers.',
});

export const ProofTierWord = graphEnum<ProofTier>('ProofTier', 'What a receipt has to show.', {
  settlement: 'That its transfer was seen.',
  inference: 'That, and that it commits to the output of a model.',
});
