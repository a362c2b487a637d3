import {
  EscrowCheckNoun,
  LedgerEscrowNoun,
  LedgerEscrowPhaseNoun,
  LedgerEscrowRequiredNoun,
} from '../../../schema/escrow.ts';
import { LedgerName, LedgerOpen, LedgerRequired } from '../../../schema/requests/escrow.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* How the graph names, takes and shows ledger escrows. */

const CHECKED = 'What is checked on release.';

inputType('EscrowRequiredInput', CHECKED, LedgerRequired);
export const LedgerEscrowInput = inputType(
  'LedgerEscrowInput',
  'Over which call of the book, until when, and what is checked on release.',
  LedgerOpen,
);
export const LedgerEscrowName = inputType(
  'LedgerEscrowName',
  'A ledger escrow, by its id or by the call that it is over.',
  LedgerName,
);

objectType('EscrowRequired', CHECKED, LedgerEscrowRequiredNoun);
objectType('EscrowCheck', 'One thing that was looked at before a release.', EscrowCheckNoun);
objectType('LedgerEscrowPhase', 'A phase of a ledger escrow: an event of its book.', LedgerEscrowPhaseNoun);
export const LedgerEscrow = objectType(
  'LedgerEscrow',
  'A hold that an owner records over a call of their own book. No money is held, and none moves by it.',
  LedgerEscrowNoun,
);
export type LedgerEscrow = InstanceType<typeof LedgerEscrow>;
