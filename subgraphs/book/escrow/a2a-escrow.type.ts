import {
  A2aEscrowNoun,
  A2aEscrowPartiesNoun,
  A2aEscrowPhaseNoun,
  A2aEscrowRequiredNoun,
  A2aEscrowsNoun,
} from '../../../schema/escrow.ts';
import { A2aName, A2aOpen, A2aOpenParties, A2aParties, A2aRequired } from '../../../schema/requests/escrow.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* How the graph names, takes and shows escrows of two agents. */

const REQUIRED = 'Requirements that the delivery must meet.';

inputType('A2aEscrowPartiesInput', 'Two agents.', A2aParties, A2aOpenParties);
inputType('A2aEscrowRequiredInput', REQUIRED, A2aRequired);
export const A2aEscrowInput = inputType('A2aEscrowInput', 'What two agents agree on.', A2aOpen);
export const A2aEscrowName = inputType('A2aEscrowName', 'An escrow of two agents, by its job.', A2aName);

objectType('A2aEscrowParties', 'Two agents.', A2aEscrowPartiesNoun);
objectType('A2aEscrowRequired', REQUIRED, A2aEscrowRequiredNoun);
objectType(
  'A2aEscrowPhase',
  'A phase of an escrow of two agents, with its row on the book of the agent that reads it.',
  A2aEscrowPhaseNoun,
);
export const A2aEscrow = objectType(
  'A2aEscrow',
  'What two agents record of a job, as one of them is shown it. No money is held, and none moves by it: what backs it is a payment that the principal has made before.',
  A2aEscrowNoun,
);
export type A2aEscrow = InstanceType<typeof A2aEscrow>;
export const A2aEscrows = objectType('A2aEscrows', 'Escrows that an agent is a party of.', A2aEscrowsNoun);
export type A2aEscrows = InstanceType<typeof A2aEscrows>;
