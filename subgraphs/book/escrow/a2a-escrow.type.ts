import {
  A2aEscrowNoun,
  A2aEscrowPartiesNoun,
  A2aEscrowPhaseNoun,
  A2aEscrowRequiredNoun,
  A2aEscrowsNoun,
} from '../../../schema/escrow.ts';
import { A2aName, A2aOpen, A2aOpenParties, A2aParties, A2aRequired } from '../../../schema/requests/escrow.ts';
import { inputType, objectType } from '../../graph-type.ts';

/* GraphQL inputs and types of escrows between two agents. */

const REQUIRED =
  'What the delivery must meet for a release: the output hash that its receipt commits to, if one is required.';
const PARTIES = 'The agent that opens and funds an escrow (principal), and the agent that delivers (counterparty).';

inputType('A2aEscrowPartiesInput', PARTIES, A2aParties, A2aOpenParties);
inputType('A2aEscrowRequiredInput', REQUIRED, A2aRequired);
export const A2aEscrowInput = inputType(
  'A2aEscrowInput',
  'Escrow to open between two agents: the job, its amount, the agents, the expiry and the required output hash.',
  A2aOpen,
);
export const A2aEscrowName = inputType(
  'A2aEscrowName',
  'Names an escrow between two agents by its job and, if needed, its parties.',
  A2aName,
);

objectType('A2aEscrowParties', PARTIES, A2aEscrowPartiesNoun);
objectType('A2aEscrowRequired', REQUIRED, A2aEscrowRequiredNoun);
objectType(
  'A2aEscrowPhase',
  'A phase of an escrow between two agents, with its row in the book of the agent that reads it.',
  A2aEscrowPhaseNoun,
);
export const A2aEscrow = objectType(
  'A2aEscrow',
  'An agreement between two agents about a job, as one of them sees it. It holds and moves no money: once funded, it is backed by a payment that the principal, the agent that opened it, has made.',
  A2aEscrowNoun,
);
export type A2aEscrow = InstanceType<typeof A2aEscrow>;
export const A2aEscrows = objectType('A2aEscrows', 'Escrows that an agent is a party of.', A2aEscrowsNoun);
export type A2aEscrows = InstanceType<typeof A2aEscrows>;
