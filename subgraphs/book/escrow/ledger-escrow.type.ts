import {
  EscrowCheckNoun,
  LedgerEscrowNoun,
  LedgerEscrowPhaseNoun,
  LedgerEscrowRequiredNoun,
} from '../../../schema/escrow.ts';
import { LedgerName, LedgerOpen, LedgerRequired } from '../../../schema/requests/escrow.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* GraphQL inputs and types of ledger escrows. */

const CHECKED =
  'What a release checks besides the collected payment: output hash and proof of the payment, each only if required.';

inputType('EscrowRequiredInput', CHECKED, LedgerRequired);
export const LedgerEscrowInput = inputType(
  'LedgerEscrowInput',
  'Ledger escrow to open: the call, the expiry and the requirements of a release.',
  LedgerOpen,
);
export const LedgerEscrowName = inputType(
  'LedgerEscrowName',
  'Names a ledger escrow by its id, or by the call that it is on.',
  LedgerName,
);

objectType('EscrowRequired', CHECKED, LedgerEscrowRequiredNoun);
objectType(
  'EscrowCheck',
  'One check of a release: the required value, the value that was found, and whether it passed.',
  EscrowCheckNoun,
);
objectType('LedgerEscrowPhase', 'A phase of a ledger escrow. It is an event of the book.', LedgerEscrowPhaseNoun);
export const LedgerEscrow = objectType(
  'LedgerEscrow',
  'A hold that an owner records on a call of their own book. It holds and moves no money.',
  LedgerEscrowNoun,
);
export type LedgerEscrow = InstanceType<typeof LedgerEscrow>;
